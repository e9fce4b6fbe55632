//! Errors and status as people read them: one golden file each below `tests/errors` and `tests/status`, which
//! `cargo xtask tidy` checks for the words of the field. `UPDATE_TEXTS=1` writes them anew.
use crate::support::{documents::document, run_output::RunOutput, scratch::Scratch};
use rustix::fs::{FlockOperation, flock};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A machine below a root, and files beside it; `@` stands for its directory.
struct Bench(Scratch);

impl Bench {
    fn new() -> Self {
        let bench = Self(Scratch::new("texts"));
        bench.write("machine/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        bench.write("machine/etc/hostname", "node-7\n");
        let files = document("FilesConfig", "{files: [{path: /etc/motd, content: new}]}");
        bench.write("node.yaml", &files);
        let commands = document("CommandsConfig", "{commands: [{name: agent, argv: [/opt/agent, --install]}]}");
        bench.write("fails.yaml", &(files.clone() + &commands));
        bench.write("init.yaml", &(files + &document("InitConfig", "{kubernetesVersion: v1.36.4}")));
        bench.write("invalid.yaml", &document("SysctlConfig", "{parametres: {}}"));
        bench.write("passphrase", "correct horse battery staple\n");
        bench.write("other-passphrase", "another horse battery staple\n");
        for name in ["passphrase", "other-passphrase"] {
            fs::set_permissions(bench.at(name), fs::Permissions::from_mode(0o600)).expect("a mode can be set");
        }
        bench.write(
            "kubeadm.yaml",
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.4\n\
             certificateValidityPeriod: 4380h0m0s\n",
        );
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("a directory can be made");
        fs::write(path, text).expect("a file can be written");
    }

    fn run(&self, line: &str) -> RunOutput {
        let dir = self.0.path().to_string_lossy().into_owned();
        let words = line.split_whitespace().map(|word| word.replace('@', &dir));
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.args(words).stdin(Stdio::null()).env_remove("KUBECONFIG").env("HOME", self.at("home"));
        RunOutput::of(command.output().expect("machineadm runs"))
    }

    /// What a person sees, without what differs from run to run.
    fn text(&self, line: &str) -> String {
        let RunOutput { code, stdout, stderr } = self.run(line);
        let seen = format!("$ machineadm {line}\n{stdout}{stderr}exit code {}\n", code.unwrap_or(-1));
        let mut text = seen.replace(&*self.0.path().to_string_lossy(), "@");
        for pattern in [r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", r"process \d+", r"\b\d+\.\d ?s\b"] {
            text = regex_lite::Regex::new(pattern).expect("a pattern").replace_all(&text, "…").into_owned();
        }
        text
    }
}

const ROOT: &str = "--root @/machine";

/// Each error: its name, what is done before, and the command that fails.
const ERRORS: &[(&str, &[&str], &str)] = &[
    ("a-file-that-is-missing", &[], "plan -f @/none.yaml --root @/machine"),
    ("a-root-that-is-missing", &[], "status --root @/none"),
    ("invalid-documents", &[], "bootstrap -f @/invalid.yaml --root @/machine"),
    ("init-below-a-root", &[], "bootstrap -f @/init.yaml --root @/machine"),
    ("nothing-to-continue", &[], "bootstrap --root @/machine"),
    ("prune-in-another-mode", &[], "bootstrap -f @/node.yaml --prune --root @/machine"),
    ("abandon-what-was-not-interrupted", &[], "bootstrap -f @/node.yaml --abandon a --root @/machine"),
    ("a-command-that-fails", &[], "bootstrap -f @/fails.yaml --root @/machine"),
    ("a-plan-that-is-none", &[], "apply @/node.yaml --root @/machine"),
    ("a-plan-over-another-file", &[], "plan -f @/node.yaml --out @/passphrase --root @/machine"),
    ("a-plan-over-its-input", &[], "plan -f @/node.yaml --out @/node.yaml --root @/machine"),
    (
        "a-plan-after-a-change",
        &["plan -f @/node.yaml --out @/plan --root @/machine", "!change"],
        "apply @/plan --root @/machine",
    ),
    (
        "a-plan-that-was-edited",
        &["plan -f @/node.yaml --out @/plan --root @/machine", "!edit"],
        "apply @/plan --root @/machine",
    ),
    (
        "a-run-in-progress",
        &["bootstrap -f @/node.yaml --root @/machine", "!lock"],
        "bootstrap -f @/node.yaml --root @/machine",
    ),
    (
        "a-damaged-journal",
        &["bootstrap -f @/node.yaml --root @/machine", "!journal"],
        "plan -f @/node.yaml --root @/machine",
    ),
    ("an-option-of-another-command", &[], "--mode post status"),
    ("a-command-of-kubeadm", &[], "upgrade plan"),
    ("a-version-that-kubeadm-looks-up", &[], "init --kubernetes-version stable-1"),
    ("a-key-that-would-be-lost", &[], "init --kubernetes-version v1.36.4 --upload-certs --skip-certificate-key-print"),
    (
        "phases-that-cannot-be-skipped",
        &[],
        "init --kubernetes-version v1.36.4 --skip-phases certs,mark-control-plane,x",
    ),
    ("a-passphrase-that-does-not-fit", &["!encrypt"], "decrypt -f @/encrypted.yaml"),
    ("a-conversion-with-losses", &[], "config convert --kubernetes-version 1.29.4 -f @/kubeadm.yaml"),
    ("an-import-with-fields-without-a-place", &[], "config import --kubernetes-version 1.36.4 -f @/kubeadm.yaml"),
    ("a-version-that-is-none", &[], "config defaults init --kubernetes-version latest"),
    ("discovery-without-a-way", &[], "discover 10.0.0.10:6443"),
    ("discovery-without-a-pin", &[], "discover 10.0.0.10:6443 --token abcdef.0123456789abcdef"),
    (
        "discovery-with-an-invalid-pin",
        &[],
        "discover 10.0.0.10:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:12",
    ),
    ("refresh-without-a-stored-cluster", &[], "discover --refresh --root @/machine"),
    ("a-token-without-a-kubeconfig", &[], "token create"),
    ("a-token-that-is-none", &[], "token create nonsense"),
    ("a-kind-that-is-unknown", &[], "explain FileConfig"),
];

const STATUS: &[(&str, &[&str])] = &[
    ("no-run", &[]),
    ("succeeded", &["bootstrap -f @/node.yaml --root @/machine"]),
    ("failed", &["bootstrap -f @/fails.yaml --root @/machine"]),
    ("in-progress", &["bootstrap -f @/node.yaml --root @/machine", "!lock"]),
    ("damaged", &["bootstrap -f @/node.yaml --root @/machine", "!outcome"]),
];

fn prepare(bench: &Bench, steps: &[&str]) -> Option<fs::File> {
    let mut lock = None;
    for step in steps {
        match *step {
            "!change" => bench.write("machine/etc/motd", "edited\n"),
            "!edit" => {
                let text = fs::read_to_string(bench.at("plan")).expect("a plan");
                bench.write("plan", &text.replace("/etc/motd", "/etc/shadow"));
            }
            "!lock" => {
                let path = bench.at("machine/run/machineadm/lock");
                bench.write(
                    "machine/run/machineadm/lock",
                    "machineadm bootstrap, process 4711, since 2026-11-16T12:00:00Z",
                );
                let file = fs::File::open(path).expect("the lock is there");
                flock(&file, FlockOperation::LockExclusive).expect("nobody holds it");
                lock = Some(file);
            }
            "!journal" => bench.write("machine/var/lib/machineadm/journal.json", "{"),
            "!outcome" => bench.write("machine/var/lib/machineadm/outcome.json", "{"),
            "!encrypt" => {
                let made = bench.run("encrypt --passphrase-uri file://@/passphrase -f @/node.yaml");
                bench.write(
                    "encrypted.yaml",
                    &made.stdout.replace("@/passphrase", "").replace("/passphrase", "/other-passphrase"),
                );
            }
            line => drop(bench.run(line)),
        }
    }
    lock
}

fn compare(folder: &str, name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder).join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_TEXTS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a directory can be made");
        fs::write(&path, text).expect("a file can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, stored, "{} differs; see it with UPDATE_TEXTS=1", path.display());
}

/// No golden file is left of a text that is gone.
fn assert_complete(folder: &str, names: impl Iterator<Item = &'static str>) {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder)).expect("a folder");
    let stored: BTreeSet<String> =
        files.map(|file| file.expect("a file").file_name().into_string().expect("ASCII")).collect();
    assert_eq!(stored, names.map(|name| format!("{name}.txt")).collect());
}

#[test]
fn every_error_is_as_its_golden_file_says() {
    testbed::needs!(Root);
    for (name, before, line) in ERRORS {
        let bench = Bench::new();
        let _lock = prepare(&bench, before);
        let text = bench.text(line);
        assert!(!text.ends_with("exit code 0\n"), "{text}");
        compare("errors", name, &text);
    }
    assert_complete("errors", ERRORS.iter().map(|(name, ..)| *name));
}

#[test]
fn every_status_is_as_its_golden_file_says() {
    testbed::needs!(Root);
    for (name, before) in STATUS {
        let bench = Bench::new();
        let _lock = prepare(&bench, before);
        compare("status", name, &bench.text(&format!("status {ROOT}")));
    }
    assert_complete("status", STATUS.iter().map(|(name, _)| *name));
}
