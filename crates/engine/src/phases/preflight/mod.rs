//! Whether the machine is fit to become a node: one table of checks, every problem at once, before kubeadm is started.
//!
//! What kubeadm or the kubelet would refuse later is refused here first, with the reason. A check that a document
//! tolerates still looks: what it finds is a remark, and kubeadm ignores its own check of the same thing
//! (`kubeadm::preflight_checks`). What a check cannot even read is a problem of that check. Our own interrupted run is never refused for what it has left.
mod clock;
mod control_groups;
mod files;
mod findings;
mod hardware;
mod kernel;
mod network;
mod node;
mod runtime;
mod versions;

use super::tolerated_checks::is_tolerated;
use crate::{
    Facts, Fault, Look, PlanError, Planned, Problem, Remark,
    outcome::chain,
    turns::{Addition, Place, Subject},
};
use documents::v1alpha1::PreflightCheck;
use findings::Findings;
use node::{Candidate, Node, Situation};
use outcome::AddedTurn;

/// One check.
pub struct Check {
    /// Its name, by which documents tolerate it.
    pub check: PreflightCheck,
    /// What it looks at, in one line for the docs.
    pub summary: &'static str,
    /// For which nodes.
    pub role: NodeRole,
    /// In which situations.
    pub when: When,
    look: fn(&Candidate<'_>, &mut Findings) -> Result<(), PlanError>,
}

/// For which nodes a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// Control plane nodes.
    ControlPlane,
    /// Every node.
    Every,
}

/// In which situations a check looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// Only before anything was started: later it would find what our own run has left.
    New,
    /// Until the machine is a node.
    Unfinished,
    /// Always.
    Always,
}

/// Every check, in the order of its findings.
pub const CHECKS: &[Check] = &[
    Check {
        check: PreflightCheck::Kubeadm,
        summary: "kubeadm is installed; its minor version is that of `kubernetesVersion`",
        role: NodeRole::Every,
        when: When::Always,
        look: versions::kubeadm,
    },
    Check {
        check: PreflightCheck::Kubelet,
        summary: "the kubelet and its unit are installed; its version is not newer than kubeadm's, and not more minor versions older than kubeadm accepts",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: versions::kubelet,
    },
    Check {
        check: PreflightCheck::Runtime,
        summary: "the container runtime answers over CRI v1, is ready, and has what this kubelet needs",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: runtime::runtime,
    },
    Check {
        check: PreflightCheck::CgroupDriver,
        summary: "the cgroup driver of the container runtime is `kubelet.cgroupDriver`, where that is set",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: runtime::cgroup_driver,
    },
    Check {
        check: PreflightCheck::Cgroups,
        summary: "control groups have a version that the kubelet accepts, with the controllers cpu, cpuset, memory and pids",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: control_groups::cgroups,
    },
    Check {
        check: PreflightCheck::Swap,
        summary: "swap is off, unless `kubelet.failSwapOn` is false",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: kernel::swap,
    },
    Check {
        check: PreflightCheck::Memory,
        summary: "there are at least 1700 MiB of memory",
        role: NodeRole::ControlPlane,
        when: When::Unfinished,
        look: hardware::memory,
    },
    Check {
        check: PreflightCheck::Cpu,
        summary: "there are at least 2 CPUs",
        role: NodeRole::ControlPlane,
        when: When::Unfinished,
        look: hardware::cpu,
    },
    Check {
        check: PreflightCheck::Ports,
        summary: "no other program listens on the ports of the node",
        role: NodeRole::Every,
        when: When::New,
        look: network::ports,
    },
    Check {
        check: PreflightCheck::IpForward,
        summary: "the kernel forwards packets of the address families that the cluster uses",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: kernel::ip_forward,
    },
    Check {
        check: PreflightCheck::Modules,
        summary: "the kernel has the overlay file system, and passes bridged packets to iptables where this kubeadm requires it",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: kernel::modules,
    },
    Check {
        check: PreflightCheck::Disk,
        summary: "at least 1 GiB and 5 % of the inodes are free for the kubelet, the container runtime, etcd and machineadm",
        role: NodeRole::Every,
        when: When::New,
        look: hardware::disk,
    },
    Check {
        check: PreflightCheck::Clock,
        summary: "the clock is not earlier than this release of machineadm",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: clock::clock,
    },
    Check {
        check: PreflightCheck::NameResolution,
        summary: "the host of `controlPlaneEndpoint` has an address",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: network::name_resolution,
    },
    Check {
        check: PreflightCheck::Files,
        summary: "there are no files of another cluster that kubeadm would refuse",
        role: NodeRole::Every,
        when: When::New,
        look: files::files,
    },
    Check {
        check: PreflightCheck::Images,
        summary: "with `imagePull: Never`, the container runtime has the images",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: runtime::images,
    },
    Check {
        check: PreflightCheck::Programs,
        summary: "the programs that this kubeadm requires are installed",
        role: NodeRole::Every,
        when: When::Unfinished,
        look: files::programs,
    },
];

