//! `machineadm config`: what goes to standard output, what to standard error, and the exit codes.
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn vector(name: &str) -> String {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubeadm/tests/vectors");
    vectors.join(name).display().to_string()
}

fn config(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.arg("config").args(arguments).env("NO_COLOR", "1").output().expect("machineadm runs")
}

fn with_input(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.arg("config").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("machineadm runs");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The example of the documentation.
const RICH: &str = "\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
dryRun: true
nodeRegistration:
  imagePullSerial: false
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.29.4
certificateValidityPeriod: 4380h0m0s
";

#[test]
fn a_refused_loss_is_named_with_the_version_that_carries_it_and_prints_nothing() {
    let output = with_input(&["convert", "--kubernetes-version", "1.29.4", "-f", "-"], RICH);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(2), ""));
    let expected = "\
error: Kubernetes 1.29 reads kubeadm.k8s.io/v1beta3, which can't say 2 things of this file
  InitConfiguration.nodeRegistration.imagePullSerial   false   (since v1beta4, Kubernetes 1.31)
  ClusterConfiguration.certificateValidityPeriod   4380h0m0s   (since v1beta4, Kubernetes 1.31)
carried by a flag instead: --dry-run
To go on without them: --allow-loss
";
    assert_eq!(err(&output), expected);
}

#[test]
fn a_conversion_lists_as_many_problems_as_the_validators() {
    let text = "---\n\n".repeat(10_000);
    let output = with_input(&["convert", "--kubernetes-version", "1.36.4", "-f", "-"], &text);
    let printed = err(&output);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(2), ""));
    let problems = printed.lines().filter(|line| line.contains("no apiVersion and kind")).count();
    assert_eq!((problems, printed.lines().last()), (100, Some("and 9900 more problems")), "{}", printed.len());
}

#[test]
fn an_allowed_loss_is_a_warning_and_the_file_is_printed() {
    let output = with_input(&["convert", "--kubernetes-version", "1.29.4", "-f", "-", "--allow-loss"], RICH);
    assert_eq!(output.status.code(), Some(0));
    assert!(err(&output).starts_with("warning: Kubernetes 1.29 reads kubeadm.k8s.io/v1beta3, which can't say 2"));
    let expected = "\
apiVersion: \"kubeadm.k8s.io/v1beta3\"
kind: \"InitConfiguration\"
---
apiVersion: \"kubeadm.k8s.io/v1beta3\"
kind: \"ClusterConfiguration\"
kubernetesVersion: \"v1.29.4\"
";
    assert_eq!(out(&output), expected);
}

#[test]
fn json_tells_flags_losses_and_documents() {
    let arguments = ["convert", "--kubernetes-version", "1.29.4", "-f", "-", "--allow-loss", "-o", "json"];
    let value: serde_json::Value = serde_json::from_slice(&with_input(&arguments, RICH).stdout).expect("JSON");
    assert_eq!(value["apiVersion"], "kubeadm.k8s.io/v1beta3");
    assert_eq!(value["flags"][0]["name"], "--dry-run");
    assert_eq!(value["losses"][0]["sinceApi"], "kubeadm.k8s.io/v1beta4");
    assert_eq!(value["losses"][0]["sinceMinor"], 31);
    assert_eq!(value["documents"][1]["kind"], "ClusterConfiguration");
}

#[test]
fn a_lost_value_is_whole_for_programs_and_cut_for_people() {
    let gates = (0..30).map(|number| format!("GateNumber{number:02}=true")).collect::<Vec<_>>().join(",");
    let text = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n  \
         - {{name: feature-gates, value: \"{gates}\\t\"}}\n  - {{name: feature-gates, value: A=true}}\n  \
         - {{name: \"b\\e\", value: x}}\n  - {{name: \"b\\e\", value: z}}\n"
    );
    let arguments = ["convert", "--kubernetes-version", "1.29.4", "-f", "-", "--allow-loss", "-o", "json"];
    let output = with_input(&arguments, &text);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let losses = value["losses"].as_array().expect("losses");
    assert!(losses.iter().any(|loss| loss["value"] == format!("{gates}\t")), "{losses:?}");
    assert!(
        losses.iter().any(|loss| loss["path"] == "ClusterConfiguration.apiServer.extraArgs[b\u{1b}]"),
        "{losses:?}"
    );
    let told = err(&output);
    assert!(told.contains("extraArgs[b\u{fffd}]   ") && told.contains("…   (since v1beta4"), "{told}");
    assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told:?}");
}

