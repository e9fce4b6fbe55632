//! `--skip-phases` of `join`: phases of kubeadm in our own terms. Their names differ between versions of kubeadm.
use crate::command_error::CommandError;
use documents::v1alpha1::ControlPlaneSpec;

/// What kubeadm runs on a control plane node alone; on a worker there is nothing to skip.
const CONTROL_PLANE: [&str; 5] =
    ["control-plane-prepare", "check-etcd", "etcd-join", "control-plane-join", "wait-control-plane"];
/// Without them a machine does not become a node.
const NEEDED: [&str; 2] = ["kubelet-start", "kubelet-wait-bootstrap"];

/// Whether the checks of preflight are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preflight {
    Run,
    Skipped,
}

/// What the machine becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    Worker,
    ControlPlane,
}

impl Joining {
    /// By what a JoinConfig says of a control plane.
    pub(super) const fn of(control_plane: &Option<ControlPlaneSpec>) -> Self {
        match control_plane {
            Some(_) => Self::ControlPlane,
            None => Self::Worker,
        }
    }
}

/// A phase that is not skipped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefusedPhase {
    /// As it was named.
    pub(super) phase: String,
    /// Why not, and what to do instead.
    pub(super) why: String,
}

impl RefusedPhase {
    /// The error of a flag that names such phases.
    pub(super) fn of_flag(refused: &[Self]) -> Result<(), CommandError> {
        let problem = |Self { phase, why }: &Self| format!("--skip-phases {phase}: {why}");
        if refused.is_empty() { Ok(()) } else { Err(CommandError::invalid_input(refused.iter().map(problem))) }
    }
}

/// What a list of phases means, and every phase that this machine can't skip.
pub(super) fn read(phases: &[String], joining: Joining) -> (Preflight, Vec<RefusedPhase>) {
    let mut refused = Vec::new();
    let mut preflight = Preflight::Run;
    for phase in phases.iter().filter(|phase| !phase.is_empty()) {
        let why = match phase.split('/').next().unwrap_or_default() {
            "preflight" => {
                preflight = Preflight::Skipped;
                continue;
            }
            name if CONTROL_PLANE.contains(&name) && joining == Joining::Worker => continue,
            name if CONTROL_PLANE.contains(&name) => {
                "without this phase the machine does not become a control plane node; certificates that are there already \
                 are used without --certificate-key"
            }
            name if NEEDED.contains(&name) => "without this phase the machine does not become a node",
            _ => {
                "unknown phase; `preflight` can be skipped, and phases of control plane nodes have no effect on a worker"
            }
        };
        refused.push(RefusedPhase { phase: phase.clone(), why: why.to_owned() });
    }
    (preflight, refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(phases: &[&str], joining: Joining) -> Result<Preflight, CommandError> {
        let (preflight, refused) = read(&phases.iter().map(|phase| (*phase).to_owned()).collect::<Vec<_>>(), joining);
        RefusedPhase::of_flag(&refused).map(|()| preflight)
    }

    fn read_all(phases: &[&str]) -> Result<Preflight, CommandError> {
        read_as(phases, Joining::Worker)
    }

    #[test]
    fn a_control_plane_node_skips_preflight_alone() {
        let of = |phase: &str| read_as(&[phase], Joining::ControlPlane);
        assert_eq!(of("preflight").unwrap(), Preflight::Skipped);
        for phase in ["control-plane-prepare/download-certs", "etcd-join", "kubelet-start", "x"] {
            assert!(of(phase).is_err(), "{phase}");
        }
    }

    #[test]
    fn preflight_is_skipped_and_phases_of_control_planes_have_no_effect() {
        assert_eq!(read_all(&[]).unwrap(), Preflight::Run);
        assert_eq!(read_all(&["control-plane-prepare/certs", "check-etcd"]).unwrap(), Preflight::Run);
        assert_eq!(read_all(&["preflight", "control-plane-join"]).unwrap(), Preflight::Skipped);
    }

    #[test]
    fn what_makes_a_node_is_not_skipped() {
        for phases in [&["kubelet-start"][..], &["kubelet-wait-bootstrap"], &["preflight", "x"], &["preflights"]] {
            assert!(read_all(phases).is_err(), "{phases:?}");
        }
    }
}
