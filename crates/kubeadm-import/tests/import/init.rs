//! InitConfiguration and ClusterConfiguration.
use crate::hub::{init, notes, unsupported};
use documents::v1alpha1::{ClusterPart, InitConfig, PreflightCheck};
use kubeadm::ComponentConfig;
use machineadm_kubeadm_import::{ImportError, init_config};

/// Every field that an InitConfig has a place for.
const RICH: &str = "
init:
  bootstrapTokens: [{token: abcdef.0123456789abcdef, ttl: 12h0m0s}]
  certificateKey: e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204
  localAPIEndpoint: {advertiseAddress: 192.168.0.10, bindPort: 7443}
  nodeRegistration:
    name: CP1
    criSocket: unix:///run/custom.sock
    taints: [{key: demo, value: a, effect: NoExecute}]
    kubeletExtraArgs: [{name: node-labels, value: 'a=b, c='}, {name: node-ip, value: '10.0.0.1,fd00::1'}]
    ignorePreflightErrors: [NumCPU]
    imagePullPolicy: Always
  patches: {directory: /srv/patches}
  timeouts: {controlPlaneComponentHealthCheck: 6m0s, kubeletHealthCheck: 3m0s}
cluster:
  etcd:
    local:
      dataDir: /srv/etcd
      extraArgs: [{name: quota-backend-bytes, value: '1'}]
      serverCertSANs: [10.0.0.2]
      peerCertSANs: [10.0.0.3]
  networking: {serviceSubnet: 10.100.0.0/16, podSubnet: '10.200.0.0/16, fd00::/48', dnsDomain: corp.local}
  kubernetesVersion: v1.36.4
  controlPlaneEndpoint: cp.example.com
  apiServer:
    extraArgs: [{name: v, value: '4'}]
    extraVolumes: [{name: a, hostPath: /a, mountPath: /b, readOnly: true, pathType: DirectoryOrCreate}]
    certSANs: [api.example.com]
  controllerManager:
    extraArgs: [{name: v, value: '5'}]
    extraVolumes: [{name: c, hostPath: /c, mountPath: /d}]
  scheduler:
    extraArgs: [{name: v, value: '6'}]
    extraVolumes: [{name: e, hostPath: /e, mountPath: /f, readOnly: false, pathType: ''}]
  dns: {disabled: true}
  proxy: {disabled: true}
  certificatesDir: /srv/pki
  imageRepository: registry.example.com
  featureGates: {RootlessControlPlane: false}
  clusterName: demo
";

#[test]
fn everything_that_an_init_config_has_a_place_for_is_in_it() {
    let imported = init(RICH);
    let text = documents::write(None, &imported.document);
    let expected = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: \"v1.36.4\"
  controlPlaneEndpoint: \"cp.example.com:7443\"
  advertiseAddress: \"192.168.0.10\"
  nodeName: \"cp1\"
  nodeAddresses:
    - \"10.0.0.1\"
    - \"fd00::1\"
  runtimeSocket: \"/run/custom.sock\"
  podSubnets:
    - \"10.200.0.0/16\"
    - \"fd00::/48\"
  serviceSubnets:
    - \"10.100.0.0/16\"
  toleratedChecks:
    - \"cpu\"
  imagePull: \"Always\"
  certificateKey: \"e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204\"
  bootstrapToken:
    token: \"abcdef.0123456789abcdef\"
    ttl: \"12h0m0s\"
  without:
    - \"coreDNS\"
    - \"kubeProxy\"
  timeouts:
    kubelet: \"3m0s\"
    controlPlane: \"6m0s\"
  labels:
    a: \"b\"
    c: \"\"
  taints:
    - key: \"demo\"
      value: \"a\"
      effect: \"NoExecute\"
  dnsDomain: \"corp.local\"
  clusterName: \"demo\"
  apiServerPort: 7443
  certificatesDirectory: \"/srv/pki\"
  imageRepository: \"registry.example.com\"
  featureGates:
    RootlessControlPlane: false
  apiServer:
    certSANs:
      - \"api.example.com\"
    arguments:
      v: \"4\"
    volumes:
      - name: \"a\"
        hostPath: \"/a\"
        mountPath: \"/b\"
        readOnly: true
        type: \"DirectoryOrCreate\"
  controllerManager:
    arguments:
      v: \"5\"
    volumes:
      - name: \"c\"
        hostPath: \"/c\"
        mountPath: \"/d\"
        readOnly: false
  scheduler:
    arguments:
      v: \"6\"
    volumes:
      - name: \"e\"
        hostPath: \"/e\"
        mountPath: \"/f\"
        readOnly: false
  etcd:
    dataDirectory: \"/srv/etcd\"
    arguments:
      quota-backend-bytes: \"1\"
    serverCertSANs:
      - \"10.0.0.2\"
    peerCertSANs:
      - \"10.0.0.3\"
  patches: \"/srv/patches\"
";
    assert_eq!(text.expose(), expected);
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![]));
    assert_eq!(imported.report.refuse_unsupported(), Ok(()));
}

