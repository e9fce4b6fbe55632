//! `machineadm init --config`: which document kubeadm's files mean, and which of their fields are refused by name.
use crate::support::{
    init::{KEY, TOKEN, file, init, printed, refused},
    scratch::Scratch,
};

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

/// As with kubeadm, and as with `skipPhases` in the file.
#[test]
fn what_a_file_says_of_a_part_that_a_flag_skips_has_no_effect() {
    let scratch = Scratch::new("init");
    let config = file(&scratch, "kubeadm.yaml", &rich("v1beta4").replace("skipPhases: [addon/kube-proxy]\n", ""));
    let ran = init(&["--config", &config, "--skip-phases", "addon/kube-proxy,bootstrap-token", "--print-config"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.contains("kubeProxy:") && !ran.stdout.contains("bootstrapToken:"), "{}", ran.stdout);
    for text in ["bootstrapTokens of --config have no effect", "the KubeProxyConfiguration of --config has no effect"] {
        assert!(ran.stderr.contains(&format!("warning: {text}")), "{text}: {}", ran.stderr);
    }
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
        "nodeRegistration.kubeletExtraArgs[v]",
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
        "apiServer.extraEnvs[A]",
        "controllerManager.extraEnvs[A]",
        "scheduler.extraEnvs[A]",
        "etcd.local.imageRepository",
        "etcd.local.imageTag",
        "etcd.local.extraEnvs[A]",
    ];
    let named = init.map(|field| format!("InitConfiguration.{field}: an InitConfig has no field for it"));
    let named =
        named.into_iter().chain(cluster.map(|field| format!("ClusterConfiguration.{field}: an InitConfig has")));
    let named: Vec<String> = named.collect();
    let texts: Vec<&str> = named.iter().map(String::as_str).collect();
    refused(&["--config", &file(&scratch, "rich.yaml", &text)], &texts);
    let external = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\netcd: {external: {endpoints: ['https://a:2379']}}\n";
    refused(
        &["--config", &file(&scratch, "external.yaml", external)],
        &["ClusterConfiguration.etcd.external.endpoints"],
    );
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
