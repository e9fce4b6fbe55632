//! Everything that an InitConfig can say reaches real kubeadms: they accept its file, and a dry run of theirs creates it.
use crate::support::kubeadm_judge::{IN_USE, judges};
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use std::fs;

/// Every field that kubeadm has a flag or a field for.
const DOCUMENTS: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec: {parameters: {net.ipv4.ip_forward: 1}}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
spec:
  files:
  - path: /srv/patches/kube-scheduler+merge.yaml
    content: 'metadata: {labels: {patched: by-a-file}}'
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: vVERSION
  controlPlaneEndpoint: cluster.example:6444
  advertiseAddress: 192.0.2.10
  nodeName: node-7
  podSubnets: [10.244.0.0/16]
  toleratedChecks: [all]
  bootstrapToken: {token: ae23dc.faddc87f5a5ab458, ttl: 2h}
  labels: {example.com/rack: r7}
  taints: [{key: example.com/dedicated, value: tests, effect: NoSchedule}]
  dnsDomain: k8s.example
  clusterName: one
  apiServerPort: 6444
  certificatesDirectory: /srv/pki
  imageRepository: registry.example.com/k8s
  featureGates: {RootlessControlPlane: false}
  apiServer:
    certSANs: [api.example.com, 192.0.2.99]
    arguments: {audit-log-path: /audit/log, audit-log-maxage: '7'}
    volumes:
    - {name: audit, hostPath: /var/log/audit, mountPath: /audit, readOnly: false, type: DirectoryOrCreate}
  controllerManager:
    arguments: {node-cidr-mask-size: '25'}
    volumes: [{name: extra, hostPath: /srv/extra, mountPath: /extra}]
  scheduler:
    arguments: {v: '3'}
  etcd:
    dataDirectory: /srv/etcd
    arguments: {quota-backend-bytes: '4294967296'}
    serverCertSANs: [etcd.example.com]
    peerCertSANs: [192.0.2.98]
  patches: /srv/patches
";

/// What the manifests and objects of a dry run show of each field.
const SHOWN: [&str; 19] = [
    "server: https://cluster.example:6444",
    "--secure-port=6444",
    "--audit-log-path=/audit/log",
    "--audit-log-maxage=7",
    "mountPath: /audit",
    "path: /var/log/audit",
    "type: DirectoryOrCreate",
    "--node-cidr-mask-size=25",
    "path: /srv/extra",
    "--cluster-name=one",
    "--v=3",
    "patched: by-a-file",
    "\"/srv/etcd\" directory is present",
    "quota-backend-bytes",
    "--etcd-cafile=/srv/pki/etcd/ca.crt",
    "image: registry.example.com/k8s/kube-apiserver:vVERSION",
    "k8s.example",
    "example.com/dedicated=tests:NoSchedule",
    "--node-labels=example.com/rack=r7",
];

#[test]
fn kubeadms_in_use_create_what_an_init_config_says() {
    testbed::needs!(Root, EachPinned(IN_USE));
    let scratch = tempfile::tempdir().expect("a folder");
    let ours = scratch.path().join("ours.yaml");
    for judge in judges(IN_USE) {
        let documents = DOCUMENTS.replace("VERSION", judge.version);
        let (file, flags) = judge.started_with(&documents);
        fs::write(&ours, &file).expect("a file");
        assert_eq!(judge.accepts(&ours, scratch.path()), Ok(()), "kubeadm {} on {file}", judge.version);
        assert_eq!(flags, ["--ignore-preflight-errors=all"], "kubeadm {} has a field for the rest", judge.version);
        let patch = "mkdir -p /srv/patches; echo 'metadata: {labels: {patched: by-a-file}}' \
                     > /srv/patches/kube-scheduler+merge.yaml";
        let created = judge.dry_run_after(patch, &documents);
        for text in SHOWN {
            let text = text.replace("VERSION", judge.version);
            assert!(created.contains(&text), "kubeadm {} does not create {text}: {created}", judge.version);
        }
        let sans = ["api.example.com", "192.0.2.99", "etcd.example.com", "192.0.2.98"];
        assert!(sans.iter().all(|name| created.contains(name)), "kubeadm {}: {created}", judge.version);
        the_token_is_as_it_was_asked_for(&created, judge.version);
    }
}