#[test]
fn documents_that_say_nothing_or_kubeadms_defaults_mean_an_empty_init_config() {
    let defaults = "
init:
  bootstrapTokens:
    - {usages: [authentication, signing], groups: ['system:bootstrappers:kubeadm:default-node-token'], description: ''}
  certificateKey: ''
  dryRun: false
  localAPIEndpoint: {advertiseAddress: 0.0.0.0, bindPort: 0}
  nodeRegistration: {name: '', criSocket: '', imagePullPolicy: '', imagePullSerial: true}
  patches: {directory: ''}
  timeouts:
    controlPlaneComponentHealthCheck: 4m0s
    kubeletHealthCheck: 4m0s
    kubernetesAPICall: 1m0s
    etcdAPICall: 2m0s
    tlsBootstrap: 5m0s
    discovery: 5m0s
    upgradeManifests: 5m0s
cluster:
  etcd: {local: {imageRepository: '', imageTag: '', dataDir: ''}}
  networking: {serviceSubnet: '', podSubnet: '', dnsDomain: ''}
  controlPlaneEndpoint: ''
  dns: {type: CoreDNS, imageRepository: '', imageTag: '', disabled: false}
  proxy: {disabled: false}
  apiServer: {timeoutForControlPlane: 4m0s}
  certificatesDir: ''
  imageRepository: ''
  clusterName: ''
  encryptionAlgorithm: RSA-2048
  certificateValidityPeriod: 8760h0m0s
  caCertificateValidityPeriod: 87600h0m0s
  useHyperKubeImage: false
";
    let imported = init(defaults);
    let token = imported.document.bootstrap_token.clone();
    assert_eq!(imported.document, InitConfig { bootstrap_token: Some(Default::default()), ..InitConfig::default() });
    assert!(token.is_some_and(|token| token.token.is_none() && token.ttl.is_none()));
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![]));
    assert_eq!(init("{}").document, InitConfig::default());
}

