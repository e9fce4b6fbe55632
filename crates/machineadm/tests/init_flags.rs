//! `machineadm init`: which document its flags mean, and what is refused by name. It changes nothing here.
mod support {
    pub(crate) mod ran;
    pub(crate) mod scratch;
}

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};
use support::{ran::Ran, scratch::Scratch};

const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const VERSION: [&str; 2] = ["--kubernetes-version", "v1.36.4"];

fn init_reading(words: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.arg("init").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A kubeadm that is installed here is none of these tests' concern.
    let mut child = command.env("PATH", "/nonexistent").spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that refuses its flags does not read.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    Ran::of(child.wait_with_output().expect("it ends"))
}

fn init(words: &[&str]) -> Ran {
    init_reading(words, "")
}

fn file(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path().join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    path.display().to_string()
}

/// The spec of the document that flags mean, which `validate` accepts.
fn printed(words: &[&str]) -> String {
    let ran = init(&[words, &["--print-config"]].concat());
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
    let scratch = Scratch::new("init");
    let path = file(&scratch, "node.yaml", &ran.stdout);
    let validated = Command::new(env!("CARGO_BIN_EXE_machineadm")).args(["validate", "-f", &path]).output();
    let validated = Ran::of(validated.expect("it starts"));
    assert_eq!(validated.code, Some(0), "{}{}", validated.stdout, validated.stderr);
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: InitConfig\nspec:\n";
    ran.stdout.strip_prefix(head).expect("an InitConfig").to_owned()
}

/// Refused with exit code 2, nothing on standard output, and this text.
fn refused(words: &[&str], texts: &[&str]) {
    let ran = init(words);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
    for text in texts {
        assert!(ran.stderr.contains(text), "{words:?}: {text}: {}", ran.stderr);
    }
}

#[test]
fn every_flag_of_kubeadm_becomes_a_field() {
    let scratch = Scratch::new("init");
    let token = file(&scratch, "token", &format!("{TOKEN}\n"));
    let words = [
        "--kubernetes-version=1.36.4",
        "--token-file",
        &token,
        "--token-ttl=2h",
        "--upload-certs",
        "--certificate-key",
        KEY,
        "--pod-network-cidr=10.244.0.0/16,fd00::/56",
        "--service-cidr=10.97.0.0/16,fd01::/112",
        "--service-dns-domain=k8s.example",
        "--control-plane-endpoint=api.example.com",
        "--apiserver-advertise-address=10.0.0.10",
        "--apiserver-bind-port=6444",
        "--apiserver-cert-extra-sans=a.example,b.example",
        "--apiserver-cert-extra-sans=10.0.0.99",
        "--cert-dir=/srv/pki",
        "--image-repository=registry.example.com/k8s",
        "--feature-gates=RootlessControlPlane=false,PublicKeysECDSA=true",
        "--cri-socket=unix:///run/crio/crio.sock",
        "--node-name=cp1",
        "--patches=/srv/patches",
        "--ignore-preflight-errors=NumCPU,Swap",
        "--skip-phases=addon/kube-proxy",
    ];
    let expected = format!(
        "  kubernetesVersion: \"1.36.4\"
  controlPlaneEndpoint: \"api.example.com:6444\"
  advertiseAddress: \"10.0.0.10\"
  nodeName: \"cp1\"
  runtimeSocket: \"/run/crio/crio.sock\"
  podSubnets:
    - \"10.244.0.0/16\"
    - \"fd00::/56\"
  serviceSubnets:
    - \"10.97.0.0/16\"
    - \"fd01::/112\"
  toleratedChecks:
    - \"cpu\"
    - \"swap\"
  certificateKey: \"{KEY}\"
  bootstrapToken:
    token: \"{TOKEN}\"
    ttl: \"2h\"
  without:
    - \"kubeProxy\"
  dnsDomain: \"k8s.example\"
  apiServerPort: 6444
  certificatesDirectory: \"/srv/pki\"
  imageRepository: \"registry.example.com/k8s\"
  featureGates:
    PublicKeysECDSA: true
    RootlessControlPlane: false
  apiServer:
    certSANs:
      - \"a.example\"
      - \"b.example\"
      - \"10.0.0.99\"
  patches: \"/srv/patches\"
"
    );
    assert_eq!(printed(&words), expected);
}