#[test]
fn repeated_files_are_one_configuration_and_component_configs_ride_along_untouched() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path: PathBuf = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let kubelet = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods:   50 # many\n";
    let cluster =
        "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\napiServer: {timeoutForControlPlane: 6m}\n";
    let init = format!("apiVersion: kubeadm.k8s.io/v1beta2\nkind: InitConfiguration\n---\n{kubelet}");
    let (cluster, init) = (file("cluster.yaml", cluster), file("init.yaml", &init));
    let output = config(&["convert", "--kubernetes-version", "1.36.4", "-f", &cluster, "-f", &init]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let text = out(&output);
    assert!(text.contains("controlPlaneComponentHealthCheck: \"6m0s\""), "{text}");
    assert!(text.ends_with(&format!("---\n{kubelet}")), "{text}");

    let output = config(&["convert", "--kubernetes-version", "1.36.4", "-f", &folder.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains(&format!("# {init}\n")), "{}", out(&output));
}

#[test]
fn wrong_files_are_told_with_place_reason_and_remedy() {
    let of = |text: &str| with_input(&["validate", "--kubernetes-version", "1.36.4", "-f", "-"], text);
    for (text, expected) in [
        ("apiVersion: kubeadm.k8s.io/v1beta4\nkind: Cluster\n", "unknown kind Cluster in kubeadm.k8s.io/v1beta4"),
        ("kind: x\n", "the document has no apiVersion and kind"),
        (
            "apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\n",
            "the kubeadm of Kubernetes 1.36 does not read kubeadm.k8s.io/v1beta2; machineadm config convert",
        ),
        (
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetwork: {}\n",
            "  -:3:10 document 1, ClusterConfiguration\n    network   kubeadm.k8s.io/v1beta4 has no such field",
        ),
        (
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: yes\n",
            "    clusterName   must be text, not true or false (put text in quotes)",
        ),
        (
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nfeatureGates: {EtcdLearnerMode: false}\n",
            "    featureGates.EtcdLearnerMode   this kubeadm does not support the feature gate; \
             supported from 1.27 to 1.32",
        ),
    ] {
        let output = of(text);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(out(&output).contains(expected), "{text}: {}", out(&output));
    }
}

#[test]
fn versions_that_can_not_be_are_refused() {
    let file = vector("synth/min_v1beta4_init_k136.yaml");
    for (arguments, expected) in [
        (vec!["--kubernetes-version", "1.12.0"], "older than 1.13"),
        (vec!["--kubernetes-version", "new"], "invalid Kubernetes version"),
        (vec!["--kubernetes-version", "1.30.0", "--api-version", "v1beta4"], "does not read kubeadm.k8s.io/v1beta4"),
    ] {
        let output = config(&[vec!["convert", "-f", &file], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains(expected), "{}", err(&output));
    }
    let output = config(&["convert", "-f", &file, "--kubernetes-version", "1.37.1", "--api-version", "v1"]);
    assert!(out(&output).starts_with("apiVersion: \"kubeadm.k8s.io/v1\"\n"), "{}", err(&output));
}

const MAP: &str = "\
apiVersion: v1
data:
  ClusterConfiguration: |
    apiVersion: kubeadm.k8s.io/v1beta3
    kind: ClusterConfiguration
    kubernetesVersion: v1.30.14
    vendorKey: kept
kind: ConfigMap
metadata:
  name: kubeadm-config
  namespace: kube-system
  resourceVersion: '7'
";

#[test]
fn a_map_is_edited_for_the_target_and_left_alone_without_a_change() {
    let same = with_input(&["edit-map", "--kubernetes-version", "1.30.14", "-f", "-"], MAP);
    assert_eq!((same.status.code(), out(&same).as_str()), (Some(0), MAP));
    let arguments = [
        "edit-map",
        "--kubernetes-version",
        "1.31.2",
        "-f",
        "-",
        "--image-repository",
        "registry.example.com",
        "--api-server-arg",
        "v=4",
        "--feature-gate",
        "RootlessControlPlane=true",
    ];
    let text = out(&with_input(&arguments, MAP));
    for part in [
        "kubeadm.k8s.io/v1beta4",
        // Text of several lines is a block that people can read and edit.
        "  ClusterConfiguration: |\n    apiVersion: \"kubeadm.k8s.io/v1beta4\"\n",
        "    kubernetesVersion: \"v1.31.2\"\n",
        "    vendorKey: \"kept\"\n",
        "    imageRepository: \"registry.example.com\"\n",
        "- name: \"v\"\n          value: \"4\"\n",
        "RootlessControlPlane: true",
        "resourceVersion: \"7\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn defaults_are_those_of_the_version() {
    let output = config(&["defaults", "--kubernetes-version", "1.21.14"]);
    assert!(out(&output).contains("imageRepository: \"k8s.gcr.io\""), "{}", err(&output));
    assert_eq!(config(&["defaults", "--kubernetes-version", "1.21.14", "reset"]).status.code(), Some(2));
}

#[test]
fn misspelt_and_mistyped_fields_of_component_documents_are_refused_at_every_level() {
    let head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    let of = |arguments: &[&str], members: &str| {
        let output = with_input(&[&["validate", "-f", "-"], arguments].concat(), &format!("{head}{members}\n"));
        (output.status.code(), out(&output))
    };
    let (code, text) = of(&[], "authentication:\n  webhook: {enabeld: true}\nmaxPods: many");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("authentication.webhook.enabeld   unknown field; did you mean `enabled`?"), "{text}");
    assert!(text.contains("-:5:10") && text.contains("must be a whole number, not text"), "{text}");

    let (code, text) = of(&["--kubernetes-version", "1.30.14"], "failCgroupV1: false");
    assert!(text.contains("unknown field in Kubernetes 1.30: it exists since Kubernetes 1.31"), "{text}");
    assert_eq!((code, of(&[], "failCgroupV1: false").0), (Some(2), Some(0)));

    // As `kubeadm init`: unknown fields are ignored after a warning, mistyped ones end it.
    assert_eq!(of(&["--tolerant"], "maxPodz: 1").0, Some(0));
    assert_eq!(of(&["--tolerant"], "maxPods: many").0, Some(2));
}
