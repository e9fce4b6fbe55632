//! Every secret field of every kind is filled with a canary, and no command shows one, whatever becomes of the run.
use crate::support::{
    binary,
    canaries::{self, filled, is_good},
    documents::document,
    file_tree::look,
    scratch::Scratch,
    shell,
};
use documents::KINDS;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A tree, and commands whose every word is searched.
struct Watched {
    dir: Scratch,
    root: PathBuf,
    canaries: Vec<String>,
}

impl Watched {
    fn new(configuration: &str, canaries: Vec<String>) -> Self {
        let dir = Scratch::new("leaks");
        let root = dir.path().join("root");
        shell::install(&root);
        fs::create_dir_all(root.join("etc")).expect("a directory can be made");
        for name in ["motd", "hosts"] {
            fs::write(root.join("etc").join(name), "old\n").expect("a file can be written");
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(root.join("etc").join(name), private).expect("a mode can be set");
        }
        fs::write(dir.path().join("configuration.yaml"), configuration).expect("a file can be written");
        Self { dir, root, canaries }
    }

    /// Runs machineadm; its exit code.
    fn run(&self, words: &[&str]) -> Option<i32> {
        let path = |name: &str| self.dir.path().join(name).to_str().expect("a plain name").to_owned();
        let words = words.iter().map(|&word| match word {
            "FILE" => path("configuration.yaml"),
            "PLAN" => path("plan"),
            word => word.to_owned(),
        });
        let ran = binary::run(["--root".to_owned(), path("root")].into_iter().chain(words));
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!self.holds(text), "{text}");
        }
        ran.code
    }

    fn holds(&self, text: &str) -> bool {
        self.canaries.iter().any(|canary| text.contains(canary))
    }

    /// On disk a canary lies only where it was asked for, and in the kept configuration while that is needed.
    fn search_disk(&self) {
        let tree = look(&self.root);
        let succeeded = tree.contains_key("/var/lib/machineadm/bootstrap-success.complete");
        for (name, entry) in tree.iter().filter(|(_, entry)| self.holds(&String::from_utf8_lossy(&entry.body))) {
            let is_kept = name == "/var/lib/machineadm/configuration.yaml" && !succeeded;
            let is_ours = name.starts_with("/var/lib/machineadm") || name.starts_with("/run");
            assert!(is_kept || !is_ours, "{name} holds a canary");
            assert_eq!(entry.mode, 0o600, "{name} holds a canary and others may read it");
        }
    }

    /// Everything that machineadm can be asked about this configuration, in every form of output, with the exit codes of
    /// each command.
    fn ask_everything(&self) -> BTreeMap<&'static str, BTreeSet<i32>> {
        let mut codes: BTreeMap<&'static str, BTreeSet<i32>> = BTreeMap::new();
        for output in [&[][..], &["-o", "json"], &["-o", "yaml"]] {
            for words in [
                &["validate", "-f", "FILE"][..],
                &["plan", "-f", "FILE"],
                &["plan", "-f", "FILE", "--out", "PLAN"],
                &["bootstrap", "-f", "FILE"],
                &["status"],
                &["plan", "-f", "FILE"],
                &["apply", "PLAN"],
            ] {
                let code = self.run(&[words, output].concat()).expect("an exit code");
                codes.entry(words[0]).or_default().insert(code);
                if ["bootstrap", "apply"].contains(&words[0]) {
                    self.search_disk();
                }
            }
        }
        if let Ok(plan) = fs::metadata(self.dir.path().join("plan")) {
            assert_eq!(plan.permissions().mode() & 0o7777, 0o600);
        }
        codes
    }
}

/// Files that everybody may read are no secrets, so these are for root alone; and nothing waits for long.
fn private(mut document: Value) -> Value {
    for file in document.pointer_mut("/spec/files").and_then(Value::as_array_mut).into_iter().flatten() {
        if file["path"].is_string() && file["content"].is_string() && file["block"].is_null() {
            file["mode"] = json!("0600");
        }
    }
    // Its servers do not exist.
    if document["kind"] == "ProgramsConfig" {
        document["spec"]["timeout"] = json!("1s");
    }
    document
}