#[test]
fn without_flags_the_document_says_only_the_version_and_the_socket() {
    let plain = "  kubernetesVersion: \"v1.36.4\"\n  runtimeSocket: \"/run/containerd/containerd.sock\"\n";
    assert_eq!(printed(&VERSION), plain);
    // Values with which kubeadm chooses, as its users write them.
    assert_eq!(
        printed(&[&VERSION[..], &["--apiserver-advertise-address=0.0.0.0", "--upload-certs=false"]].concat()),
        plain
    );
}

#[test]
fn an_empty_token_is_none_and_a_ttl_of_zero_is_for_ever() {
    let without = printed(&[&VERSION[..], &["--token", ""]].concat());
    assert!(without.contains("  without:\n    - \"bootstrapToken\"\n") && !without.contains("token:"), "{without}");
    let for_ever = printed(&[&VERSION[..], &["--token", TOKEN, "--token-ttl", "0"]].concat());
    assert!(for_ever.contains(&format!("  bootstrapToken:\n    token: \"{TOKEN}\"\n    ttl: \"0\"\n")), "{for_ever}");
    refused(&[&VERSION[..], &["--token", "", "--token-ttl", "1h"]].concat(), &["--token-ttl has no effect"]);
    let skipped = printed(&[&VERSION[..], &["--skip-phases", "bootstrap-token,addon,preflight"]].concat());
    for text in ["- \"bootstrapToken\"", "- \"coreDNS\"", "- \"kubeProxy\"", "toleratedChecks:\n    - \"all\""] {
        assert!(skipped.contains(text), "{skipped}");
    }
}

