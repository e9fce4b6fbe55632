//! Kubernetes' own code judges our check of the kubelet's and kube-proxy's configuration: the types behind the table of
//! fields, the strict decoder over right and wrong documents, and the real kubelet.
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use testbed::programs::{DECODER, KUBERNETES, Set};

/// The minor version of both judges.
const MINOR: u32 = 36;
const VERSION: &str = "1.36.4";

const KUBELET: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const KUBE_PROXY: &str = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n";

/// Members of a KubeletConfiguration, right and wrong: names, types, YAML's and Go's details.
const KUBELET_MEMBERS: &str = include_str!("../vectors/component-configs/kubelet.txt");
/// The same of a KubeProxyConfiguration.
const KUBE_PROXY_MEMBERS: &str = include_str!("../vectors/component-configs/kube-proxy.txt");

fn program(set: &Set, name: &str) -> PathBuf {
    set.ensure().unwrap_or_else(|error| panic!("{}: {error}", set.name)).judge(name).expect("a record")
}

fn with_input(command: &mut Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

/// Whether our check accepts a document.
fn is_accepted(document: &str) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "validate", "--kubernetes-version", VERSION, "-f", "-"]);
    let output = with_input(&mut command, document);
    match output.status.code() {
        Some(0) => true,
        Some(2) => false,
        other => panic!("{other:?}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// What Kubernetes' strict decoder says about each document; nothing about those that it accepts.
fn verdicts(documents: &[String]) -> Vec<String> {
    let list = serde_json::to_string(documents).expect("JSON");
    let output = with_input(Command::new(program(&DECODER, "decoder")).arg("decode"), &list);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a list of texts")
}

#[test]
fn the_tables_of_fields_are_those_of_kubernetes_own_types() {
    testbed::needs!(Pinned(&DECODER));
    for component in ["kubelet", "kube-proxy"] {
        let output = Command::new(program(&DECODER, "decoder")).args(["fields", component]).output().expect("it runs");
        let real = String::from_utf8(output.stdout).expect("text");
        let mut real: Vec<&str> = real.lines().collect();
        real.sort_unstable();
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../objects/src/component_fields/{component}.txt"));
        let table = fs::read_to_string(file).expect("the table");
        let mut ours: Vec<&str> = table.lines().filter_map(field).collect();
        ours.sort_unstable();
        assert!(real.len() > 70, "{component}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(ours, real, "{component}");
    }
}

/// Path and type of a line, if the field is there in the judges' version.
fn field(line: &str) -> Option<&str> {
    let (rest, last) = line.rsplit_once(' ').filter(|_| !line.starts_with('#'))?;
    let (field, first) = rest.rsplit_once(' ')?;
    let minors = first.parse::<u32>().expect("a minor")..=last.parse().expect("a minor");
    minors.contains(&MINOR).then_some(field)
}

#[test]
fn documents_are_refused_exactly_where_kubernetes_strict_decoder_refuses_them() {
    testbed::needs!(Pinned(&DECODER));
    let documents: Vec<String> = [(KUBELET, KUBELET_MEMBERS), (KUBE_PROXY, KUBE_PROXY_MEMBERS)]
        .into_iter()
        .flat_map(|(head, members)| members.lines().map(move |members| format!("{head}{members}\n")))
        .collect();
    let verdicts = verdicts(&documents);
    assert!(verdicts.iter().filter(|verdict| verdict.is_empty()).count() > 40);
    assert!(verdicts.iter().filter(|verdict| !verdict.is_empty()).count() > 40);
    for (document, verdict) in documents.iter().zip(verdicts) {
        assert_eq!(is_accepted(document), verdict.is_empty(), "{document}{verdict}");
    }
}

/// The kubelet reads its file, and then ends because of a flag that no configuration may have. It ignores unknown fields
/// after a line in its log, and refuses mistyped ones.
#[test]
fn the_real_kubelet_ignores_or_refuses_what_we_refuse() {
    testbed::needs!(Root, Pinned(&KUBERNETES));
    let folder = tempfile::tempdir().expect("a folder");
    let (file, kubelet) = (folder.path().join("config.yaml"), program(&KUBERNETES, "kubelet"));
    for members in KUBELET_MEMBERS.lines() {
        let document = format!("{KUBELET}{members}\n");
        fs::write(&file, &document).expect("a file");
        let mut command = Command::new("unshare");
        command.arg("-n").arg(&kubelet).arg("--config").arg(&file).arg("--root-dir").arg(folder.path());
        let output = command.arg("--image-gc-high-threshold=200").output().expect("unshare runs");
        let log = String::from_utf8_lossy(&output.stderr);
        let is_read =
            ["failed to validate kubelet configuration", "initialize logging"].iter().any(|end| log.contains(end));
        assert!(is_read != log.contains("failed to load kubelet config file"), "{members}: {log}");
        let is_ignored = log.contains("Using lenient decoding as strict decoding failed");
        assert_eq!(is_accepted(&document), is_read && !is_ignored, "{members}: {log}");
    }
}
