//! `machineadm config import`: what goes to standard output, what to standard error, and the exit codes.
use crate::support::{import::import, run_output::RunOutput, scratch::Scratch};
use serde_json::Value;
use std::{fs, process::Command};

const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const OTHER: &str = "bbbbbb.faddc87f5a5ab458";
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const PIN: &str = "sha256:9f3a5a2e0c1c0b5b2e2f9e5d6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7";

/// All for the first node, with the documents of other components, and without anything that has no place.
fn first_node() -> String {
    format!(
        "apiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\nbootstrapTokens: [{{token: {TOKEN}}}]\n\
         certificateKey: {KEY}\n---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n\
         kubernetesVersion: v1.36.4\nnetworking: {{podSubnet: 10.244.0.0/16}}\n---\n\
         apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n---\n\
         apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n"
    )
}

fn worker() -> String {
    format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery: {{bootstrapToken: {{token: {TOKEN}, \
         apiServerEndpoint: 'a:6443', caCertHashes: ['{PIN}']}}, tlsBootstrapToken: {OTHER}}}\n"
    )
}

/// Fields without a place, among them secrets.
fn lossy() -> String {
    format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens: [{{token: {TOKEN}}}, {{token: {OTHER}}}]\n\
         skipPhases: [certs/ca]\n---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n\
         kubernetesVersion: v1.36.4\ncertificateValidityPeriod: 4380h0m0s\n\
         apiServer: {{extraEnvs: [{{name: PASSWORD, value: hunter2}}]}}\n"
    )
}

/// Whether `machineadm validate` accepts a document.
fn validate(document: &str) -> RunOutput {
    let scratch = Scratch::new("import");
    let path = scratch.path().join("node.yaml");
    fs::write(&path, document).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    RunOutput::of(command.args(["validate", "-f"]).arg(path).output().expect("it starts"))
}

#[test]
fn the_first_nodes_files_become_an_init_config_with_a_warning_about_its_secrets() {
    let ran = import(&["-f", "-"], &first_node());
    let expected = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: \"v1.36.4\"
  runtimeSocket: \"/run/containerd/containerd.sock\"
  podSubnets:
    - \"10.244.0.0/16\"
  kubelet:
    maxPods: 42
  kubeProxy:
    mode: \"nftables\"
  certificateKey: \"{KEY}\"
  bootstrapToken:
    token: \"{TOKEN}\"
"
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), expected.as_str()), "{}", ran.stderr);
    let told = "\
note: InitConfiguration.certificateKey uploads the certificates, as kubeadm does with --upload-certs
warning: the printed document holds secrets (spec.bootstrapToken.token, spec.certificateKey): save it with mode 0600
";
    assert_eq!(ran.stderr, told);
    let validated = validate(&ran.stdout);
    assert_eq!(validated.code, Some(0), "{}", validated.stderr);
}

#[test]
fn a_join_becomes_a_join_config_and_kubeadms_defaults_have_a_place() {
    let defaults = "nodeRegistration: {imagePullSerial: true, imagePullPolicy: IfNotPresent}\ntimeouts:\n  \
        {controlPlaneComponentHealthCheck: 4m0s, discovery: 5m0s, etcdAPICall: 2m0s, kubeletHealthCheck: 4m0s,\n   \
        kubernetesAPICall: 1m0s, tlsBootstrap: 5m0s, upgradeManifests: 5m0s}\n";
    let ran = import(&["-f", "-", "--kubernetes-version", "v1.36.4"], &(worker() + defaults));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for line in ["kind: JoinConfig\n", "kubernetesVersion: \"v1.36.4\"", TOKEN, OTHER, PIN] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("timeout"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("holds secrets (spec.discovery.token.token, spec.tlsBootstrapToken)"),
        "{}",
        ran.stderr
    );
    assert_eq!(validate(&ran.stdout).code, Some(0));
}