#[test]
fn every_other_field_is_listed_by_path_and_value() {
    let imported = init(
        "
init:
  dryRun: true
  bootstrapTokens:
    - {token: abcdef.0123456789abcdef, description: a, expires: '2035-01-02T03:04:05Z', usages: [signing], groups: [g]}
    - {token: bbbbbb.0123456789abcdef}
  nodeRegistration:
    imagePullSerial: false
    imagePullPolicy: Sometimes
    taints: [{key: a, value: b, effect: Odd}, {key: c, effect: NoSchedule, timeAdded: '2035-01-02T03:04:05Z'}]
    kubeletExtraArgs: [{name: v, value: '4'}, {name: node-labels, value: a=b, mergeMethod: append}]
    ignorePreflightErrors: [Swop]
  localAPIEndpoint: {bindPort: 70000}
  skipPhases: [certs/ca]
  timeouts: {kubernetesAPICall: 2m0s, etcdAPICall: 3m0s, tlsBootstrap: 4m0s, discovery: 6m0s, upgradeManifests: 7m0s}
cluster:
  encryptionAlgorithm: ECDSA-P256
  certificateValidityPeriod: 4380h0m0s
  caCertificateValidityPeriod: 43800h0m0s
  useHyperKubeImage: true
  dns: {type: kube-dns, imageRepository: r, imageTag: t}
  apiServer:
    extraEnvs: [{name: PASSWORD, value: hunter2}]
    extraArgs: [{name: v, value: '4'}, {name: v, value: '5'}, {name: w, value: '6', mergeMethod: append}]
    extraVolumes: [{}, {pathType: Odd}]
  controllerManager: {extraEnvs: [{name: B}]}
  scheduler: {extraEnvs: [{name: C}]}
  etcd:
    local: {imageRepository: r, imageTag: t, extraEnvs: [{name: D}, {}]}
    external: {endpoints: [a, b], httpEndpoints: [c], caFile: /ca, certFile: /crt, keyFile: /key}
",
    );
    let expected = [
        "InitConfiguration.dryRun = true",
        "InitConfiguration.nodeRegistration.imagePullSerial = false",
        "InitConfiguration.nodeRegistration.taints[0] = a=b:Odd (its effect must be NoSchedule, PreferNoSchedule or NoExecute)",
        "InitConfiguration.nodeRegistration.taints[1].timeAdded = 2035-01-02T03:04:05Z",
        "InitConfiguration.nodeRegistration.kubeletExtraArgs[v] = 4",
        "InitConfiguration.nodeRegistration.kubeletExtraArgs[node-labels] = a=b",
        "InitConfiguration.nodeRegistration.ignorePreflightErrors[Swop] = Swop (is not a preflight check; use all, ",
        "InitConfiguration.nodeRegistration.imagePullPolicy = Sometimes (must be Always, IfNotPresent or Never)",
        "InitConfiguration.localAPIEndpoint.bindPort = 70000 (must be a port from 1 to 65535)",
        "InitConfiguration.timeouts.kubernetesAPICall = 2m0s",
        "InitConfiguration.timeouts.etcdAPICall = 3m0s",
        "InitConfiguration.timeouts.upgradeManifests = 7m0s",
        "InitConfiguration.timeouts.tlsBootstrap = 4m0s",
        "InitConfiguration.timeouts.discovery = 6m0s",
        "InitConfiguration.bootstrapTokens[1] = [secret]",
        "InitConfiguration.bootstrapTokens[0].description = a",
        "InitConfiguration.bootstrapTokens[0].expires = 2035-01-02T03:04:05Z",
        "InitConfiguration.bootstrapTokens[0].usages = signing",
        "InitConfiguration.bootstrapTokens[0].groups = g",
        "ClusterConfiguration.encryptionAlgorithm = ECDSA-P256",
        "ClusterConfiguration.certificateValidityPeriod = 4380h0m0s",
        "ClusterConfiguration.caCertificateValidityPeriod = 43800h0m0s",
        "ClusterConfiguration.useHyperKubeImage = true",
        "ClusterConfiguration.dns.type = kube-dns",
        "ClusterConfiguration.dns.imageRepository = r",
        "ClusterConfiguration.dns.imageTag = t",
        "ClusterConfiguration.apiServer.extraEnvs[PASSWORD] = (an environment variable)",
        "ClusterConfiguration.apiServer.extraArgs[v] = 4",
        "ClusterConfiguration.apiServer.extraArgs[w] = 6",
        "ClusterConfiguration.apiServer.extraVolumes[1].pathType = Odd",
        "ClusterConfiguration.controllerManager.extraEnvs[B] = (an environment variable)",
        "ClusterConfiguration.scheduler.extraEnvs[C] = (an environment variable)",
        "ClusterConfiguration.etcd.external.endpoints = a,b",
        "ClusterConfiguration.etcd.external.httpEndpoints = c",
        "ClusterConfiguration.etcd.external.caFile = /ca",
        "ClusterConfiguration.etcd.external.certFile = /crt",
        "ClusterConfiguration.etcd.external.keyFile = /key",
        "ClusterConfiguration.etcd.local.imageRepository = r",
        "ClusterConfiguration.etcd.local.imageTag = t",
        "ClusterConfiguration.etcd.local.extraEnvs[D] = (an environment variable)",
        "ClusterConfiguration.etcd.local.extraEnvs[] = (an environment variable)",
        "InitConfiguration.skipPhases[certs/ca] = certs/ca (cannot be skipped; put your own certificates ",
    ];
    let found = unsupported(&imported.report);
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    assert_eq!(imported.report.kind, "InitConfig");
    assert_eq!(imported.report.no_field(), "an InitConfig has no field for it");
    assert_eq!(notes(&imported.report), [""; 0]);
    // Of an argument that is named twice, the last one counts, as with kubeadm.
    assert_eq!(imported.document.api_server.arguments.get("v").map(String::as_str), Some("5"));
    assert_eq!(imported.document.api_server_port, None);
    assert_eq!(imported.document.taints.map(|taints| taints.len()), Some(1));
    assert_eq!(imported.document.tolerated_checks, []);

    let error = imported.report.refuse_unsupported().expect_err("fields without a place");
    let text = error.to_string();
    let begins = "unsupported: InitConfiguration.dryRun: an InitConfig has no field for it; InitConfiguration.";
    assert!(text.starts_with(begins) && !text.contains("hunter2"), "{text}");
    assert_eq!(error, ImportError::Unsupported(imported.report.unsupported));
}

