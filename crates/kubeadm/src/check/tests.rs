//! What is refused, and that a secret is never shown.
use super::*;
use crate::read::{Rules, Source, Strictness, read};

fn refused(text: &str) -> Vec<String> {
    let read = read(&[Source { name: "test", text }], Rules { strictness: Strictness::Strict, minor: None });
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    check(&read.documents, None).into_iter().map(|refusal| format!("{}: {}", refusal.path, refusal.message)).collect()
}

#[test]
fn a_cluster_with_everything_wrong_hears_of_each() {
    let text = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n\
        networking: {serviceSubnet: 10.96.0.0, podSubnet: '10.0.0.0/33', dnsDomain: Cluster.Local}\n\
        controlPlaneEndpoint: cp:99999\ncertificatesDir: pki\nencryptionAlgorithm: ED25519\n\
        featureGates: {Imaginary: true}\napiServer: {certSANs: ['a b'], extraArgs: [{value: x}]}\n\
        etcd: {local: {dataDir: x}, external: {endpoints: ['http://10.0.0.1:2379'], caFile: /ca}}\n";
    let paths: Vec<_> = refused(text).iter().map(|line| line.split(": ").next().unwrap().to_owned()).collect();
    let expected = [
        "networking.serviceSubnet",
        "networking.podSubnet",
        "networking.dnsDomain",
        "controlPlaneEndpoint",
        "certificatesDir",
        "encryptionAlgorithm",
        "featureGates.Imaginary",
        "apiServer.certSANs[0]",
        "apiServer.extraArgs",
        "etcd",
        "etcd.local.dataDir",
        "etcd.external.endpoints[0]",
    ];
    assert_eq!(paths, expected.map(|path| format!("ClusterConfiguration.{path}")));
}

#[test]
fn a_version_may_be_one_minor_behind_its_kubeadm_and_any_ahead() {
    let is_refused = |version: &str, minor| {
        let text =
            format!("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: {version}\n");
        let read = read(&[Source { name: "test", text: &text }], Rules { strictness: Strictness::Strict, minor: None });
        !check(&read.documents, Some(minor)).is_empty()
    };
    assert!(is_refused("v1.34.9", 36));
    assert!(is_refused("v0.99.0", 36));
    for version in ["v1.35.0", "v1.36.4", "v1.4294967295.0", "v2.0.0", "v22.36.0"] {
        assert!(!is_refused(version, 36), "{version}");
    }
}

#[test]
fn a_wrong_token_or_key_is_named_and_not_shown() {
    let text = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n\
        discovery: {bootstrapToken: {token: ABCDEF.hunter2, apiServerEndpoint: '10.0.0.1:6443'}}\n\
        controlPlane: {certificateKey: hunter2, localAPIEndpoint: {advertiseAddress: here, bindPort: 70000}}\n";
    let refused = refused(text);
    assert_eq!(refused.len(), 5, "{refused:?}");
    assert!(!refused.join("\n").contains("hunter2"), "{refused:?}");
}

#[test]
fn discovery_is_by_token_or_by_file() {
    let of = |discovery: &str| {
        refused(&format!("apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\ndiscovery: {discovery}\n"))
    };
    assert_eq!(of("{}"), ["JoinConfiguration.discovery: requires bootstrapToken or file"]);
    assert_eq!(of("{file: {kubeConfigPath: 'https://x/y'}}"), [""; 0]);
    assert_eq!(of("{file: {kubeConfigPath: 'http://x/y'}}").len(), 1);
}

#[test]
fn pod_and_service_subnets_that_overlap_are_a_warning() {
    let of = |networking: &str| {
        refused(&format!(
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {{{networking}}}\n"
        ))
    };
    let overlap = "ClusterConfiguration.podSubnet: overlaps the service subnet (10.96.0.0/12 by default): such addresses \
                   cannot be reached";
    for networking in [
        "podSubnet: 10.100.0.0/16",
        "podSubnet: 10.244.0.0/16, serviceSubnet: 10.244.128.0/20",
        "podSubnet: '10.244.0.0/16,fd00::/56', serviceSubnet: '10.96.0.0/16,fd00::/112'",
    ] {
        assert_eq!(of(networking), [overlap.replace("Configuration.", "Configuration.networking.")], "{networking}");
    }
    assert_eq!(of("podSubnet: '10.244.0.0/16,fd00::/56', serviceSubnet: '10.96.0.0/16,fd01::/112'"), [""; 0]);
}
