//! Standard output that takes nothing: a command whose result is lost fails and names the reason; a reader that has
//! gone away is no failure. Commands that need a cluster are in `token_faults/lost.rs`.
use crate::support::{documents::document, run_output::RunOutput, scratch::Scratch};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

/// Every command that prints a result without a cluster, each on a machine of its own; `@` is its directory.
const COMMANDS: &[&str] = &[
    "",
    "help",
    "--help",
    "--version",
    "plan --help",
    "version",
    "version -o json",
    "completion bash",
    "explain",
    "explain FilesConfig.spec",
    "validate -f @/node.yaml",
    "validate -f @/node.yaml -o json",
    "validate -f @/invalid.yaml",
    "plan -f @/node.yaml",
    "plan -f @/node.yaml -o yaml",
    "plan -f @/node.yaml --out -",
    "plan show @/plan",
    "generate",
    "help token create",
    "bootstrap -f @/node.yaml",
    "bootstrap -f @/node.yaml -o json",
    "--bootstrap --path @/node.yaml",
    "apply @/plan",
    "apply @/plan -o yaml",
    "status",
    "status -o json",
    "encrypt --passphrase-uri file://@/passphrase -f @/node.yaml",
    "decrypt -f @/encrypted.yaml",
    "config convert --kubernetes-version 1.36.4 -f @/kubeadm.yaml",
    "config convert --kubernetes-version 1.36.4 -f @/kubeadm.yaml -o json",
    "config convert --kubernetes-version 1.36.4 -f @/kubeadm",
    "config validate -f @/kubeadm.yaml",
    "config validate -f @/kubeadm.yaml -o yaml",
    "config defaults init --kubernetes-version 1.36.4",
    "config defaults init --kubernetes-version 1.36.4 -o json",
    "config edit-map --kubernetes-version 1.36.4 -f @/map.yaml",
    "token generate",
    "token generate -o yaml",
    "discover --discovery-file @/cluster.yaml",
    "discover --discovery-file @/cluster.yaml -o kubeconfig",
    "discover --discovery-file @/cluster.yaml -o json",
];

const LOST: &str = "error: cannot write the result to standard output: No space left on device\n";

const CLUSTER: &str = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.4\n";

/// A machine and everything that the commands name.
fn machine() -> Scratch {
    let scratch = Scratch::new("lost-output");
    let dir = scratch.path();
    let write = |name: &str, text: &str| fs::write(dir.join(name), text).expect("a file can be written");
    for name in ["root/etc", "kubeadm"] {
        fs::create_dir_all(dir.join(name)).expect("a directory can be made");
    }
    write("root/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    write("node.yaml", &document("FilesConfig", "{files: [{path: /etc/a, content: x}]}"));
    write("invalid.yaml", &document("FilesConfig", "{}"));
    write("passphrase", "correct horse battery staple\n");
    fs::set_permissions(dir.join("passphrase"), fs::Permissions::from_mode(0o600)).expect("a mode can be set");
    write("kubeadm.yaml", CLUSTER);
    write("kubeadm/one.yaml", CLUSTER);
    let map = format!("kind: ConfigMap\ndata:\n  ClusterConfiguration: |\n    {}", CLUSTER.replace('\n', "\n    "));
    write("map.yaml", map.trim_end());
    // Nothing listens there: the file alone is trusted.
    write("cluster.yaml", "clusters: [{cluster: {server: 'https://127.0.0.1:1'}}]\n");
    scratch
}

fn command(dir: &Path, line: &str) -> Command {
    let line = line.replace('@', &dir.display().to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    let first = line.split_whitespace().next().unwrap_or_default();
    if ["plan", "bootstrap", "--bootstrap", "apply", "validate", "status", "discover"].contains(&first) {
        command.arg("--root").arg(dir.join("root"));
    }
    command.args(line.split_whitespace()).stdin(Stdio::null());
    command
}

/// Does first what a command builds on.
fn prepared(line: &str) -> Scratch {
    let machine = machine();
    let before = match line.split_whitespace().next() {
        Some("apply") | Some("plan") if line.contains("@/plan") => "plan -f @/node.yaml --out @/plan",
        Some("status") => "bootstrap -f @/node.yaml",
        Some("decrypt") => "encrypt --passphrase-uri file://@/passphrase -f @/node.yaml",
        _ => return machine,
    };
    let ran = RunOutput::of(command(machine.path(), before).output().expect("machineadm runs"));
    assert_eq!(ran.code, Some(0), "{before}: {}", ran.stderr);
    fs::write(machine.path().join("encrypted.yaml"), ran.stdout).expect("a file can be written");
    machine
}

fn with_output(machine: &Scratch, line: &str, stdout: impl Into<Stdio>) -> RunOutput {
    RunOutput::of(
        command(machine.path(), line).stdout(stdout).stderr(Stdio::piped()).output().expect("machineadm runs"),
    )
}

fn full() -> fs::File {
    fs::File::options().write(true).open("/dev/full").expect("/dev/full can be opened")
}

#[test]
fn a_result_that_a_full_disk_does_not_take_is_an_error() {
    for line in COMMANDS {
        let RunOutput { code, stderr, .. } = with_output(&prepared(line), line, full());
        assert_eq!(code, Some(1), "{line}: {stderr}");
        assert!(stderr.contains(LOST), "{line}: {stderr}");
    }
}

#[test]
fn a_reader_that_has_gone_away_is_no_failure() {
    for line in COMMANDS {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let without_reader = with_output(&prepared(line), line, writer);
        let read = with_output(&prepared(line), line, Stdio::piped());
        assert!(!read.stdout.is_empty(), "{line} prints no result, so that the tests here prove nothing");
        assert_eq!(without_reader.code, read.code, "{line}: {}", without_reader.stderr);
        assert!(!without_reader.stderr.contains("error:"), "{line}: {}", without_reader.stderr);
    }
}

#[test]
fn a_run_whose_report_is_lost_has_succeeded_all_the_same_and_names_its_outcome() {
    let machine = machine();
    let ran = with_output(&machine, "bootstrap -f @/node.yaml", full());
    let outcome = machine.path().join("root/var/lib/machineadm/outcome.json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(&format!("remedy: the run has ended; its outcome is saved in {}\n", outcome.display()))
    );
    let outcome: serde_json::Value = serde_json::from_slice(&fs::read(outcome).expect("an outcome")).expect("JSON");
    assert_eq!(outcome["state"], "succeeded");
    assert!(machine.path().join("root/run/cluster-api/bootstrap-success.complete").exists());
}

#[test]
fn a_plan_that_could_not_be_shown_is_not_saved_for_review() {
    let machine = machine();
    let ran = with_output(&machine, "plan -f @/node.yaml --out @/plan", full());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(!machine.path().join("plan").exists());
}
