//! The report of each rich input lists exactly what the target can't be told, and which flag carries what.
use crate::support::{read_strictly, vectors};
use machineadm_kubeadm::{Converted, NoteKind, Target, convert};

fn converted(input: &str, version: &str) -> Converted {
    let vector = vectors("synth", ".yaml").into_iter().find(|vector| vector.name == input).expect("the input");
    convert(&read_strictly(input, &vector.text).documents, &Target::new(version).expect("a version"))
}

fn losses(converted: &Converted) -> Vec<String> {
    let line = |loss: &machineadm_kubeadm::Loss| {
        let since = loss.since_api.map(|api| format!(" {}", api.name())).unwrap_or_default();
        let minor = loss.since_minor.map(|minor| format!(" 1.{minor}")).unwrap_or_default();
        format!("{} = {}{since}{minor}", loss.path, loss.value)
    };
    let mut lines: Vec<_> = converted.losses.iter().map(line).collect();
    lines.sort();
    lines
}

fn flags(converted: &Converted) -> Vec<String> {
    converted.flags.iter().map(|flag| format!("{} {}", flag.command, flag.shown())).collect()
}

const INIT: &str = "full_v1beta4_init-local-etcd_k136";
const JOIN: &str = "full_v1beta4_join-controlplane-token_k136";

/// What no version before v1beta4 can be told of the rich init.
const INIT_BEFORE_V1BETA4: &[&str] = &[
    "ClusterConfiguration.apiServer.extraArgs[zz-arg] = last v1beta4 1.31",
    "ClusterConfiguration.apiServer.extraEnvs[demo-name] = (an environment variable) v1beta4 1.31",
    "ClusterConfiguration.caCertificateValidityPeriod = 43800h0m0s v1beta4 1.31",
    "ClusterConfiguration.certificateValidityPeriod = 4380h0m0s v1beta4 1.31",
    "ClusterConfiguration.controllerManager.extraArgs[zz-arg] = last v1beta4 1.31",
    "ClusterConfiguration.controllerManager.extraEnvs[demo-name] = (an environment variable) v1beta4 1.31",
    "ClusterConfiguration.etcd.local.extraArgs[zz-arg] = last v1beta4 1.31",
    "ClusterConfiguration.etcd.local.extraEnvs[demo-name] = (an environment variable) v1beta4 1.31",
    "ClusterConfiguration.scheduler.extraArgs[zz-arg] = last v1beta4 1.31",
    "ClusterConfiguration.scheduler.extraEnvs[demo-name] = (an environment variable) v1beta4 1.31",
    "InitConfiguration.nodeRegistration.kubeletExtraArgs[zz-arg] = last v1beta4 1.31",
    "InitConfiguration.timeouts.etcdAPICall = 2m30s v1beta4 1.31",
    "InitConfiguration.timeouts.kubeletHealthCheck = 3m0s v1beta4 1.31",
    "InitConfiguration.timeouts.kubernetesAPICall = 1m30s v1beta4 1.31",
    "InitConfiguration.timeouts.tlsBootstrap = 8m0s v1beta4 1.31",
    "InitConfiguration.timeouts.upgradeManifests = 9m0s v1beta4 1.31",
];

