//! The two validators, `validate` for documents of machineadm and `config validate` for kubeadm's files: one form, one
//! JSON shape, the same arguments.
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output},
};

const KUBEADM: &str = "\
# a cluster
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
networking:
  serviceSubnet: here
  podSubnets: 10.244.0.0/16
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 127.0.0.1}
";
const DOCUMENT: &str = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\n";
const VALIDATORS: [&[&str]; 2] = [&["validate"], &["config", "validate"]];

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1").output().expect("machineadm runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

/// The members of everything in a report's list.
fn members(output: &Output) -> BTreeSet<String> {
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let notes = report["notes"].as_array().expect("a list");
    assert_eq!(report["total"], notes.len(), "{report}");
    notes.iter().flat_map(|note| note.as_object().expect("an object").keys().cloned()).collect()
}

#[test]
fn kubeadm_s_problems_have_position_path_message_and_hint_as_those_of_documents_do() {
    let folder = folder(&[("kubeadm.yaml", KUBEADM)]);
    let output = run(folder.path(), &["config", "validate", "-f", "kubeadm.yaml"]);
    let expected = "\
kubeadm.yaml: 3 problems

  kubeadm.yaml:5:18  document 1, ClusterConfiguration
    networking.serviceSubnet            must be an address range such as 10.96.0.0/12, or two of different families separated by a comma
  kubeadm.yaml:6:15  document 1, ClusterConfiguration
    networking.podSubnets               kubeadm.k8s.io/v1beta4 has no such field
  kubeadm.yaml:10:38 document 2, InitConfiguration
    localAPIEndpoint.advertiseAddress   must be an address of this machine, such as 192.168.0.10
";
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (expected, Some(2)));
}

#[test]
fn both_validators_give_programs_the_same_members() {
    let unknown = format!("{DOCUMENT}spec: {{file: []}}\n");
    let files = folder(&[("kubeadm.yaml", &format!("{KUBEADM}---\na: b\n")), ("node.yaml", &unknown)]);
    let of_documents = members(&run(files.path(), &["validate", "-f", "node.yaml", "-o", "json"]));
    let of_kubeadm = members(&run(files.path(), &["config", "validate", "-f", "kubeadm.yaml", "-o", "json"]));
    assert_eq!(of_documents, of_kubeadm);
    let expected = ["column", "document", "hint", "kind", "line", "message", "path", "severity", "source"];
    assert_eq!(of_documents, expected.map(str::to_owned).into());
}

#[test]
fn a_file_of_document_markers_does_not_print_a_line_per_marker() {
    let files = folder(&[("kubeadm.yaml", &"---\n".repeat(200_000))]);
    let output = run(files.path(), &["config", "validate", "-f", "kubeadm.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = text(&output.stdout);
    assert!(printed.len() < 32 << 10, "{} bytes", printed.len());
    assert!(printed.ends_with(" more problems\n"), "{}", &printed[printed.len() - 200..]);
    let json = run(files.path(), &["config", "validate", "-f", "kubeadm.yaml", "-o", "json"]);
    let report: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(100));
    assert_eq!(report["total"], 100_000);
}

#[test]
fn a_directory_stands_for_its_yaml_and_json_files_in_the_order_of_their_names() {
    let wrong = |name: &str| format!("{DOCUMENT}metadata: {{name: {name}}}\nspec: {{}}\n");
    let files = folder(&[
        ("node/20.yml", &wrong("b")),
        ("node/10.yaml", &wrong("a")),
        ("node/30.json", r#"{"apiVersion": "machineadm.cluster.x-k8s.io/v1alpha1", "kind": "FilesConfig"}"#),
        ("node/notes.txt", "no document"),
        ("node/more.yaml/deeper.yaml", &wrong("c")),
    ]);
    let output = run(files.path(), &["validate", "-f", "node"]);
    let printed = text(&output.stdout);
    let names: Vec<_> =
        printed.lines().filter_map(|line| line.split_once(": 1 problem").map(|(name, _)| name)).collect();
    assert_eq!(names, ["node/10.yaml", "node/20.yml", "node/30.json"], "{printed}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_directory_without_such_files_is_an_error_of_both_validators() {
    let files = folder(&[("node/notes.txt", "no document")]);
    for validator in VALIDATORS {
        let output = run(files.path(), &[validator, &["-f", "node"]].concat());
        assert_eq!(output.status.code(), Some(2), "{validator:?}");
        let said = text(&output.stderr);
        assert!(said.contains("node: the directory has no file that ends in .yaml, .yml or .json"), "{said}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_by_its_size_and_not_cut() {
    let padding = format!("# {}\n", "x".repeat(1 << 20));
    let files =
        folder(&[("kubeadm.yaml", &format!("{KUBEADM}{padding}")), ("node.yaml", &format!("{DOCUMENT}{padding}"))]);
    let output = run(files.path(), &["config", "validate", "-f", "kubeadm.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("kubeadm.yaml: larger than 1024 KiB"), "{}", text(&output.stderr));
    let output = run(files.path(), &["validate", "-f", "node.yaml"]);
    assert!(text(&output.stdout).contains("more than 1024 KiB"), "{}", text(&output.stdout));
}

#[test]
fn provisioning_without_init_or_join_warns_that_the_machine_does_not_become_a_node() {
    let text_of =
        |kind: &str, spec: &str| format!("apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: {kind}\n{spec}\n");
    let files = folder(&[
        ("files.yaml", &text_of("FilesConfig", "spec: {files: [{path: /etc/a, content: x}]}")),
        ("root/etc/hostname", "node-7\n"),
    ]);
    let warning = "warning: this machine does not become a node: no document is an InitConfig";
    // Without a mode nobody knows what the file is for.
    let validate = run(files.path(), &["validate", "-f", "files.yaml"]);
    assert!(!text(&validate.stdout).contains("warning"), "{}", text(&validate.stdout));
    for command in ["plan", "bootstrap"] {
        for (mode, warns) in [("prepare", false), ("post", false), ("provision", true)] {
            let output = run(files.path(), &[command, "-f", "files.yaml", "--mode", mode, "--root", "root"]);
            assert_eq!(text(&output.stderr).contains(warning), warns, "{command} {mode}: {}", text(&output.stderr));
        }
    }
    let plan = run(files.path(), &["plan", "-f", "files.yaml", "--root", "root", "-o", "json"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).expect("JSON");
    assert_eq!(plan["warnings"].as_array().map(Vec::len), Some(1), "{plan}");
}

#[test]
fn each_validator_names_the_other_for_the_other_s_files() {
    let files = folder(&[("kubeadm.yaml", KUBEADM), ("node.yaml", &format!("{DOCUMENT}spec: {{}}\n"))]);
    let output = run(files.path(), &["validate", "-f", "kubeadm.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("`machineadm config validate`"), "{}", text(&output.stdout));
    let output = run(files.path(), &["config", "validate", "-f", "node.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("check it with `machineadm validate`"), "{}", text(&output.stdout));
}