#[test]
fn the_certificate_key_comes_by_flag_by_file_by_standard_input_or_is_generated() {
    let scratch = Scratch::new("init");
    let path = file(&scratch, "key", &format!("{KEY}\n"));
    let line = format!("  certificateKey: \"{KEY}\"\n");
    for words in [["--certificate-key", KEY], ["--certificate-key-file", &path]] {
        let words = [&VERSION[..], &["--upload-certs", "--skip-certificate-key-print"], &words].concat();
        assert!(printed(&words).contains(&line), "{words:?}");
    }
    let words = [&VERSION[..], &["--upload-certs", "--certificate-key-file", "-", "--print-config"]].concat();
    let ran = init_reading(&words, &format!("{KEY}\n"));
    assert!(ran.code == Some(0) && ran.stdout.contains(&line), "{ran:?}");
    let generated = || {
        let document = printed(&[&VERSION[..], &["--upload-certs"]].concat());
        let line = document.lines().find_map(|line| line.trim().strip_prefix("certificateKey: ")).expect("a key");
        line.trim_matches('"').to_owned()
    };
    let (first, second) = (generated(), generated());
    assert!(first.len() == 64 && first != second, "{first} {second}");
    refused(
        &[&VERSION[..], &["--upload-certs", "--skip-certificate-key-print"]].concat(),
        &["a generated key that is not printed is lost", "pass --certificate-key-file"],
    );
    refused(&[&VERSION[..], &["--certificate-key", KEY]].concat(), &["requires --upload-certs"]);
    refused(
        &[&VERSION[..], &["--certificate-key-file", &path, "--upload-certs", "--skip-phases", "upload-certs"]].concat(),
        &["a certificate key requires --upload-certs"],
    );
    assert!(
        !printed(&[&VERSION[..], &["--upload-certs", "--skip-phases=upload-certs"]].concat())
            .contains("certificateKey")
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_name_and_what_to_do() {
    let no_kubeadm = ["the Kubernetes version is not known: kubeadm is not installed", "pass --kubernetes-version"];
    refused(&["--print-config"], &no_kubeadm);
    for label in ["stable-1", "stable-1.36", "latest", "ci/latest-1.37"] {
        refused(
            &["--kubernetes-version", label],
            &[label, "looks up on the internet", "name a version such as v1.36.4"],
        );
    }
    let with = |words: &[&'static str]| [&VERSION[..], words].concat();
    refused(&with(&["--token", "nonsense", "--print-config"]), &["spec.bootstrapToken.token"]);
    refused(&with(&["--token-ttl", "-1h", "--print-config"]), &["spec.bootstrapToken.ttl", "is in the past"]);
    refused(&with(&["--upload-certs", "--certificate-key", "abc"]), &["--certificate-key has 3 characters"]);
    refused(&with(&["--feature-gates", "A,B=perhaps"]), &["--feature-gates A:", "--feature-gates B=perhaps:"]);
    refused(&with(&["--ignore-preflight-errors", "Swop"]), &["Swop", "name-resolution"]);
    refused(
        &with(&["--skip-phases", "certs/ca,mark-control-plane,nonsense"]),
        &["--skip-phases certs/ca: cannot be skipped", "taints: []", "--skip-phases nonsense: unknown phase"],
    );
    refused(
        &with(&[
            "--control-plane-endpoint",
            "https://x",
            "--pod-network-cidr",
            "x",
            "--node-name",
            "A B",
            "--print-config",
        ]),
        &["spec.controlPlaneEndpoint", "spec.podSubnets[0]", "spec.nodeName"],
    );
    refused(
        &with(&["--token-file", "-", "--certificate-key-file", "-", "--upload-certs"]),
        &["standard input can be read once: --token-file, --certificate-key-file all name it"],
    );
    let nonsense = init(&with(&["--token", "nonsense", "--print-config"]));
    assert!(!nonsense.stderr.contains("nonsense"), "a value that may be a secret is not quoted: {}", nonsense.stderr);
}

/// Rich files of kubeadm; what the versions write otherwise is given for each.
fn rich(api: &str) -> String {
    let arguments = |name: &str, value: &str| match api {
        "v1beta4" => format!("[{{name: {name}, value: '{value}'}}]"),
        _ => format!("{{{name}: '{value}'}}"),
    };
    let (apiserver, scheduler) = (arguments("audit-log-path", "/audit/log"), arguments("v", "3"));
    let (etcd, kubelet) = (arguments("quota-backend-bytes", "1"), arguments("node-labels", "a=b,c=d"));
    let (init_time, cluster_time) = match api {
        "v1beta4" => ("timeouts: {controlPlaneComponentHealthCheck: 6m0s, etcdAPICall: 2m0s}\n", ""),
        _ => ("", ", timeoutForControlPlane: 6m0s"),
    };
    format!(
        "apiVersion: kubeadm.k8s.io/{api}
kind: InitConfiguration
bootstrapTokens: [{{token: {TOKEN}, ttl: 1h0m0s, usages: [signing, authentication], groups: ['system:bootstrappers:kubeadm:default-node-token']}}]
nodeRegistration:
  name: cp1
  criSocket: unix:///run/crio/crio.sock
  taints: []
  kubeletExtraArgs: {kubelet}
  ignorePreflightErrors: [NumCPU]
  imagePullPolicy: Never
localAPIEndpoint: {{advertiseAddress: 10.0.0.10, bindPort: 6444}}
certificateKey: {KEY}
skipPhases: [addon/kube-proxy]
patches: {{directory: /srv/patches}}
{init_time}---
apiVersion: kubeadm.k8s.io/{api}
kind: ClusterConfiguration
kubernetesVersion: v1.36.4
controlPlaneEndpoint: api.example.com
networking: {{podSubnet: 10.244.0.0/16, serviceSubnet: 10.97.0.0/16, dnsDomain: k8s.example}}
certificatesDir: /srv/pki
imageRepository: registry.example.com/k8s
clusterName: one
featureGates: {{RootlessControlPlane: false}}
apiServer:
  certSANs: [api.example.com]
  extraArgs: {apiserver}
  extraVolumes: [{{name: audit, hostPath: /var/log/audit, mountPath: /audit, pathType: DirectoryOrCreate}}]
  {cluster_time}
scheduler: {{extraArgs: {scheduler}}}
etcd: {{local: {{dataDir: /srv/etcd, extraArgs: {etcd}, serverCertSANs: [e.example], peerCertSANs: [10.0.0.7]}}}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 42
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
"
    )
    .replace("  , timeout", "  timeout")
    .replace("  \n", "")
}

#[test]
fn rich_files_of_kubeadm_of_two_versions_become_the_same_document() {
    let scratch = Scratch::new("init");
    let document = |api: &str| {
        let text = rich(api).replace("skipPhases: [addon/kube-proxy]", "skipPhases: [addon/coredns]");
        printed(&["--config", &file(&scratch, api, &text), "--upload-certs"])
    };
    let (older, newer) = (document("v1beta3"), document("v1beta4"));
    assert_eq!(older, newer);
    let expected = format!(
        "  kubernetesVersion: \"v1.36.4\"
  controlPlaneEndpoint: \"api.example.com:6444\"
  advertiseAddress: \"10.0.0.10\"
  nodeName: \"cp1\"
  runtimeSocket: \"/run/crio/crio.sock\"
  podSubnets:
    - \"10.244.0.0/16\"
  serviceSubnets:
    - \"10.97.0.0/16\"
  toleratedChecks:
    - \"cpu\"
  imagePull: \"Never\"
  kubelet:
    maxPods: 42
  kubeProxy:
    mode: \"nftables\"
  certificateKey: \"{KEY}\"
  bootstrapToken:
    token: \"{TOKEN}\"
    ttl: \"1h0m0s\"
  without:
    - \"coreDNS\"
  timeouts:
    controlPlane: \"6m0s\"
  labels:
    a: \"b\"
    c: \"d\"
  taints: []
  dnsDomain: \"k8s.example\"
  clusterName: \"one\"
  apiServerPort: 6444
  certificatesDirectory: \"/srv/pki\"
  imageRepository: \"registry.example.com/k8s\"
  featureGates:
    RootlessControlPlane: false
  apiServer:
    certSANs:
      - \"api.example.com\"
    arguments:
      audit-log-path: \"/audit/log\"
    volumes:
      - name: \"audit\"
        hostPath: \"/var/log/audit\"
        mountPath: \"/audit\"
        readOnly: false
        type: \"DirectoryOrCreate\"
  scheduler:
    arguments:
      v: \"3\"
  etcd:
    dataDirectory: \"/srv/etcd\"
    arguments:
      quota-backend-bytes: \"1\"
    serverCertSANs:
      - \"e.example\"
    peerCertSANs:
      - \"10.0.0.7\"
  patches: \"/srv/patches\"
"
    );
    assert_eq!(newer, expected);
}

#[test]
fn flags_of_the_node_stand_beside_a_file_and_those_of_the_cluster_do_not() {
    let scratch = Scratch::new("init");
    let config = file(&scratch, "kubeadm.yaml", &rich("v1beta4").replace("mode: nftables", ""));
    let words = [
        "--node-name",
        "other",
        "--ignore-preflight-errors",
        "Swap",
        "--patches",
        "/srv/p",
        "--skip-phases",
        "preflight",
    ];
    let document = printed(&[&["--config", &config][..], &words].concat());
    for text in ["nodeName: \"other\"", "patches: \"/srv/p\"", "toleratedChecks:\n    - \"all\""] {
        assert!(document.contains(text), "{document}");
    }
    // The key of a file has an effect with --upload-certs only, as with kubeadm.
    let ran = init(&["--config", &config, "--print-config"]);
    assert!(ran.stderr.contains("warning: certificateKey of --config has no effect"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("certificateKey"), "{}", ran.stdout);
    for words in [["--pod-network-cidr", "10.0.0.0/8"], ["--token", TOKEN], ["--kubernetes-version", "v1.36.4"]] {
        refused(&[&["--config", &config][..], &words].concat(), &["cannot be used with", words[0]]);
    }
    let both = ["--config", &config, "--upload-certs", "--certificate-key", KEY];
    refused(&both, &["certificateKey is set in --config and --certificate-key is given"]);
}

#[test]
fn what_a_file_says_and_an_init_config_has_no_field_for_is_refused_by_name() {
    let scratch = Scratch::new("init");
    let text = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
dryRun: true
bootstrapTokens: [{{token: {TOKEN}, description: a, expires: '2030-01-01T00:00:00Z', usages: [signing], groups: ['system:bootstrappers:a']}}, {{token: bbbbbb.faddc87f5a5ab458}}]
nodeRegistration: {{kubeletExtraArgs: [{{name: v, value: '2'}}], imagePullSerial: false}}
timeouts: {{kubernetesAPICall: 9s, etcdAPICall: 9s, tlsBootstrap: 9s, discovery: 9s, upgradeManifests: 9s}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.4
encryptionAlgorithm: RSA-3072
certificateValidityPeriod: 9h0m0s
caCertificateValidityPeriod: 9h0m0s
dns: {{imageRepository: a.example, imageTag: v1}}
apiServer: {{extraArgs: [{{name: a, value: b}}, {{name: a, value: c}}], extraEnvs: [{{name: A, value: b}}]}}
controllerManager: {{extraEnvs: [{{name: A, value: b}}]}}
scheduler: {{extraEnvs: [{{name: A, value: b}}]}}
etcd: {{local: {{imageRepository: a.example, imageTag: v1, extraEnvs: [{{name: A, value: b}}]}}}}
"
    );
    let init = [
        "dryRun",
        "bootstrapTokens[0].description",
        "bootstrapTokens[0].expires",
        "bootstrapTokens[0].usages",
        "bootstrapTokens[0].groups",
        "bootstrapTokens[1]",
        "nodeRegistration.kubeletExtraArgs",
        "nodeRegistration.imagePullSerial",
        "timeouts.kubernetesAPICall",
        "timeouts.etcdAPICall",
        "timeouts.tlsBootstrap",
        "timeouts.discovery",
        "timeouts.upgradeManifests",
    ];
    let cluster = [
        "encryptionAlgorithm",
        "certificateValidityPeriod",
        "caCertificateValidityPeriod",
        "dns.imageRepository",
        "dns.imageTag",
        "apiServer.extraArgs[a]",
        "apiServer.extraEnvs",
        "controllerManager.extraEnvs",
        "scheduler.extraEnvs",
        "etcd.local.imageRepository",
        "etcd.local.imageTag",
        "etcd.local.extraEnvs",
    ];
    let named = init.map(|field| format!("InitConfiguration.{field}: an InitConfig has no field for it"));
    let named =
        named.into_iter().chain(cluster.map(|field| format!("ClusterConfiguration.{field}: an InitConfig has")));
    let named: Vec<String> = named.collect();
    let texts: Vec<&str> = named.iter().map(String::as_str).collect();
    refused(&["--config", &file(&scratch, "rich.yaml", &text)], &texts);
    let external = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\netcd: {external: {endpoints: ['https://a:2379']}}\n";
    refused(&["--config", &file(&scratch, "external.yaml", external)], &["ClusterConfiguration.etcd.external"]);
    let join = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery: {file: {kubeConfigPath: /a}}\n";
    refused(&["--config", &file(&scratch, "join.yaml", join)], &["has neither", "run `machineadm join`"]);
}

#[test]
fn what_kubeadm_prints_as_its_defaults_is_accepted() {
    let scratch = Scratch::new("init");
    let printed_by_kubeadm = "apiVersion: kubeadm.k8s.io/v1beta4
bootstrapTokens:
- groups:
  - system:bootstrappers:kubeadm:default-node-token
  token: abcdef.0123456789abcdef
  ttl: 24h0m0s
  usages:
  - signing
  - authentication
kind: InitConfiguration
localAPIEndpoint:
  advertiseAddress: 1.2.3.4
  bindPort: 6443
nodeRegistration:
  criSocket: unix:///var/run/containerd/containerd.sock
  imagePullPolicy: IfNotPresent
  imagePullSerial: true
  name: node
  taints: null
timeouts:
  controlPlaneComponentHealthCheck: 4m0s
  discovery: 5m0s
  etcdAPICall: 2m0s
  kubeletHealthCheck: 4m0s
  kubernetesAPICall: 1m0s
  tlsBootstrap: 5m0s
  upgradeManifests: 5m0s
---
apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
caCertificateValidityPeriod: 87600h0m0s
certificateValidityPeriod: 8760h0m0s
certificatesDir: /etc/kubernetes/pki
clusterName: kubernetes
controllerManager: {}
dns: {}
encryptionAlgorithm: RSA-2048
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: 1.36.0
networking:
  dnsDomain: cluster.local
  serviceSubnet: 10.96.0.0/12
proxy: {}
scheduler: {}
";
    let document = printed(&["--config", &file(&scratch, "defaults.yaml", printed_by_kubeadm)]);
    for text in ["advertiseAddress: \"1.2.3.4\"", "kubernetesVersion: \"1.36.0\"", "token: \"abcdef.0123456789abcdef\""]
    {
        assert!(document.contains(text), "{document}");
    }
    assert!(!document.contains("timeouts"), "{document}");
}

#[test]
fn the_phase_without_its_flag_says_so_and_does_nothing() {
    let ran = init(&["phase", "upload-certs"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_eq!(ran.stderr, "nothing is uploaded: pass --upload-certs to upload the certificates\n");
    refused(
        &["phase", "upload-certs", "--upload-certs", "--skip-certificate-key-print"],
        &["a generated key that is not printed is lost"],
    );
    refused(&["--node-name", "a", "phase", "upload-certs"], &["--node-name"]);
}
