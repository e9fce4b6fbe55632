//! A kubeadm that adds the etcd member of this machine as a voter at once: until that member runs, an etcd that had one voter
//! has no quorum, and a join that is interrupted there may cost the cluster.
use crate::{Facts, Remark, acts::ADMIN};
use documents::v1alpha1::PreflightCheck;
use etcd::Membership;
use kubeadm::{
    KubernetesVersion,
    etcd_member::{LEARNER_MODE, NewMember},
    hub::ClusterConfiguration,
};

/// What it means for a join.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VoterRisk {
    /// etcd keeps its quorum, whatever happens to the new member.
    None,
    /// It can be avoided.
    Refused(String),
    /// It cannot be avoided with this kubeadm.
    Accepted(Remark),
}

impl VoterRisk {
    /// Of this machine's kubeadm in a cluster.
    pub(super) fn of(
        facts: &Facts,
        configuration: &ClusterConfiguration,
        membership: &Membership,
        own_peer_url: &str,
    ) -> Self {
        let version = facts.kubeadm.as_deref().unwrap_or_default();
        let Ok(parsed) = version.parse::<KubernetesVersion>() else { return Self::None };
        if !membership.loses_quorum_to_a_voter(own_peer_url) {
            return Self::None;
        }
        let risk = format!(
            "kubeadm {version} adds the etcd member of this machine as a voter at once, and until that member runs, etcd has \
             no quorum"
        );
        match NewMember::of(parsed.effective_minor(), &configuration.feature_gates) {
            NewMember::Learner => Self::None,
            NewMember::VoterUnlessGate => {
                let of_cluster = configuration.kubernetes_version.as_deref().unwrap_or(version);
                let of_cluster = if of_cluster.parse::<KubernetesVersion>().is_ok() { of_cluster } else { version };
                Self::Refused(format!(
                    "{risk}: turn on learners in kubeadm-config first, on a control plane node: machineadm config edit-map \
                     --kubeconfig {ADMIN} --kubernetes-version {of_cluster} --feature-gate {LEARNER_MODE}=true"
                ))
            }
            NewMember::Voter => Self::Accepted(Remark::Noticed {
                check: PreflightCheck::Kubeadm.name(),
                text: format!(
                    "{risk}. If this machine is lost before, etcd must be restored from a backup; kubeadm 1.29 and newer adds \
                     learners"
                ),
            }),
        }
    }
}