/// The Secret of the token has both usages, the group of nodes, and an end.
fn the_token_is_as_it_was_asked_for(created: &str, version: &str) {
    // It is the only token of the dry run.
    let has = |field: &str, value: &str| created.contains(&format!("{field}: {}", BASE64.encode(value)));
    for (field, value) in [
        ("auth-extra-groups", "system:bootstrappers:kubeadm:default-node-token"),
        ("token-id", "ae23dc"),
        ("token-secret", "faddc87f5a5ab458"),
        ("usage-bootstrap-authentication", "true"),
        ("usage-bootstrap-signing", "true"),
    ] {
        assert!(has(field, value), "kubeadm {version}: {field}: {created}");
    }
    assert_eq!(created.matches("expiration: ").count(), 1, "kubeadm {version}: {created}");
}

/// A ControlPlaneConfig with everything that becomes an argument or a volume. These versions of its formats are in every
/// kubeadm's API server.
const CONTROL_PLANE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec: {parameters: {net.ipv4.ip_forward: 1}}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ControlPlaneConfig
spec:
  audit:
    policy: '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}'
    log: {maxAgeDays: 7}
  admission: {enable: [AlwaysPullImages]}
  encryption:
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1
      kind: EncryptionConfiguration
      resources:
      - resources: [secrets]
        providers:
        - kms: {apiVersion: v2, name: kms, endpoint: 'unix:///run/kmsplugin/current.sock'}
        - identity: {}
  authentication:
    configuration: '{apiVersion: apiserver.config.k8s.io/v1beta1, kind: AuthenticationConfiguration}'
  authorization:
    configuration: |
      apiVersion: apiserver.config.k8s.io/v1beta1
      kind: AuthorizationConfiguration
      authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]
  arguments: {profiling: 'false'}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: vVERSION
  advertiseAddress: 192.0.2.10
  nodeName: node-7
  toleratedChecks: [all]
  apiServer: {arguments: {v: '3'}}
";

/// What the manifest of the API server has of it.
const MOUNTED: [&str; 17] = [
    "--audit-policy-file=/etc/kubernetes/machineadm/audit-policy.yaml",
    "--audit-log-path=/var/log/kubernetes/audit/audit.log",
    "--audit-log-maxage=7",
    "--enable-admission-plugins=NodeRestriction,AlwaysPullImages",
    "--encryption-provider-config=/etc/kubernetes/machineadm/encryption.yaml",
    "--authentication-config=/etc/kubernetes/machineadm/authentication.yaml",
    "--authorization-config=/etc/kubernetes/machineadm/authorization.yaml",
    "--profiling=false",
    "--v=3",
    "mountPath: /etc/kubernetes/machineadm\n      name: machineadm-files\n      readOnly: true",
    "path: /etc/kubernetes/machineadm\n      type: Directory\n    name: machineadm-files",
    "mountPath: /var/log/kubernetes/audit\n      name: machineadm-audit-log",
    "path: /var/log/kubernetes/audit\n      type: DirectoryOrCreate\n    name: machineadm-audit-log",
    "mountPath: /run/kmsplugin\n      name: machineadm-kms-0",
    "path: /run/kmsplugin\n      type: DirectoryOrCreate\n    name: machineadm-kms-0",
    "value: /etc/kubernetes/machineadm/encryption.yaml",
    "hostPath: /run/kmsplugin",
];

#[test]
fn kubeadms_in_use_render_what_a_control_plane_config_makes() {
    testbed::needs!(Root, EachPinned(IN_USE));
    let scratch = tempfile::tempdir().expect("a folder");
    let ours = scratch.path().join("ours.yaml");
    for judge in judges(IN_USE) {
        let documents = CONTROL_PLANE.replace("VERSION", judge.version);
        fs::write(&ours, judge.started_with(&documents).0).expect("a file");
        assert_eq!(judge.accepts(&ours, scratch.path()), Ok(()), "kubeadm {}", judge.version);
        let created = judge.dry_run_after("true", &documents);
        // Without indentation, since manifests and ConfigMaps are printed at other depths.
        let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let created = lines(&created);
        for text in MOUNTED.iter().filter(|text| judge.minor() > 30 || !text.starts_with("value:")) {
            assert!(created.contains(&lines(text)), "kubeadm {} does not render {text}: {created}", judge.version);
        }
        assert!(!created.contains("--authorization-mode"), "kubeadm {}: its default excludes the file", judge.version);
    }
}