#[test]
fn fields_without_a_place_are_refused_by_name_and_no_secret_is_shown() {
    let ran = import(&["-f", "-"], &lossy());
    let expected = "\
error: 4 fields of kubeadm's documents have no place in the InitConfig
  InitConfiguration.bootstrapTokens[1]   [secret]
  ClusterConfiguration.certificateValidityPeriod   4380h0m0s
  ClusterConfiguration.apiServer.extraEnvs[PASSWORD]   (an environment variable)
  InitConfiguration.skipPhases[certs/ca]   certs/ca   (cannot be skipped; put your own certificates into the directory --cert-dir: kubeadm uses those that it finds)
To go on without them: --allow-loss
";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(2), "", expected));
}

#[test]
fn allowed_losses_are_warnings_and_the_document_is_printed() {
    let ran = import(&["-f", "-", "--allow-loss"], &lossy());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("warning: 4 fields of kubeadm's documents have no place"), "{}", ran.stderr);
    assert!(ran.stdout.contains(TOKEN) && !ran.stdout.contains(OTHER), "{}", ran.stdout);
    assert!([TOKEN, OTHER, "hunter2"].iter().all(|secret| !ran.stderr.contains(secret)), "{}", ran.stderr);
    assert_eq!(validate(&ran.stdout).code, Some(0));
}

#[test]
fn programs_get_the_document_with_losses_and_notes() {
    let read = |ran: &RunOutput| serde_json::from_str::<Value>(&ran.stdout).expect("JSON");
    let allowed = import(&["-f", "-", "--allow-loss", "-o", "json"], &lossy());
    let result = read(&allowed);
    assert_eq!(allowed.code, Some(0), "{}", allowed.stderr);
    assert_eq!(result["documents"][0]["kind"], "InitConfig");
    assert_eq!(result["losses"][1]["path"], "ClusterConfiguration.certificateValidityPeriod");
    assert_eq!(result["losses"][1]["value"], "4380h0m0s");
    assert_eq!(result["losses"][1]["why"], "an InitConfig has no field for it");
    let refused = import(&["-f", "-", "-o", "json"], &lossy());
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_eq!(
        (&read(&refused)["documents"], read(&refused)["losses"].as_array().map(Vec::len)),
        (&Value::Array(vec![]), Some(4))
    );
    assert!(!refused.stdout.contains(OTHER) && !refused.stdout.contains("hunter2"), "{}", refused.stdout);
}

#[test]
fn files_for_two_machines_need_to_know_which_is_meant() {
    let both = format!("{}---\n{}", first_node(), worker());
    let ran = import(&["-f", "-"], &both);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("remedy: pass --kind init or --kind join"), "{}", ran.stderr);
    for (kind, named) in [("init", "kind: InitConfig\n"), ("join", "kind: JoinConfig\n")] {
        let ran = import(&["-f", "-", "--kind", kind], &both);
        assert!(ran.code == Some(0) && ran.stdout.contains(named), "{kind}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(validate(&ran.stdout).code, Some(0), "{kind}");
    }
    let ran = import(&["-f", "-", "--kind", "join"], &both);
    assert!(
        ran.stderr.contains("note: KubeletConfiguration has no effect: `kubeadm join` does not read it"),
        "{}",
        ran.stderr
    );
    for (kind, text) in [("init", worker()), ("join", first_node())] {
        let ran = import(&["-f", "-", "--kind", kind], &text);
        assert!(ran.code == Some(2) && ran.stderr.contains("the files have n"), "{kind}: {}", ran.stderr);
    }
}

