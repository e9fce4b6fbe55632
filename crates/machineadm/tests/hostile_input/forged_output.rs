//! What others wrote, a configuration, a program's output, a host name or files of ours that somebody edited, cannot
//! control the terminal of whoever looks at it, nor look like a line of ours.
use crate::support::{binary::run, documents::document, run_output::RunOutput, sandbox::Sandbox, scratch::Scratch};
use rustix::fs::{FlockOperation, flock};
use std::{fs, io::Write, path::Path};

/// Erases the line, goes up, turns the text around, in seven and in eight bits.
const HOSTILE: &str = "\u{1b}[2K\u{1b}[1A\u{9b}2J\r\u{202e}\u{2066}\u{200b}\u{7}\u{fdd0}\u{fdd2}\u{ad}\u{3164}";
/// The same, as it stands in a double-quoted text of YAML or JSON.
const QUOTED: &str = r"\u001b[2K\u001b[1A\u009b2J\r\u202e\u2066\u200b\u0007\ufdd0\ufdd2\u00ad\u3164";

struct Tree(Scratch);

impl Tree {
    fn new() -> Self {
        let dir = Scratch::new("forged");
        for name in ["root/etc", "root/usr/bin", "root/bin"] {
            fs::create_dir_all(dir.path().join(name)).expect("a directory can be made");
        }
        fs::write(dir.path().join("root/etc/machine-id"), "0123456789abcdef0123456789abcdef\n").expect("a file");
        Self(dir)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("a directory can be made");
        fs::write(path, text).expect("a file can be written");
    }

    fn run(&self, words: &[&str]) -> RunOutput {
        let root = self.path("root");
        let mut all: Vec<String> =
            words.iter().map(|word| word.replace('@', &self.path("").to_string_lossy())).collect();
        all.extend(["--root".to_owned(), root.to_string_lossy().into_owned()]);
        run(all)
    }
}