/// Kinds that stand for others; expanding their examples would ask servers outside of this machine.
const STAND_FOR_OTHERS: [&str; 3] = ["RemoteConfig", "EncryptedConfig", "ScopeConfig"];

/// The name of an algorithm, certificates and keys that are public, and paths of files.
const SOUND_SECRET: [&str; 6] = [
    "keyDerivationAlgorithm",
    "passphraseCertificateAuthority",
    "sshAuthorizedKeys[]",
    "tokenFile",
    "TokenFile",
    "certificateKeyFile",
];

/// Those of the kinds that ask something of the machine themselves.
fn applicable() -> impl Iterator<Item = (&'static str, Value, Vec<String>)> {
    documents().into_iter().filter(|(kind, _, _)| !STAND_FOR_OTHERS.contains(kind))
}

/// Each kind's example with its canaries, as one configuration.
fn documents() -> Vec<(&'static str, Value, Vec<String>)> {
    let mut all = Vec::new();
    for kind in KINDS {
        for filled in filled(kind) {
            let is_secret = |field: &&String| !SOUND_SECRET.iter().any(|name| field.ends_with(name));
            let left: Vec<_> = filled.left.iter().filter(is_secret).collect();
            assert!(left.is_empty(), "{}: nothing fits {left:?}", kind.kind);
            all.push((kind.kind, private(filled.document), filled.canaries));
        }
    }
    let count: usize = all.iter().map(|(_, _, canaries)| canaries.len()).sum();
    assert!(count >= 6, "{count} canaries are too few: the search for secret fields is broken");
    all
}

#[test]
fn a_decoded_document_shows_no_canary() {
    for (kind, document, canaries) in documents() {
        let shown = format!("{0:?} {0:#?}", canaries::read(&document));
        assert!(canaries.iter().all(|canary| !shown.contains(canary)), "{kind}: {shown}");
    }
}

#[test]
fn no_command_shows_a_canary_of_a_good_configuration() {
    testbed::needs!(Root);
    for (kind, document, canaries) in applicable() {
        let watched = Watched::new(&document.to_string(), canaries);
        let [plan, bootstrap, status, apply] = match kind {
            // Below a root nothing becomes a node.
            "InitConfig" | "JoinConfig" => [2, 2, 1, 2],
            // Their examples need programs or servers that are not there: only a run finds out.
            "CommandsConfig" | "UsersConfig" | "ProgramsConfig" => [0, 1, 1, 1],
            // These plans find out, so there is none to apply.
            "TrustBundleConfig" | "ServicesConfig" => [1, 1, 1, 2],
            _ => [0; 4],
        };
        let wanted = [("apply", apply), ("bootstrap", bootstrap), ("plan", plan), ("status", status), ("validate", 0)];
        assert_eq!(watched.ask_everything(), wanted.map(|(command, code)| (command, [code].into())).into(), "{kind}");
    }
}

#[test]
fn no_command_shows_a_canary_when_a_step_fails() {
    testbed::needs!(Root);
    let fails = document("CommandsConfig", "{commands: [{name: fails, argv: [/bin/sh, -c, 'echo no; exit 3']}]}");
    for (kind, document, canaries) in applicable() {
        let watched = Watched::new(&format!("{document}\n{fails}"), canaries);
        // What the first run changed, the plan that was made before it no longer fits; the next one does.
        let (plan, bootstrap, apply) = match kind {
            // Only a running system becomes a node: refused before the first step, and nothing is saved.
            "InitConfig" | "JoinConfig" => (2, 2, vec![2]),
            // A ReportConfig changes nothing, nor does a ContainerdConfig below a root, and a ProgramsConfig fails first.
            "CommandsConfig" | "UsersConfig" | "ReportConfig" | "ContainerdConfig" | "ProgramsConfig" => {
                (0, 1, vec![1])
            }
            "TrustBundleConfig" | "ServicesConfig" => (1, 1, vec![2]),
            _ => (0, 1, vec![1, 6]),
        };
        let codes = watched.ask_everything();
        assert_eq!(codes["apply"], apply.into_iter().collect(), "{kind}");
        let wanted = [("bootstrap", bootstrap), ("plan", plan), ("status", 1), ("validate", 0)];
        assert!(wanted.iter().all(|(command, code)| codes[command] == [*code].into()), "{kind}: {codes:?}");
        let is_refused = ["InitConfig", "JoinConfig"].contains(&kind);
        assert_eq!(watched.root.join("var/lib/machineadm/configuration.yaml").exists(), !is_refused, "{kind}");
    }
}