#[test]
fn documents_of_other_commands_are_listed_as_a_whole() {
    let others = "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ResetConfiguration\nforce: true\n---\n\
        apiVersion: kubeadm.k8s.io/v1beta4\nkind: UpgradeConfiguration\n---\n\
        apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterStatus\napiEndpoints: {}\n";
    let ran = import(&["-f", "-"], &(first_node() + others));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for line in
        ["  ResetConfiguration   (the whole document)", "  UpgradeConfiguration   (the whole", "note: ClusterStatus "]
    {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    let alone = import(&["-f", "-"], "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ResetConfiguration\n");
    assert!(alone.code == Some(2) && alone.stderr.contains("have no InitConfiguration"), "{}", alone.stderr);
}

#[test]
fn a_version_that_the_files_do_not_name_comes_by_a_flag() {
    for version in ["", "kubernetesVersion: stable-1\n"] {
        let text = format!("apiVersion: kubeadm.k8s.io/v1beta1\nkind: ClusterConfiguration\n{version}");
        let ran = import(&["-f", "-"], &text);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("remedy: pass --kubernetes-version"), "{}", ran.stderr);
        let ran = import(&["-f", "-", "--kubernetes-version", "v1.36.4"], &text);
        assert!(ran.code == Some(0) && ran.stdout.contains("kubernetesVersion: \"v1.36.4\""), "{}", ran.stderr);
    }
    let ran = import(&["-f", "-", "--kubernetes-version", "v1.37.1"], &first_node());
    let note = "note: ClusterConfiguration.kubernetesVersion is v1.36.4 in the files and v1.37.1 in the document\n";
    assert!(ran.stdout.contains("v1.37.1") && ran.stderr.contains(note), "{}", ran.stderr);
}

#[test]
fn a_document_that_would_be_invalid_is_not_printed() {
    let text = first_node().replace("certificateKey:", "nodeRegistration: {name: 'Node 1'}\ncertificateKey:");
    let ran = import(&["-f", "-"], &text);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("spec.nodeName"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(KEY) && !ran.stderr.contains(TOKEN), "{}", ran.stderr);
}

#[test]
fn unknown_fields_are_errors_unless_they_are_tolerated() {
    let text = first_node().replace("kubernetesVersion", "unheard: 1\nkubernetesVersion");
    let ran = import(&["-f", "-"], &text);
    assert!(ran.code == Some(2) && ran.stderr.contains("unheard"), "{}", ran.stderr);
    let ran = import(&["-f", "-", "--tolerant"], &text);
    assert!(ran.code == Some(0) && ran.stderr.contains("warning: -:"), "{}", ran.stderr);
}

#[test]
fn several_files_are_one_configuration_and_a_directory_is_none() {
    let scratch = Scratch::new("import");
    let text = first_node();
    let names: Vec<String> = text
        .split("---\n")
        .enumerate()
        .map(|(index, part)| {
            let path = scratch.path().join(format!("{index}.yaml"));
            fs::write(&path, part).expect("a file");
            path.display().to_string()
        })
        .collect();
    let words: Vec<&str> = names.iter().flat_map(|name| ["-f", name.as_str()]).collect();
    assert_eq!(import(&words, "").stdout, import(&["-f", "-"], &text).stdout);
    let directory = scratch.path().display().to_string();
    let ran = import(&["-f", &directory], "");
    assert!(ran.code == Some(2) && ran.stderr.contains("is a directory"), "{}", ran.stderr);
    for words in [&["-f", "-", "-f", "-"][..], &["-f", "-", "--from-cluster"], &["-f", "-", "--context", "a"], &[]] {
        assert_eq!(import(words, &text).code, Some(2), "{words:?}");
    }
}

#[test]
fn patches_of_a_worker_are_read_here_or_listed() {
    let scratch = Scratch::new("import");
    fs::write(scratch.path().join("kubeletconfiguration.yaml"), "maxPods: 42\n").expect("a file");
    let with = |directory: &str| format!("{}patches: {{directory: {directory}}}\n", worker());
    let ran = import(&["-f", "-"], &with(&scratch.path().display().to_string()));
    assert!(ran.code == Some(0) && ran.stdout.contains("maxPods: 42"), "{}", ran.stderr);
    let ran = import(&["-f", "-"], &with("/no/such/directory"));
    let line =
        "JoinConfiguration.patches.directory   /no/such/directory   (put its patches of the kubelet into spec.kubelet";
    assert!(ran.code == Some(2) && ran.stderr.contains(line), "{}", ran.stderr);
}
