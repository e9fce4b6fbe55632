//! `status --bundle`: one archive that explains a failed run, and holds no secret.
use crate::support::{binary, documents::document, run_output::RunOutput, sandbox::Sandbox, scratch::Scratch, shell};
use flate2::read::GzDecoder;
use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Secrets of the configuration, of files, and of what programs print.
const CANARIES: [&str; 8] = [
    "canarysignature77",
    "canarybearer88",
    "canaryoutput55",
    "canaryhash44",
    "canarycontent33",
    "canarykeybody22",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "abcdef.canarytoken12345",
];

/// A run that fails and prints secrets.
fn fails() -> String {
    let report = "{uri: 'https://127.0.0.1:9/?signature=canarysignature77', authorization: Bearer canarybearer88}";
    let script = "echo the disk is on fire; echo $KEY; echo --certificate-key \
                  0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef; exit 3";
    let command = format!("{{name: fails, shell: '{script}', environment: {{KEY: canaryoutput55}}}}");
    let files = "{files: [{path: /etc/secret, content: canarycontent33, mode: '0600'}]}";
    [
        document("ReportConfig", report),
        document("FilesConfig", files),
        document("CommandsConfig", &format!("{{commands: [{command}]}}")),
    ]
    .concat()
}

/// The files of a bundle, by their names, none of which holds a canary.
fn contents(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let mut files = BTreeMap::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        assert_eq!(entry.header().mode().expect("a mode"), 0o600);
        let name = entry.path().expect("a path").to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("text");
        for canary in CANARIES {
            assert!(!text.contains(canary), "{name} holds {canary}: {text}");
        }
        files.insert(name.strip_prefix("machineadm-bundle/").expect("one directory").to_owned(), text);
    }
    files
}

struct Root(Scratch);

impl Root {
    fn new() -> Self {
        let root = Self(Scratch::new("bundle"));
        fs::create_dir_all(root.path("root/etc")).expect("a directory");
        fs::write(root.path("root/etc/hostname"), "node-7\n").expect("a file");
        shell::install(&root.path("root"));
        root
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, words: &[&str]) -> RunOutput {
        let words = words.iter().map(|word| match word.strip_prefix('@') {
            Some(name) => self.path(name).to_string_lossy().into_owned(),
            None => (*word).to_owned(),
        });
        binary::run(["--root".to_owned(), self.path("root").to_string_lossy().into_owned()].into_iter().chain(words))
    }

