//! Below `--root` a machine does not become a node, and no hint leads to the running system instead.
use crate::support::{
    binary::run, differences::differences, documents::document, file_tree::look, run_output::RunOutput,
    scratch::Scratch,
};
use std::{fs, path::PathBuf};

/// A root whose name needs quotes in a shell.
struct Root(Scratch, PathBuf);

impl Root {
    fn new() -> Self {
        let dir = Scratch::new("below");
        let root = dir.path().join("my root");
        fs::create_dir_all(root.join("etc")).expect("a directory can be made");
        fs::write(root.join("etc/machine-id"), "0123456789abcdef0123456789abcdef\n").expect("a file");
        Self(dir, root)
    }

    fn run(&self, words: &[&str], documents: &str) -> RunOutput {
        let file = self.0.path().join("node.yaml");
        fs::write(&file, documents).expect("a file can be written");
        let words = words.iter().map(|word| word.replace("FILE", &file.to_string_lossy()));
        run(words.chain(["--root".to_owned(), self.1.to_string_lossy().into_owned()]))
    }
}

fn with_init() -> String {
    document("FilesConfig", "{files: [{path: /etc/motd, content: new}]}")
        + &document("InitConfig", "{kubernetesVersion: v1.36.4}")
}

#[test]
fn a_configuration_that_cannot_succeed_below_a_root_is_refused_before_any_change() {
    for words in [&["bootstrap", "-f", "FILE"][..], &["plan", "-f", "FILE"], &["plan", "-f", "FILE", "--out", "-"]] {
        let root = Root::new();
        let before = look(&root.1);
        let ran = root.run(words, &with_init());
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("InitConfig") && ran.stderr.contains("--mode prepare"), "{}", ran.stderr);
        let mut after = look(&root.1);
        after.retain(|name, _| !name.starts_with("/run") && name != "/var" && name != "/var/lib");
        after.retain(|name, entry| name != "/var/lib/machineadm" || !entry.body.is_empty());
        assert_eq!(differences(&before, &after), Vec::<String>::new(), "{words:?}");
    }
    let root = Root::new();
    let prepared = root.run(&["bootstrap", "-f", "FILE", "--mode", "prepare"], &with_init());
    assert_eq!(prepared.code, Some(0), "{}", prepared.stderr);
    assert_eq!(fs::read_to_string(root.1.join("etc/motd")).expect("it is written"), "new");
}

/// The hint is pasted into a shell, with another program in machineadm's place that prints its words.
fn words_of_hint(text: &str, start: &str) -> Vec<String> {
    let hint = text.lines().find_map(|line| line.split_once(start)).unwrap_or_else(|| panic!("{start:?} in {text}")).1;
    let hint = hint.split("   (").next().unwrap_or(hint).trim();
    let script = format!("machineadm() {{ printf '%s\\n' \"$@\"; }}; {hint}");
    let shell = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh runs");
    String::from_utf8(shell.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn hints_are_exact_commands_with_the_root() {
    testbed::needs!(Root);
    let root = Root::new();
    let path = root.1.to_string_lossy().into_owned();
    let file = root.0.path().join("node.yaml").to_string_lossy().into_owned();
    let files = document("FilesConfig", "{files: [{path: /etc/motd, content: new}]}");
    let plan = root.run(&["plan", "-f", "FILE"], &files);
    assert_eq!(words_of_hint(&plan.stderr, "To apply: "), ["bootstrap", "--root", &path, "-f", &file]);

    let fails = files + &document("CommandsConfig", "{commands: [{name: a, argv: [/no/such/program]}]}");
    let failed = root.run(&["bootstrap", "-f", "FILE"], &fails);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert_eq!(words_of_hint(&failed.stderr, "Then:"), ["bootstrap", "--root", &path]);
    let status = root.run(&["status"], "");
    assert_eq!(words_of_hint(&status.stdout, "Then:"), ["bootstrap", "--root", &path]);

    let failed = root.run(&["bootstrap", "-f", "FILE", "--mode", "prepare"], &fails);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let words = words_of_hint(&failed.stderr, "Then:");
    assert_eq!(words, ["bootstrap", "--root", &path, "--mode", "prepare", "-f", &file]);
    let failed = root.run(&["status"], &fails);
    assert!(words_of_hint(&failed.stdout, "Then:").contains(&path), "{}", failed.stdout);

    // A remedy that is pasted into a shell must not act on the running system.
    fs::write(root.1.join("var/lib/machineadm/journal.json"), "{").expect("a file can be written");
    let refused = root.run(&["bootstrap", "-f", "FILE"], &fails);
    assert_eq!(refused.code, Some(6), "{}", refused.stderr);
    let journal = format!("'{path}/var/lib/machineadm'/journal.json");
    assert!(refused.stderr.contains(&journal) && !refused.stderr.contains(" /var/lib"), "{}", refused.stderr);
    std::os::unix::fs::chown(root.1.join("var/lib/machineadm/journal.json"), Some(65534), None).expect("an owner");
    let refused = root.run(&["bootstrap", "-f", "FILE"], &fails);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains(&journal) && !refused.stderr.contains(" /var/lib"), "{}", refused.stderr);
}