/// The same with what this version adds to it.
fn and(more: &[&'static str]) -> Vec<&'static str> {
    let mut all: Vec<_> = INIT_BEFORE_V1BETA4.iter().chain(more).copied().collect();
    all.sort_unstable();
    all
}

#[test]
fn a_rich_init_for_1_36_loses_nothing() {
    let converted = converted(INIT, "1.36.0");
    assert_eq!((losses(&converted).len(), flags(&converted).len(), converted.notes.len()), (0, 0, 0));
}

#[test]
fn a_rich_init_for_v1beta3_loses_what_only_v1beta4_can_say() {
    let converted = converted(INIT, "1.30.0");
    assert_eq!(losses(&converted), and(&[]));
    assert_eq!(flags(&converted), [""; 0]);
    let told: Vec<_> = converted.notes.iter().filter(|note| note.kind.is_worth_telling()).collect();
    let told: Vec<_> = told.into_iter().map(|note| (note.path.as_str(), &note.kind)).collect();
    assert_eq!(
        told,
        [
            ("ClusterConfiguration.kubernetesVersion", &NoteKind::Set("v1.30.0".to_owned())),
            (
                "ClusterConfiguration.encryptionAlgorithm",
                &NoteKind::Equivalent("the feature gate PublicKeysECDSA".to_owned())
            ),
            ("ClusterConfiguration.dns.disabled", &NoteKind::Equivalent("the skipped phase addon/coredns".to_owned())),
            (
                "ClusterConfiguration.proxy.disabled",
                &NoteKind::Equivalent("the skipped phase addon/kube-proxy".to_owned())
            ),
        ]
    );
    let yaml = converted.yaml();
    assert!(yaml.contains("timeoutForControlPlane: \"6m0s\""), "{yaml}");
    assert!(yaml.contains("- \"addon/coredns\"") && yaml.contains("PublicKeysECDSA: true"), "{yaml}");
}

#[test]
fn a_rich_init_for_v1beta2_carries_phases_and_patches_by_flags() {
    let converted = converted(INIT, "1.21.0");
    let policy = "InitConfiguration.nodeRegistration.imagePullPolicy = Always v1beta3 1.22";
    assert_eq!(losses(&converted), and(&[policy]));
    assert_eq!(
        flags(&converted),
        [
            "init --skip-phases=addon/kube-proxy,show-join-command,addon/coredns",
            "init --experimental-patches=/etc/kubernetes/patches"
        ]
    );
}

#[test]
fn a_rich_init_for_1_14_carries_the_certificate_key_and_preflight_errors_by_flags() {
    let converted = converted(INIT, "1.14.0");
    let more = [
        "ClusterConfiguration.encryptionAlgorithm = ECDSA-P256 v1beta4 1.31",
        "InitConfiguration.nodeRegistration.imagePullPolicy = Always v1beta3 1.22",
        "InitConfiguration.patches.directory = /etc/kubernetes/patches v1beta3 1.22",
    ];
    assert_eq!(losses(&converted), and(&more));
    assert_eq!(
        flags(&converted),
        [
            "init --certificate-key=[secret]",
            "init --skip-phases=addon/kube-proxy,show-join-command,addon/coredns",
            "init --ignore-preflight-errors=NumCPU,Mem"
        ]
    );
}

#[test]
fn a_rich_join_for_1_13_loses_its_certificate_key_without_showing_it() {
    let converted = converted(JOIN, "1.13.0");
    assert_eq!(
        losses(&converted),
        [
            "JoinConfiguration.controlPlane.certificateKey = [secret] v1beta2 1.15",
            "JoinConfiguration.nodeRegistration.imagePullPolicy = Always v1beta3 1.22",
            "JoinConfiguration.nodeRegistration.kubeletExtraArgs[zz-arg] = last v1beta4 1.31",
            "JoinConfiguration.patches.directory = /etc/kubernetes/patches v1beta3 1.22",
            "JoinConfiguration.skipPhases = addon/kube-proxy,show-join-command 1.14",
            "JoinConfiguration.timeouts.controlPlaneComponentHealthCheck = 6m0s v1beta4 1.31",
            "JoinConfiguration.timeouts.etcdAPICall = 2m30s v1beta4 1.31",
            "JoinConfiguration.timeouts.kubeletHealthCheck = 3m0s v1beta4 1.31",
            "JoinConfiguration.timeouts.kubernetesAPICall = 1m30s v1beta4 1.31",
            "JoinConfiguration.timeouts.tlsBootstrap = 8m0s v1beta4 1.31",
            "JoinConfiguration.timeouts.upgradeManifests = 9m0s v1beta4 1.31",
        ]
    );
    assert_eq!(flags(&converted), ["join --ignore-preflight-errors=NumCPU,Mem"]);
    assert!(converted.yaml().contains("timeout: \"7m0s\""));
}

#[test]
fn fields_that_came_within_v1beta4_are_lost_below_their_minor() {
    let of = |kind: &str, version: &str| losses(&converted(&format!("allfields_v1beta4_{kind}_k136"), version));
    let environment = |component: &str| {
        format!("ClusterConfiguration.{component}.extraEnvs[demo-name] = (from valueFrom.fileKeyRef) v1beta4 1.34")
    };
    let mut at_1_33 = ["apiServer", "controllerManager", "etcd.local", "scheduler"].map(environment).to_vec();
    at_1_33.push(
        "ClusterConfiguration.etcd.external.httpEndpoints = https://10.0.0.4:2381,https://10.0.0.5:2381 v1beta4 1.35"
            .to_owned(),
    );
    at_1_33.sort();
    assert_eq!(of("ClusterConfiguration", "1.33.0"), at_1_33);
    assert_eq!(of("ClusterConfiguration", "1.34.0").len(), 1);
    assert_eq!(of("ClusterConfiguration", "1.35.0"), [""; 0]);
    assert_eq!(of("UpgradeConfiguration", "1.33.0"), [""; 0]);
}