pub(crate) const ADDITION: Addition = Addition {
    turn: AddedTurn::Preflight,
    summary: "checks that the machine is fit to become a node, and lists every problem",
    place: Place::BeforeNode,
    applies: |_| true,
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(node) = subject.node.and_then(|node| Node::of(&node.body)) else { return Ok(Planned::default()) };
    // Commands that are still to run may install or start what would be found missing now.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    if !look.host.live() {
        let only_live = "a cluster can't be created below --root: only the running system becomes a node";
        return Err(PlanError::unfit(only_live));
    }
    let candidate = Candidate::seen(node, look)?;
    let (mut problems, mut remarks, mut count) = (Vec::new(), Vec::new(), 0);
    for check in CHECKS.iter().filter(|check| check.applies(&candidate)) {
        let mut findings = Findings::default();
        match (check.look)(&candidate, &mut findings) {
            Err(PlanError::Look(error)) => findings.problem(objects::one_line(&chain(&error))),
            looked => looked?,
        }
        count += 1;
        let name = check.check.name();
        match is_tolerated(candidate.node.tolerated(), check.check) {
            true => remarks.extend(
                findings.problems.into_iter().map(|problem| Remark::Tolerated { check: name, text: problem.text }),
            ),
            false => problems.extend(
                findings
                    .problems
                    .into_iter()
                    .map(|Problem { fault, text }| Problem { fault: fault.or(Some(Fault::Check(check.check))), text }),
            ),
        }
        remarks.extend(findings.remarks.into_iter().map(|text| Remark::Noticed { check: name, text }));
    }
    if !problems.is_empty() {
        return Err(PlanError::Unfit(problems));
    }
    let tolerated = remarks.iter().filter(|remark| matches!(remark, Remark::Tolerated { .. })).count();
    remarks.insert(0, Remark::Checks { count, tolerated });
    let known_after = candidate.runtime_known_after();
    let (kubeadm, kubelet) = (candidate.kubeadm.found(), candidate.kubelet.found());
    let facts = Facts { kubeadm: kubeadm.map(str::to_owned), kubelet: kubelet.map(str::to_owned), ..Facts::default() };
    Ok(Planned { facts, remarks, known_after, ..Planned::default() })
}

impl Check {
    fn applies(&self, candidate: &Candidate<'_>) -> bool {
        let is_for_role = self.role == NodeRole::Every || candidate.node.is_control_plane();
        let is_time = match candidate.situation {
            Situation::New => true,
            Situation::Started => self.when >= When::Unfinished,
            Situation::Finished => self.when == When::Always,
        };
        is_for_role && is_time
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.check.name())
    }
}

#[cfg(test)]
mod tests {
    use super::CHECKS;
    use documents::v1alpha1::PreflightCheck;

    #[test]
    fn every_check_that_a_document_can_tolerate_stands_in_the_table_once() {
        let named: Vec<_> = CHECKS.iter().map(|check| check.check).collect();
        assert_eq!(named, PreflightCheck::EVERY[1..], "in the order of the documents, without `all`");
    }
}
