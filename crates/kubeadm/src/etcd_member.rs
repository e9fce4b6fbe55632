//! How kubeadm adds the etcd member of a control plane node that joins.
use crate::gates;
use std::collections::BTreeMap;

/// The feature gate that makes a new member a learner.
pub const LEARNER_MODE: &str = "EtcdLearnerMode";
/// The first minor in which the gate is on by default; it can be turned off until the gate is gone.
const FIRST_BY_DEFAULT: u32 = 29;

/// What a new member of etcd is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewMember {
    /// A learner, which does not vote until it runs and has the data.
    Learner,
    /// A voter from the start, unless the feature gate is turned on.
    VoterUnlessGate,
    /// A voter from the start: this kubeadm knows no learners.
    Voter,
}

impl NewMember {
    /// What the kubeadm of a minor makes, with the feature gates of its ClusterConfiguration. Read in kubeadm 1.26 to 1.33.
    pub fn of(minor: u32, feature_gates: &BTreeMap<String, bool>) -> Self {
        let is_known = gates::is_known(LEARNER_MODE, minor);
        match feature_gates.get(LEARNER_MODE) {
            _ if !is_known && minor < FIRST_BY_DEFAULT => Self::Voter,
            Some(false) if is_known => Self::VoterUnlessGate,
            None if minor < FIRST_BY_DEFAULT => Self::VoterUnlessGate,
            _ => Self::Learner,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_member_is_a_learner_by_default_since_1_29_and_by_its_gate_since_1_27() {
        let of = |minor, gate: Option<bool>| {
            NewMember::of(minor, &gate.map(|on| (LEARNER_MODE.to_owned(), on)).into_iter().collect())
        };
        for minor in [21, 26] {
            assert_eq!([of(minor, None), of(minor, Some(true))], [NewMember::Voter; 2], "1.{minor}");
        }
        for minor in [27, 28] {
            assert_eq!([of(minor, None), of(minor, Some(false))], [NewMember::VoterUnlessGate; 2], "1.{minor}");
            assert_eq!(of(minor, Some(true)), NewMember::Learner, "1.{minor}");
        }
        for minor in [29, 31] {
            assert_eq!([of(minor, None), of(minor, Some(true))], [NewMember::Learner; 2], "1.{minor}");
            assert_eq!(of(minor, Some(false)), NewMember::VoterUnlessGate, "1.{minor}");
        }
        for minor in [33, 37] {
            assert_eq!([of(minor, None), of(minor, Some(false))], [NewMember::Learner; 2], "1.{minor}");
        }
    }
}
