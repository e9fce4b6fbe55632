//! Feature gates that the target's kubeadm does not know, and the algorithm that is one of them in older versions.
use crate::{
    aside::{Aside, NoteKind},
    gates::{self, PUBLIC_KEYS_ECDSA},
    hub::ClusterConfiguration,
    version::ApiVersion,
};

const ECDSA: &str = "ECDSA-P256";

pub(super) fn fit(cluster: &mut ClusterConfiguration, api: ApiVersion, aside: &mut Aside) {
    let knows_gate = gates::is_known(PUBLIC_KEYS_ECDSA, aside.minor);
    if api < ApiVersion::V1Beta4 && knows_gate {
        algorithm_to_gate(cluster, aside);
    }
    if api >= ApiVersion::V1Beta4 && !knows_gate {
        gate_to_algorithm(cluster, aside);
    }
    cluster.feature_gates.retain(|name, on| {
        let known = gates::is_known(name, aside.minor);
        if !known {
            aside.within("feature_gates", |aside| aside.within(name, |aside| unknown(name, *on, aside)));
        }
        known
    });
}

/// The gate says the same as the algorithm.
fn algorithm_to_gate(cluster: &mut ClusterConfiguration, aside: &mut Aside) {
    if cluster.encryption_algorithm.as_deref() == Some(ECDSA) {
        cluster.encryption_algorithm = None;
        cluster.feature_gates.insert(PUBLIC_KEYS_ECDSA.to_owned(), true);
        let now = "ClusterConfiguration.featureGates.PublicKeysECDSA";
        let kind = NoteKind::Equivalent("the feature gate PublicKeysECDSA".to_owned());
        aside.within("encryption_algorithm", |aside| aside.moved(now, kind));
    }
}

/// A kubeadm that knew both let the gate win over the algorithm.
fn gate_to_algorithm(cluster: &mut ClusterConfiguration, aside: &mut Aside) {
    if cluster.feature_gates.get(PUBLIC_KEYS_ECDSA) == Some(&true) {
        cluster.feature_gates.remove(PUBLIC_KEYS_ECDSA);
        cluster.encryption_algorithm = Some(ECDSA.to_owned());
        let now = "ClusterConfiguration.encryptionAlgorithm";
        let kind = NoteKind::Equivalent("encryptionAlgorithm: ECDSA-P256".to_owned());
        let gate = |aside: &mut Aside| aside.within(PUBLIC_KEYS_ECDSA, |aside| aside.moved(now, kind));
        aside.within("feature_gates", gate);
    }
}

/// Lost, unless it asks for what this kubeadm does anyway.
fn unknown(name: &str, on: bool, aside: &mut Aside) {
    match gates::named(name) {
        Some(gate) if aside.minor < gate.first && !on => aside.note(NoteKind::Default),
        Some(gate) if aside.minor < gate.first => aside.lose_until_later(on, gate.first),
        Some(gate) if on == gate.ever_since => aside.note(NoteKind::Default),
        Some(gate) => aside.lose_old(on, gate.last.unwrap_or_default()),
        None => aside.lose_because(on, "unknown feature gate: no kubeadm from 1.13 to 1.37 supports it"),
    }
}