#[test]
fn skipped_phases_outrank_what_the_documents_say() {
    let imported = init(
        "
init:
  skipPhases: [preflight, upload-certs, bootstrap-token, addon/kube-proxy]
  certificateKey: e6a2
  bootstrapTokens: [{token: a}]
  nodeRegistration: {ignorePreflightErrors: [Swap]}
cluster: {dns: {disabled: true}}
",
    );
    let document = imported.document;
    assert_eq!(document.tolerated_checks, [PreflightCheck::All]);
    assert_eq!(document.without, [ClusterPart::CoreDns, ClusterPart::BootstrapToken, ClusterPart::KubeProxy]);
    assert!(document.certificate_key.is_none() && document.bootstrap_token.is_none());
    let expected = [
        "InitConfiguration.skipPhases[preflight] is set by spec.toleratedChecks",
        "InitConfiguration.skipPhases is set by spec.without",
        "InitConfiguration.certificateKey has no effect: the phase upload-certs is skipped",
        "InitConfiguration.bootstrapTokens has no effect: the phase bootstrap-token is skipped",
    ];
    assert_eq!(notes(&imported.report), expected);
    assert_eq!(unsupported(&imported.report), [""; 0]);
    let skipped = init("init: {skipPhases: [upload-certs]}");
    assert_eq!((skipped.document, notes(&skipped.report)), (InitConfig::default(), vec![]));
}

#[test]
fn an_older_cluster_says_how_long_init_waits_unless_the_node_does() {
    let waits = |yaml: &str| {
        let imported = init(yaml);
        (imported.document.timeouts.control_plane, notes(&imported.report))
    };
    let cluster = |time: &str| format!("cluster: {{apiServer: {{timeoutForControlPlane: {time}}}}}\n");
    assert_eq!(waits(&cluster("6m0s")), (Some("6m0s".to_owned()), vec![]));
    assert_eq!(waits(&cluster("0s")), (None, vec![]));
    let both = cluster("6m0s") + "init: {timeouts: {controlPlaneComponentHealthCheck: 7m0s}}";
    let note = "ClusterConfiguration.apiServer.timeoutForControlPlane has no effect: \
                InitConfiguration.timeouts.controlPlaneComponentHealthCheck is set";
    assert_eq!(waits(&both), (Some("7m0s".to_owned()), vec![note.to_owned()]));
    let usual = cluster("4m0s") + "init: {timeouts: {controlPlaneComponentHealthCheck: 7m0s}}";
    assert_eq!(waits(&usual).1.len(), 1);
}

#[test]
fn documents_of_the_kubelet_and_kube_proxy_become_members() {
    let component = |kind: &str, text: &str| ComponentConfig { kind: kind.to_owned(), text: text.to_owned() };
    let kubelet = component(
        "KubeletConfiguration",
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n",
    );
    let kube_proxy = component(
        "KubeProxyConfiguration",
        "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n",
    );
    let imported = init_config(None, None, &[kubelet, kube_proxy.clone()]);
    let kubelet = [("maxPods".to_owned(), 42.into())].into_iter().collect();
    let members = [("mode".to_owned(), "nftables".into())].into_iter().collect();
    assert_eq!(imported.document, InitConfig { kubelet, kube_proxy: members, ..InitConfig::default() });
    assert_eq!((unsupported(&imported.report), notes(&imported.report)), (vec![], vec![]));

    let newer = component("KubeletConfiguration", "apiVersion: kubelet.config.k8s.io/v2\nmaxPods: 42\n");
    let imported = init_config(None, None, &[newer]);
    let why = "KubeletConfiguration = kubelet.config.k8s.io/v2 (its apiVersion must be kubelet.config.k8s.io/v1beta1)";
    assert_eq!((unsupported(&imported.report), imported.document.kubelet.len()), (vec![why.to_owned()], 0));

    let without = super::hub::documents("init: {skipPhases: [addon/kube-proxy]}");
    let imported = init_config(without.init, None, &[kube_proxy]);
    assert!(imported.document.kube_proxy.is_empty());
    let note = "KubeProxyConfiguration has no effect: the cluster is created without kube-proxy";
    assert_eq!(notes(&imported.report)[1..], [note]);
}
