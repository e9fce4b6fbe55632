//! Rich files of every kubeadm API version are imported for real kubeadms, which accept what machineadm then gives them.
use crate::support::{
    import::import,
    kubeadm_judge::{IN_USE, Judge, judges},
};
use kubeadm::ApiVersion;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};
use testbed::programs::{KUBEADM_1_21, KUBEADM_1_26, KUBEADM_1_31, Set};

const SYSCTL: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec: {parameters: {net.ipv4.ip_forward: 1}}
---
";

#[test]
fn kubeadms_in_use_accept_what_imported_files_become() {
    testbed::needs!(Root, EachPinned(IN_USE));
    accept(&judges(IN_USE));
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn older_kubeadms_accept_what_imported_files_become() {
    const OLDER: &[&Set] = &[&KUBEADM_1_21, &KUBEADM_1_26, &KUBEADM_1_31];
    testbed::needs!(Root, EachPinned(OLDER));
    accept(&judges(OLDER));
}

/// Files of every version up to the kubeadm's own: it need not read them any more. What later versions have, it lacks.
fn accept(judges: &[Judge]) {
    let scratch = tempfile::tempdir().expect("a folder");
    let (ours, discovery) = (scratch.path().join("ours.yaml"), scratch.path().join("discovery.conf"));
    fs::write(&discovery, "").expect("a file");
    for judge in judges {
        let mut documents = Vec::new();
        for input in inputs("init-local-etcd_k", judge) {
            let mut document = imported(&input, judge);
            document["spec"]["toleratedChecks"] = json!(["all"]);
            let (file, flags) = judge.started_with(&format!("{SYSCTL}{document}\n"));
            fs::write(&ours, &file).expect("a file");
            let verdict = judge.accepts(&ours, scratch.path());
            assert_eq!(verdict, Ok(()), "kubeadm {} on {}:\n{file}", judge.version, input.display());
            assert!(flags.contains(&"--ignore-preflight-errors=all".to_owned()), "{flags:?}");
            let is_said = ["cp.example.com:6443", "10.200.0.0/16", "/var/lib/custom-etcd", "demo-key", "aa-arg"];
            assert!(is_said.iter().all(|text| file.contains(text)), "{file}");
            documents.push(format!("{SYSCTL}{document}\n"));
        }
        for input in inputs("join-controlplane-token_k", judge) {
            let file = written(&imported(&input, judge), judge.version);
            // machineadm writes it before the join.
            let file = file.replace("/run/machineadm/discovery.conf", &discovery.display().to_string());
            fs::write(&ours, &file).expect("a file");
            let verdict = judge.accepts(&ours, scratch.path());
            assert_eq!(verdict, Ok(()), "kubeadm {} on {}:\n{file}", judge.version, input.display());
            assert!(file.contains("JoinConfiguration") && file.contains("demo-key"), "{file}");
        }
        // The oldest file says what every kubeadm can do.
        let created = judge.dry_run_after("mkdir -p /etc/kubernetes/patches", &documents[0]);
        for text in
            ["--aa-arg=first", "--secure-port=7443", "/host/dir", "demo-key=demo-value:NoSchedule", "corp.local"]
        {
            assert!(created.contains(text), "kubeadm {} does not create {text}: {created}", judge.version);
        }
    }
}

/// One rich file of each API version.
fn inputs(part: &str, judge: &Judge) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubeadm/tests/vectors/synth");
    let of = |api: &str| {
        let names = fs::read_dir(&folder).expect("the vectors").map(|entry| entry.expect("a vector").path());
        let prefix = format!("full_{api}_{part}");
        let is_of = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        let mut names: Vec<_> = names.filter(is_of).collect();
        names.sort();
        names.into_iter().next().unwrap_or_else(|| panic!("{prefix}"))
    };
    let own = kubeadm::Target::new(judge.version).expect("a version").api();
    let last = if own == ApiVersion::V1Beta4 { ApiVersion::V1 } else { own };
    ApiVersion::ALL.iter().filter(|api| **api <= last).map(|api| of(api.name())).collect()
}

/// The document that a file becomes for a kubeadm, without the feature gates of the file's own version.
fn imported(input: &Path, judge: &Judge) -> Value {
    let name = input.display().to_string();
    let version = format!("v{}", judge.version);
    let words = ["-f", &name, "--allow-loss", "-o", "json", "--kubernetes-version", &version];
    let ran = import(&words, "");
    assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
    let mut result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let mut document = result["documents"][0].take();
    document["spec"].as_object_mut().expect("a spec").remove("featureGates");
    document
}

/// The file of a join, as the engine writes it.
fn written(document: &Value, version: &str) -> String {
    let bytes = document.to_string().into_bytes().into();
    let mut read = documents::read(vec![documents::Source { name: "import".to_owned(), bytes }]);
    assert!(!read.report.has_errors(), "{}", read.report);
    let documents::AnyDocument::Join(join) = read.documents.remove(0).body else { panic!("{document:#}") };
    let target = kubeadm::Target::new(version).expect("a version");
    let node = join.node_name.clone().unwrap_or_default();
    let converted = kubeadm::convert(&engine::kubeadm_documents_of_join(&join, &node, &target), &target);
    converted.yaml()
}
