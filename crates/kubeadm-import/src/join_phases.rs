//! Phases of `kubeadm join` that are skipped (`skipPhases`). Their names differ between versions of kubeadm.
use crate::report::RefusedPhase;
use documents::v1alpha1::ControlPlaneSpec;

/// What kubeadm runs on a control plane node alone; on a worker there is nothing to skip.
const CONTROL_PLANE: [&str; 5] =
    ["control-plane-prepare", "check-etcd", "etcd-join", "control-plane-join", "wait-control-plane"];
/// Without them a machine does not become a node.
const NEEDED: [&str; 2] = ["kubelet-start", "kubelet-wait-bootstrap"];

/// What the machine becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// A node without a control plane.
    Worker,
    /// A further node of the control plane.
    ControlPlane,
}

impl Joining {
    /// By what a JoinConfig says of a control plane.
    pub const fn of(control_plane: &Option<ControlPlaneSpec>) -> Self {
        match control_plane {
            Some(_) => Self::ControlPlane,
            None => Self::Worker,
        }
    }
}

/// What a list of phases means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedJoinPhases {
    /// Whether every preflight check is tolerated.
    pub preflight: bool,
    /// Phases that this machine does not have.
    pub without_effect: Vec<String>,
    /// Phases that it cannot skip.
    pub refused: Vec<RefusedPhase>,
}

impl SkippedJoinPhases {
    /// Reads the names of phases.
    pub fn read(phases: &[String], joining: Joining) -> Self {
        let mut skipped = Self::default();
        for phase in phases.iter().filter(|phase| !phase.is_empty()) {
            let why = match phase.split('/').next().unwrap_or_default() {
                "preflight" => {
                    skipped.preflight = true;
                    continue;
                }
                name if CONTROL_PLANE.contains(&name) && joining == Joining::Worker => {
                    skipped.without_effect.push(phase.clone());
                    continue;
                }
                name if CONTROL_PLANE.contains(&name) => {
                    "without this phase the machine does not become a control plane node; certificates that are there \
                     already are used without --certificate-key"
                }
                name if NEEDED.contains(&name) => "without this phase the machine does not become a node",
                _ => {
                    "unknown phase; `preflight` can be skipped, and phases of control plane nodes have no effect on a \
                     worker"
                }
            };
            skipped.refused.push(RefusedPhase { phase: phase.clone(), why: why.to_owned() });
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(phases: &[&str], joining: Joining) -> SkippedJoinPhases {
        SkippedJoinPhases::read(&phases.iter().map(|phase| (*phase).to_owned()).collect::<Vec<_>>(), joining)
    }

    /// The beginning of the reason why the one phase is refused.
    fn refusal(phase: &str, joining: Joining) -> String {
        let skipped = read(&[phase], joining);
        assert_eq!((skipped.preflight, skipped.without_effect), (false, vec![]), "{phase}");
        assert_eq!(skipped.refused[0].phase, phase);
        skipped.refused[0].why.chars().take(30).collect()
    }

    #[test]
    fn a_control_plane_node_skips_preflight_alone() {
        let of = |phase: &str| refusal(phase, Joining::ControlPlane);
        assert!(read(&["preflight"], Joining::ControlPlane).preflight);
        for phase in ["control-plane-prepare/download-certs", "etcd-join"] {
            let why = read(&[phase], Joining::ControlPlane).refused[0].why.clone();
            assert!(why.contains("does not become a control plane node"), "{phase}: {why}");
        }
        assert_eq!(
            (of("kubelet-start"), of("x")),
            ("without this phase the machine".into(), "unknown phase; `preflight` can".into())
        );
    }

    #[test]
    fn preflight_is_skipped_and_phases_of_control_planes_have_no_effect_on_a_worker() {
        assert_eq!(read(&[], Joining::Worker), SkippedJoinPhases::default());
        let skipped = read(&["", "preflight", "control-plane-prepare/certs", "check-etcd"], Joining::Worker);
        let without_effect = ["control-plane-prepare/certs", "check-etcd"].map(str::to_owned).to_vec();
        assert_eq!(skipped, SkippedJoinPhases { preflight: true, without_effect, refused: vec![] });
    }

    #[test]
    fn what_makes_a_node_is_not_skipped() {
        for phase in ["kubelet-start", "kubelet-wait-bootstrap"] {
            assert_eq!(refusal(phase, Joining::Worker), "without this phase the machine");
        }
        for phase in ["x", "preflights"] {
            assert!(refusal(phase, Joining::Worker).starts_with("unknown phase"), "{phase}");
        }
    }

    #[test]
    fn a_control_plane_node_has_a_control_plane_in_its_document() {
        assert_eq!(Joining::of(&None), Joining::Worker);
        assert_eq!(Joining::of(&Some(ControlPlaneSpec::default())), Joining::ControlPlane);
    }
}