#[test]
fn no_command_shows_a_canary_beside_a_mistake() {
    for (kind, document, canaries) in documents() {
        let mut mistakes = Vec::new();
        break_each_object(&document, &mut Vec::new(), &document, &mut mistakes);
        assert!(mistakes.len() > 3, "{kind}");
        for broken in mistakes.iter().filter(|broken| !is_good(broken)) {
            let watched = Watched::new(&broken.to_string(), canaries.clone());
            for words in [&["validate"][..], &["validate", "-o", "json"], &["plan"], &["bootstrap"]] {
                assert_eq!(watched.run(&[words, &["-f", "FILE"]].concat()), Some(2), "{broken}");
            }
            assert!(!watched.root.join("var").exists(), "the tree was changed");
        }
    }
}

#[test]
fn a_secret_of_two_characters_that_a_command_prints_is_shown_nowhere() {
    testbed::needs!(Root);
    let command = "{name: c, shell: 'echo \"<$WORD>\"; exit 3', environment: {WORD: ~x}}";
    let commands = document("CommandsConfig", &format!("{{commands: [{command}]}}"));
    let watched = Watched::new(&commands, vec!["~x".to_owned()]);
    assert_eq!(watched.run(&["bootstrap", "-f", "FILE"]), Some(1));
    let outcome = fs::read_to_string(watched.root.join("var/lib/machineadm/outcome.json")).unwrap();
    assert!(outcome.contains("<[redacted]>") && !watched.holds(&outcome), "{outcome}");
    let status = binary::run(["--root".as_ref(), watched.root.as_os_str(), "status".as_ref()]).stdout;
    assert!(status.contains("| <[redacted]>") && !watched.holds(&status), "{status}");
}

#[test]
fn an_error_of_machineadm_itself_is_not_redacted() {
    let files = document("FilesConfig", "{files: [{path: /etc/passwd, content: is, mode: '0600'}]}");
    let watched = Watched::new(&files, Vec::new());
    fs::create_dir(watched.root.join("etc/passwd")).unwrap();
    for command in ["plan", "bootstrap"] {
        let file = watched.dir.path().join("configuration.yaml");
        let words = ["--root".as_ref(), watched.root.as_os_str(), command.as_ref(), "-f".as_ref(), file.as_os_str()];
        let told = binary::run(words).stderr;
        assert!(told.contains("/etc/passwd: is not a regular file"), "{told}");
    }
}

/// The document with one more member in one of its objects, and with one of its members of another type, each in turn.
fn break_each_object(whole: &Value, path: &mut Vec<String>, here: &Value, broken: &mut Vec<Value>) {
    let names: Vec<String> = match here {
        Value::Object(members) => members.keys().cloned().chain(["surprise".to_owned()]).collect(),
        Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
        _ => return,
    };
    for name in names {
        let pointer =
            Path::new("/").join(path.join("/")).to_str().expect("plain names").trim_end_matches('/').to_owned();
        let mut changed = whole.clone();
        match changed.pointer_mut(&pointer) {
            Some(Value::Object(members)) => _ = members.insert(name.clone(), json!([{"of": ["another", "type"]}])),
            Some(Value::Array(items)) => items.push(json!(7)),
            _ => panic!("{pointer} is not there"),
        }
        broken.push(changed);
        if let Some(below) = here.get(&name).or_else(|| here.get(name.parse::<usize>().ok()?)) {
            path.push(name);
            break_each_object(whole, path, below, broken);
            path.pop();
        }
    }
}
