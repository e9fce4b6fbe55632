//! Real kubeadm programs judge the files that we write for them: accepted, and no field unknown to them.
//!
//! kubeadm runs in a network namespace of its own, which is empty: otherwise it would ask the internet for a version.
use crate::support::kubeadm_judge::{IN_USE, Judge, judges};
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use testbed::programs::{KUBEADM_1_21, KUBEADM_1_26, KUBEADM_1_30, KUBEADM_1_31, KUBEADM_1_37, KUBERNETES, Set};

/// The first and the last kubeadm of each API version since v1beta2.
const ALL: &[&Set] = &[&KUBEADM_1_21, &KUBEADM_1_26, &KUBEADM_1_30, &KUBEADM_1_31, &KUBERNETES, &KUBEADM_1_37];

/// The newest API version that it speaks without being asked, as it says itjudge.
fn own_api(judge: &Judge) -> String {
    let printed = judge.run(&["config", "print", "init-defaults"]).stdout;
    let printed = String::from_utf8_lossy(&printed);
    printed.lines().find_map(|line| line.strip_prefix("apiVersion: ")).expect("an API version").to_owned()
}

/// An API version that it reads although it prefers another one.
fn other_api(judge: &Judge) -> Option<&'static str> {
    match judge.minor() {
        21 => Some("v1beta1"),
        26 => Some("v1beta2"),
        31 | 36 => Some("v1beta3"),
        37 => Some("v1"),
        _ => None,
    }
}

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubeadm/tests/vectors")
}

/// Converts for a version; losses are allowed, they are other tests' concern.
fn converted(file: &Path, version: &str, into: &Path) -> String {
    converted_to(file, version, None, into)
}

fn converted_to(file: &Path, version: &str, api: Option<&str>, into: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "convert", "--allow-loss", "--kubernetes-version", version, "-f"]).arg(file);
    command.args(api.map(|api| format!("--api-version={api}")));
    let output = command.output().expect("machineadm runs");
    assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    fs::write(into, &output.stdout).expect("a file");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Rich and minimal inputs of every version: init with its cluster, join of a worker and of a control plane, and the