/// Nothing in it moves a cursor, hides text or turns it around; only lines and tabs.
fn assert_harmless(ran: &RunOutput) {
    for c in ran.stdout.chars().chain(ran.stderr.chars()) {
        let hides = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}' | '\u{ad}' | '\u{3164}');
        assert!(c == '\n' || c == '\t' || !c.is_control() && !hides, "{c:?} in\n{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_configuration_cannot_hide_a_line_of_its_own_plan() {
    let tree = Tree::new();
    tree.write("root/etc/there", "old\n");
    let files = format!(
        "{{files: [{{path: /etc/new, content: \"a\\n{QUOTED}b\\n\"}}, {{path: /etc/there, content: \"{QUOTED}\\n\"}}]}}"
    );
    let commands = format!("{{commands: [{{name: a, argv: ['true', \"{QUOTED}\\n    + /etc/forged\"]}}]}}");
    tree.write("node.yaml", &(document("FilesConfig", &files) + &document("CommandsConfig", &commands)));
    let plan = tree.run(&["plan", "-f", "@node.yaml"]);
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    assert_harmless(&plan);
    assert!(plan.stdout.contains("\\x1b[2K") && plan.stdout.contains("\\u{202e}"), "{}", plan.stdout);
    assert!(!plan.stdout.contains("\n    + /etc/forged"), "{}", plan.stdout);
    assert_eq!(tree.run(&["plan", "-f", "@node.yaml", "--out", "@plan"]).code, Some(0));
    let shown = tree.run(&["plan", "show", "@plan"]);
    assert_harmless(&shown);
    assert_eq!(shown.stdout, plan.stdout);
}

#[test]
fn a_host_name_cannot_forge_a_line_of_a_plan_or_a_report() {
    let tree = Tree::new();
    tree.write("root/etc/hostname", &format!("node{HOSTILE}\n"));
    tree.write("node.yaml", &document("FilesConfig", "{files: [{path: /etc/a, content: a}]}"));
    for words in [&["plan", "-f", "@node.yaml"][..], &["bootstrap", "-f", "@node.yaml"], &["status"]] {
        let ran = tree.run(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
        assert_harmless(&ran);
    }
}

#[test]
fn what_a_command_prints_cannot_control_a_terminal() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let script = r"printf '\033[2K\033[1A\302\2332J\r\342\200\256\nvisible\n'; exit 7";
    let ran =
        sandbox.bootstrap(&document("CommandsConfig", &format!("{{commands: [{{name: a, shell: {script:?}}}]}}")));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_harmless(&ran);
    assert!(ran.stderr.contains("  | \\x1b[2K") && ran.stderr.contains("  | visible\n"), "{}", ran.stderr);
    let outcome = sandbox.text("/var/lib/machineadm/outcome.json").expect("an outcome");
    assert!(outcome.contains("\\u001b[2K"), "for programs it is what was printed: {outcome}");
    let status = sandbox.machineadm(&["status"]);
    assert_harmless(&status);
    assert!(status.stdout.contains("| \\x1b[2K"), "{}", status.stdout);
    assert!(sandbox.sh("machineadm status || true").contains("| visible"));
}

#[test]
fn an_edited_outcome_cannot_forge_a_status() {
    let tree = Tree::new();
    tree.write("node.yaml", &document("FilesConfig", "{files: [{path: /etc/a, content: a}]}"));
    assert_eq!(tree.run(&["bootstrap", "-f", "@node.yaml"]).code, Some(0));
    let path = "root/var/lib/machineadm/outcome.json";
    let text = fs::read_to_string(tree.path(path)).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let hostile = format!("x{HOSTILE}\nnode-7  SUCCEEDED\n");
    value["machine"] = hostile.clone().into();
    value["state"] = "failed".into();
    value["sources"][0]["name"] = hostile.clone().into();
    value["phases"][0]["name"] = hostile.clone().into();
    value["phases"][0]["remarks"] = serde_json::json!([hostile]);
    value["reboot"] = hostile.clone().into();
    value["failure"] = serde_json::json!({
        "phase": hostile, "step": hostile, "cause": hostile, "output": [hostile], "advice": hostile
    });
    fs::write(tree.path(path), value.to_string()).unwrap();
    let status = tree.run(&["status"]);
    assert_eq!(status.code, Some(1), "{}", status.stderr);
    assert_harmless(&status);
    assert!(status.stdout.contains("FAILED"), "{}", status.stdout);
    assert!(!status.stdout.lines().any(|line| line.starts_with("node-7  SUCCEEDED")), "{}", status.stdout);
}

#[test]
fn the_text_of_a_lock_cannot_control_a_terminal() {
    let tree = Tree::new();
    tree.write("node.yaml", &document("FilesConfig", "{files: [{path: /etc/a, content: a}]}"));
    assert_eq!(tree.run(&["bootstrap", "-f", "@node.yaml"]).code, Some(0));
    let lock = held(&tree.path("root/run/machineadm/lock"), &format!("somebody{HOSTILE}\nforged"));
    for (words, code) in
        [(&["status"][..], 0), (&["plan", "-f", "@node.yaml"], 0), (&["bootstrap", "-f", "@node.yaml"], 4)]
    {
        let ran = tree.run(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.stderr);
        assert_harmless(&ran);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("somebody") && !all.contains("\nforged"), "{all}");
    }
    drop(lock);
}

fn held(path: &Path, text: &str) -> fs::File {
    let mut file = fs::File::options().write(true).truncate(true).open(path).expect("the lock file is there");
    flock(&file, FlockOperation::LockExclusive).expect("nobody holds it");
    file.write_all(text.as_bytes()).expect("it can be written");
    file
}

#[test]
fn an_error_that_quotes_the_input_cannot_control_a_terminal() {
    let tree = Tree::new();
    let name = format!("no{HOSTILE}such.yaml");
    assert_harmless(&tree.run(&["plan", "-f", &name]));
    assert_harmless(&tree.run(&["validate", "-f", &name]));
    assert_harmless(&run([format!("nonsense{HOSTILE}")]));
    assert_harmless(&run([format!("--nonsense{HOSTILE}")]));
    tree.write("odd.yaml", &format!("apiVersion: \"{QUOTED}\"\nkind: \"{QUOTED}\"\n\"{QUOTED}\": 1\n"));
    let ran = tree.run(&["validate", "-f", "@odd.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert_harmless(&ran);
    let root = format!("/no{HOSTILE}where");
    assert_harmless(&run(["status", "--root", &root]));
}