    fn fail(&self) {
        fs::write(self.path("node.yaml"), fails()).expect("a file");
        let ran = self.run(&["bootstrap", "-f", "@node.yaml"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    }
}

#[test]
fn a_bundle_explains_a_failed_run_without_its_secrets() {
    testbed::needs!(Root);
    let root = Root::new();
    root.fail();
    let ran = root.run(&["status", "--bundle", "@bundle.tar.gz"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("secrets removed") && ran.stderr.is_empty(), "{ran:?}");
    let file = root.path("bundle.tar.gz");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o7777, 0o600);
    let bundle = contents(&fs::read(&file).expect("a file"));
    let names: Vec<&str> = bundle.keys().map(String::as_str).collect();
    let expected = ["README.txt", "journal.json", "machineadm.txt", "outcome.json", "report.json", "status.txt"];
    assert_eq!(names, expected);
    assert!(bundle["status.txt"].contains("FAILED at CommandsConfig"), "{}", bundle["status.txt"]);
    assert!(bundle["status.txt"].contains("the disk is on fire") && bundle["status.txt"].contains("[redacted]"));
    let outcome: serde_json::Value = serde_json::from_str(&bundle["outcome.json"]).expect("it is still JSON");
    assert_eq!(outcome["failure"]["output"][0], "the disk is on fire");
    assert!(bundle["journal.json"].contains("command fails"), "{}", bundle["journal.json"]);
    let readme = &bundle["README.txt"];
    assert!(readme.contains("Bundle of node-7"), "{readme}");
    for missing in [
        "kubelet.log.txt         output of `journalctl --no-pager --output=short-iso --lines 300 --unit kubelet`: \
         --root names a root file system that does not run",
        "kubernetes-files.txt    names, modes, owners and sizes below /etc/kubernetes: /etc/kubernetes does not exist",
        "os-release.txt          the operating system: /etc/os-release does not exist",
    ] {
        assert!(readme.contains(missing), "{missing}: {readme}");
    }
}

#[test]
fn a_bundle_replaces_a_bundle_and_nothing_else() {
    let root = Root::new();
    fs::write(root.path("other"), "mine").expect("a file");
    std::os::unix::fs::symlink("new", root.path("link")).expect("a link");
    for other in ["@other", "@link", "@root"] {
        let ran = root.run(&["status", "--bundle", other]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("the path exists and is not a bundle of machineadm"), "{}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(root.path("other")).expect("a file"), "mine");
    for _ in 0..2 {
        let ran = root.run(&["status", "--bundle", "@bundle.tar.gz"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let bundle = contents(&fs::read(root.path("bundle.tar.gz")).expect("a file"));
    assert!(bundle["README.txt"].contains("status.txt"), "{bundle:?}");
    assert!(bundle["README.txt"].contains("machineadm has not run here yet"), "{bundle:?}");
}

#[test]
fn standard_output_takes_the_archive_alone() {
    let root = Root::new();
    let mut command = binary::command(["--root".as_ref(), root.path("root").as_os_str()]);
    let output = command.args(["status", "--bundle", "-"]).output().expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(contents(&output.stdout).contains_key("README.txt"));
    let both = root.run(&["status", "--bundle", "-", "-o", "json"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

#[test]
fn a_damaged_outcome_is_in_the_bundle_and_named() {
    testbed::needs!(Root);
    let root = Root::new();
    root.fail();
    fs::write(root.path("root/var/lib/machineadm/outcome.json"), "{\"token\": \"abcdef.canarytoken12345\"")
        .expect("a file");
    let ran = root.run(&["status", "--bundle", "@bundle.tar.gz"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let bundle = contents(&fs::read(root.path("bundle.tar.gz")).expect("a file"));
    assert!(bundle["README.txt"].contains("the file is damaged"), "{}", bundle["README.txt"]);
    assert_eq!(bundle["outcome.json"], "{\"token\": \"[redacted]\"");
}

/// A stand-in for a program of a node, which this computer does not run.
fn fake(sandbox: &Sandbox, name: &str, script: &str) {
    let path = format!("/usr/local/sbin/{name}");
    // Written inside: no other thread's child has it open.
    let write = format!("cat > {path} << 'END'\n#!/bin/sh\n{script}\nEND\n");
    sandbox.sh(&format!("mkdir -p /usr/local/sbin\n{write}chmod 0755 {path}"));
}

fn write_private(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("a mode");
}

#[test]
fn a_bundle_of_a_running_machine_has_its_versions_services_files_and_containers() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    fake(&sandbox, "kubeadm", "echo 'clientVersion: v1.36.4 (fake)'");
    fake(&sandbox, "kubelet", "echo 'Kubernetes v1.36.4 (fake)'");
    fake(&sandbox, "containerd", "echo 'containerd 2.1 (fake)'");
    fake(&sandbox, "crictl", "echo 'etcd Exited (fake)'; echo 'a warning (fake)' >&2; exit 1");
    fake(&sandbox, "systemctl", "echo \"$5 failed (fake)\"; exit 3");
    let key = "-----BEGIN PRIVATE KEY-----\\ncanarykeybody22\\n-----END PRIVATE KEY-----";
    let log = format!(
        "printf 'panic (fake)\\nkubeadm join --token abcdef.canarytoken12345\\n{key}\\npassword=canaryhash44\\n'"
    );
    fake(&sandbox, "journalctl", &format!("{log}; printf 'KEY was canaryoutput55\\n'"));
    write_private(&sandbox.at("/etc/kubernetes/pki/ca.key"), "canarykeybody22");
    write_private(&sandbox.at("/etc/kubernetes/admin.conf"), "token: abcdef.canarytoken12345");
    let failed = sandbox.bootstrap(&fails());
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let report = sandbox.text("/run/machineadm/report.json").expect("a run leaves its report");
    assert!(CANARIES.iter().all(|canary| !report.contains(canary)), "{report}");
    let ran = sandbox.machineadm(&["status", "--bundle", "/srv/bundle.tar.gz"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let bundle = contents(&fs::read(sandbox.at("/srv/bundle.tar.gz")).expect("a file"));
    for (name, text) in [
        ("kubeadm.txt", "v1.36.4 (fake)"),
        ("kubelet.txt", "Kubernetes v1.36.4 (fake)"),
        ("containerd.txt", "containerd 2.1 (fake)"),
        ("containers.txt", "etcd Exited (fake)\na warning (fake)\n(crictl ended with exit code 1)"),
        ("kubelet.status.txt", "kubelet failed (fake)\n(systemctl ended with exit code 3)"),
        ("containerd.status.txt", "containerd failed (fake)"),
        ("machineadm.log.txt", "panic (fake)"),
        ("kubelet.log.txt", "kubeadm join --token [redacted]"),
        ("kubelet.log.txt", "KEY was [redacted]"),
        ("kernel.txt", "Linux"),
        ("disks.txt", "Filesystem"),
        ("memory.txt", "MemFree"),
        ("os-release.txt", "ID="),
        ("kubernetes-files.txt", "- 0600 0:0         15 /etc/kubernetes/pki/ca.key"),
        ("kubernetes-files.txt", "d 0755 0:0"),
        ("status.txt", "FAILED at CommandsConfig"),
    ] {
        assert!(bundle[name].contains(text), "{name}: {}", bundle[name]);
    }
}