/// documents of reset and upgrade.
fn inputs() -> Vec<PathBuf> {
    let files = fs::read_dir(vectors().join("synth")).expect("the vectors").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = files
        .filter(|file| {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let kinds = ["_init", "_join", "_reset", "_upgrade"];
            !name.starts_with("allfields") && kinds.iter().any(|kind| name.contains(kind))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn kubeadms_in_use_accept_what_we_write_for_them() {
    testbed::needs!(Root, EachPinned(IN_USE));
    accept_ours(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn every_kubeadm_accepts_what_we_write_for_it() {
    testbed::needs!(Root, EachPinned(ALL));
    accept_ours(&judges(ALL));
}

fn accept_ours(judges: &[Judge]) {
    let scratch = tempfile::tempdir().expect("a folder");
    let ours = scratch.path().join("ours.yaml");
    let mut refused = Vec::new();
    let mut judged = 0;
    for judge in judges {
        for input in inputs() {
            for api in [None, other_api(judge)] {
                let text = converted_to(&input, judge.version, api, &ours);
                // Reset and upgrade have no document before v1beta4: nothing else may come out empty.
                let name = input.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let has_document = !["_reset", "_upgrade"].iter().any(|kind| name.contains(kind))
                    || judge.minor() >= 31 && api.is_none_or(|api| ["v1beta4", "v1"].contains(&api));
                assert_eq!(!text.is_empty(), has_document, "kubeadm {} {api:?} on {name}", judge.version);
                if text.is_empty() {
                    continue;
                }
                judged += 1;
                if let Err(said) = judge.accepts(&ours, scratch.path()) {
                    refused.push(format!("kubeadm {} on {}:\n{said}\n{text}", judge.version, input.display()));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{} refused\n{}", refused.len(), refused.join("\n"));
    assert!(judged > 20 * judges.len(), "{judged}");
}

/// What an operator writes for every version; only the version itself differs.
const ONE_DOCUMENT: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec: {parameters: {net.ipv4.ip_forward: 1}}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: vVERSION
  controlPlaneEndpoint: cluster.example:6443
  advertiseAddress: 192.0.2.10
  nodeName: node-7
  podSubnets: [10.244.0.0/16]
  serviceSubnets: [10.97.0.0/16]
  # The sandbox has neither kubelet nor runtime, and may lack what older kubeadms require.
  toleratedChecks: [swap, cgroups, kubelet, runtime, name-resolution, kernel-modules, programs]
";

#[test]
fn one_document_reaches_kubeadms_in_use_in_the_newest_api_that_they_speak() {
    testbed::needs!(Root, EachPinned(IN_USE));
    get_one_document(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn one_document_reaches_every_kubeadm_in_the_newest_api_that_it_speaks() {
    testbed::needs!(Root, EachPinned(ALL));
    get_one_document(&judges(ALL));
}

fn get_one_document(judges: &[Judge]) {
    let scratch = tempfile::tempdir().expect("a folder");
    let ours = scratch.path().join("ours.yaml");
    let (mut apis, mut meanings) = (Vec::new(), Vec::new());
    for judge in judges {
        let (file, flags) = judge.started_with(&ONE_DOCUMENT.replace("VERSION", judge.version));
        let api = own_api(judge);
        let of_kubeadm: Vec<&str> = file.lines().filter_map(|line| line.strip_prefix("apiVersion: ")).collect();
        assert_eq!(of_kubeadm, [format!("\"{api}\""), format!("\"{api}\"")], "kubeadm {}: {file}", judge.version);
        fs::write(&ours, &file).expect("a file");
        assert_eq!(judge.accepts(&ours, scratch.path()), Ok(()), "kubeadm {} on {file}", judge.version);
        assert!(flags.is_empty() || flags == [""], "kubeadm {} has a field for all of it: {flags:?}", judge.version);
        apis.push((judge.minor(), api));
        meanings.push(meaning(&file, judge.version));
    }
    for (minor, api) in apis {
        let expected = match minor {
            ..22 => "v1beta2",
            22..31 => "v1beta3",
            _ => "v1beta4",
        };
        assert_eq!(api, format!("kubeadm.k8s.io/{expected}"), "kubeadm 1.{minor}");
    }
    let first = &meanings[0];
    assert!(meanings.iter().all(|meaning| meaning == first), "{meanings:#?}");
}

/// What a cluster can be created without, and how a dry run of the real kubeadm shows that it creates it.
const PARTS: [(&str, &str); 2] = [("coreDNS", "k8s-app: kube-dns"), ("kubeProxy", "k8s-app: kube-proxy")];

#[test]
fn kubeadms_in_use_create_a_cluster_without_what_is_switched_off() {
    testbed::needs!(Root, EachPinned(IN_USE));
    leave_out(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn every_kubeadm_creates_a_cluster_without_what_is_switched_off() {
    testbed::needs!(Root, EachPinned(ALL));
    leave_out(&judges(ALL));
}

fn leave_out(judges: &[Judge]) {
    for judge in judges {
        let document = ONE_DOCUMENT.replace("VERSION", judge.version).replace(
            "toleratedChecks: [swap, cgroups, kubelet, runtime, name-resolution, kernel-modules, programs]",
            "toleratedChecks: [all]",
        );
        for (part, manifest) in PARTS {
            let (with, without) = (
                judge.dry_run_after(":", &document),
                judge.dry_run_after(":", &format!("{document}  without: [{part}]\n")),
            );
            assert!(with.contains(manifest), "kubeadm {} does not create {part}: {with}", judge.version);
            assert!(!without.contains(manifest), "kubeadm {} creates {part}: {without}", judge.version);
        }
        let without = judge.dry_run_after(":", &format!("{document}  without: [bootstrapToken]\n"));
        let tokens: Vec<&str> = without.lines().filter(|line| line.contains("name: bootstrap-token-")).collect();
        let is_unused = |line: &&str| line.trim() == "name: bootstrap-token-unused";
        assert!(!tokens.is_empty() && tokens.iter().all(is_unused), "kubeadm {}: {tokens:?}", judge.version);
        // It is in no group that kubeadm gives rights to.
        let groups = BASE64.encode("system:bootstrappers:unused");
        assert!(without.contains(&format!("auth-extra-groups: {groups}")), "kubeadm {}: {without}", judge.version);
    }
}

/// What a file says, in our own types, but for the version that it was written for.
fn meaning(file: &str, version: &str) -> kubeadm::hub::Documents {
    let rules = kubeadm::Rules { strictness: kubeadm::Strictness::Strict, minor: None };
    let mut read = kubeadm::read(&[kubeadm::Source { name: "kubeadm.yaml", text: file }], rules);
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    // Each kubeadm has names of its own for them.
    let init = read.documents.init.as_mut().expect("init");
    let ignored = std::mem::take(&mut init.node_registration.ignore_preflight_errors);
    assert!(
        ["Swap", "SystemVerification", "CRI"].iter().all(|name| ignored.contains(&(*name).to_owned())),
        "{ignored:?}"
    );
    let cluster = read.documents.cluster.as_mut().expect("a cluster");
    assert_eq!(cluster.kubernetes_version.take(), Some(format!("v{version}")));
    read.documents
}

/// A flag that the file's kubeadm does not have would be a loss in disguise.
#[test]
fn every_flag_that_carries_something_exists_in_kubeadms_in_use() {
    testbed::needs!(Root, EachPinned(IN_USE));
    have_the_flags(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn every_flag_that_carries_something_exists_in_that_kubeadm() {
    testbed::needs!(Root, EachPinned(ALL));
    have_the_flags(&judges(ALL));
}

fn have_the_flags(judges: &[Judge]) {
    let mut seen = std::collections::BTreeSet::new();
    let scratch = tempfile::tempdir().expect("a folder");
    let dry_run = scratch.path().join("dry-run.yaml");
    let document = |kind: &str| format!("apiVersion: kubeadm.k8s.io/v1beta4\nkind: {kind}\ndryRun: true\n");
    let text = format!("{}---\n{}", document("InitConfiguration"), document("JoinConfiguration"));
    fs::write(&dry_run, text).expect("a file");
    for judge in judges {
        let help = |command: &str| String::from_utf8_lossy(&judge.run(&[command, "--help"]).stdout).into_owned();
        let (init, join) = (help("init"), help("join"));
        for input in inputs().into_iter().chain([dry_run.clone()]) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
            command.args([
                "config",
                "convert",
                "--allow-loss",
                "-o",
                "json",
                "--kubernetes-version",
                judge.version,
                "-f",
            ]);
            let output = command.arg(&input).output().expect("machineadm runs");
            let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            for flag in value["flags"].as_array().expect("flags") {
                let name = flag["name"].as_str().expect("a name");
                let help = if flag["command"] == "join" { &join } else { &init };
                assert!(help.contains(&format!("{name} ")), "kubeadm {} has no {flag}", judge.version);
                seen.insert(name.to_owned());
            }
        }
    }
    assert!(seen.contains("--dry-run"), "the test looked for {seen:?} alone");
}

#[test]
fn kubeadms_in_use_accept_the_defaults_of_their_version() {
    testbed::needs!(Root, EachPinned(IN_USE));
    accept_defaults(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn every_kubeadm_accepts_the_defaults_of_its_version() {
    testbed::needs!(Root, EachPinned(ALL));
    accept_defaults(&judges(ALL));
}

fn accept_defaults(judges: &[Judge]) {
    let scratch = tempfile::tempdir().expect("a folder");
    let ours = scratch.path().join("ours.yaml");
    for judge in judges {
        for of in ["init", "join", "join-control-plane"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
            command.args(["config", "defaults", "--kubernetes-version", judge.version, of]);
            fs::write(&ours, command.output().expect("machineadm runs").stdout).expect("a file");
            let verdict = judge.accepts(&ours, scratch.path());
            assert_eq!(verdict, Ok(()), "kubeadm {} on the defaults of {of}", judge.version);
        }
    }
}

/// A kubeadm that read it as a number or a word of its own would refuse the file or print something else.
#[test]
fn every_scalar_comes_out_of_kubeadms_in_use_as_the_text_it_was() {
    testbed::needs!(Root, EachPinned(IN_USE));
    print_every_scalar(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn every_scalar_comes_out_of_a_real_kubeadm_as_the_text_it_was() {
    testbed::needs!(Root, EachPinned(ALL));
    print_every_scalar(&judges(ALL));
}

fn print_every_scalar(judges: &[Judge]) {
    let list = |name: &str| fs::read_to_string(vectors().join("reader").join(name)).expect("a list");
    let text = list("scalars-that-must-be-quoted.txt") + &list("scalars-safe-plain.txt");
    let scalars: Vec<&str> = text.lines().collect();
    let scratch = tempfile::tempdir().expect("a folder");
    let (input, ours) = (scratch.path().join("input.yaml"), scratch.path().join("ours.yaml"));
    let arguments: String = scalars
        .iter()
        .enumerate()
        .map(|(index, scalar)| format!("  - {{name: arg-{index:02}, value: '{scalar}'}}\n"))
        .collect();
    for judge in judges {
        let init = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n\
            localAPIEndpoint: {advertiseAddress: 192.168.0.10}\n\
            nodeRegistration: {criSocket: 'unix:///run/custom.sock', name: cp-1}\n---\n";
        let cluster = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n";
        fs::write(&input, format!("{init}{cluster}{arguments}")).expect("a file");
        converted(&input, judge.version, &ours);
        let migrated = scratch.path().join("migrated.yaml");
        let paths = [ours.display().to_string(), migrated.display().to_string()];
        let output = judge.run(&["config", "migrate", "--old-config", &paths[0], "--new-config", &paths[1]]);
        assert!(output.status.success(), "{}: {}", judge.version, String::from_utf8_lossy(&output.stderr));
        let back = kubeadm_arguments(&fs::read_to_string(&migrated).expect("kubeadm's file"));
        let expected: Vec<_> = scalars.iter().map(|scalar| (*scalar).to_owned()).collect();
        assert_eq!(back, expected, "kubeadm {}", judge.version);
    }
}

/// The values of the API server's arguments in a file that kubeadm printed.
fn kubeadm_arguments(text: &str) -> Vec<String> {
    let rules = kubeadm::Rules { strictness: kubeadm::Strictness::Strict, minor: None };
    let read = kubeadm::read(&[kubeadm::Source { name: "migrated", text }], rules);
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    let arguments = read.documents.cluster.expect("a cluster").api_server.extra_args;
    arguments.into_iter().map(|argument| argument.value).collect()
}

/// The ConfigMap holds the ClusterConfiguration with its defaults, in the version that the writing kubeadm prefers.
#[test]
fn a_map_of_one_kubeadm_in_use_edited_for_another_is_read_by_it_without_complaint() {
    testbed::needs!(Root, EachPinned(IN_USE));
    read_edited_maps(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn a_map_of_one_kubeadm_edited_for_another_is_read_by_it_without_complaint() {
    testbed::needs!(Root, EachPinned(ALL));
    read_edited_maps(&judges(ALL));
}

fn read_edited_maps(judges: &[Judge]) {
    let scratch = tempfile::tempdir().expect("a folder");
    let (map, ours) = (scratch.path().join("map.json"), scratch.path().join("ours.yaml"));
    for (place, from) in judges.iter().enumerate() {
        let printed = from.run(&["config", "print", "init-defaults"]);
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let cluster =
            printed.split("---\n").find(|text| text.contains("kind: ClusterConfiguration")).expect("a cluster");
        let written = serde_json::json!({"kind": "ConfigMap", "data": {"ClusterConfiguration": cluster}});
        fs::write(&map, written.to_string()).expect("a file");
        for to in &judges[place..] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
            command.args(["config", "edit-map", "--kubernetes-version", to.version, "-f"]).arg(&map);
            let output = command.args(["--api-server-arg", "v=4"]).output().expect("machineadm runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let edited: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a map");
            fs::write(&ours, edited["data"]["ClusterConfiguration"].as_str().expect("text")).expect("a file");
            let verdict = to.accepts(&ours, scratch.path());
            assert_eq!(verdict, Ok(()), "kubeadm {} on the map of {}", to.version, from.version);
        }
    }
}

/// The verdicts that the crate's own test compares with are those of the real kubeadm.
#[test]
fn the_recorded_verdicts_are_those_of_the_real_kubeadm() {
    testbed::needs!(Root, Pinned(&KUBERNETES));
    let judge = &judges(&[&KUBERNETES])[0];
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("case.yaml");
    let cases = fs::read_to_string(vectors().join("validate/kubeadm-1.36.4.json")).expect("the cases");
    let cases: serde_json::Value = serde_json::from_str(&cases).expect("JSON");
    for case in cases.as_array().expect("a list") {
        fs::write(&file, case["text"].as_str().expect("a text")).expect("a file");
        let output = judge.run(&["config", "validate", "--config", &file.display().to_string()]);
        assert_eq!(Some(output.status.success()), case["accepted"].as_bool(), "{}", case["case"]);
    }
}
