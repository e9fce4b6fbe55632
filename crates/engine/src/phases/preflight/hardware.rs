//! Memory, processors and disk space.
use super::{findings::Findings, node::Candidate};
use crate::PlanError;
use host::{DiskSpace, contract::STATE_DIR};

/// What kubeadm requires of a control plane.
const MEMORY_MIB: u64 = 1700;
const CPUS: usize = 2;
/// What must be free on each file system.
const FREE_BYTES: u64 = 1 << 30;
const FREE_INODES_PERCENT: u64 = 5;
/// The kubelet's thresholds of eviction, where nothing else is configured: below them the node takes no pods.
const EVICTION_NODE_PERCENT: u64 = 10;
const EVICTION_IMAGES_PERCENT: u64 = 15;

pub(super) fn memory(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let found = candidate.look.host.memory()? >> 20;
    if found < MEMORY_MIB {
        findings.problem(format!(
            "the machine has {found} MiB of memory, and a control plane requires {MEMORY_MIB} MiB: use a larger machine"
        ));
    }
    Ok(())
}

pub(super) fn cpu(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let found = candidate.look.host.processors()?;
    if found < CPUS {
        findings
            .problem(format!("the machine has {found} CPU, and a control plane requires {CPUS}: use a larger machine"));
    }
    Ok(())
}

/// A directory that grows, and how much of its file system the kubelet wants to be free.
struct Growing {
    path: String,
    eviction_percent: Option<u64>,
}

pub(super) fn disk(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let mut seen: Vec<DiskSpace> = Vec::new();
    for Growing { path, eviction_percent } in growing(candidate) {
        let space = candidate.look.host.space(&path)?;
        // Several of them usually are on one file system: it is reported once.
        if seen.contains(&space) {
            continue;
        }
        seen.push(space);
        judge(&path, space, eviction_percent, findings);
    }
    Ok(())
}

fn growing(candidate: &Candidate<'_>) -> Vec<Growing> {
    // With thresholds of its own, the kubelet does not use the default ones.
    let has_thresholds = candidate.node.kubelet().contains_key("evictionHard");
    let eviction = |percent| (!has_thresholds).then_some(percent);
    let images = candidate.report().and_then(|report| report.root.clone());
    let images = images.unwrap_or_else(|| {
        let is_crio = candidate.node.socket().contains("crio");
        if is_crio { "/var/lib/containers" } else { "/var/lib/containerd" }.to_owned()
    });
    let mut growing = vec![
        Growing { path: images, eviction_percent: eviction(EVICTION_IMAGES_PERCENT) },
        Growing {
            path: objects::kubernetes_paths::KUBELET.to_owned(),
            eviction_percent: eviction(EVICTION_NODE_PERCENT),
        },
        Growing { path: STATE_DIR.to_owned(), eviction_percent: None },
    ];
    if candidate.node.is_control_plane() {
        growing.push(Growing { path: candidate.node.etcd_data().to_owned(), eviction_percent: None });
    }
    growing
}

fn judge(path: &str, space: DiskSpace, eviction_percent: Option<u64>, findings: &mut Findings) {
    let path = objects::one_line(path);
    let percent = |part: u64, all: u64| part.saturating_mul(100).checked_div(all).unwrap_or(100);
    let (free, free_inodes) = (percent(space.available, space.bytes), percent(space.available_inodes, space.inodes));
    if space.available < FREE_BYTES {
        findings.problem(format!(
            "the file system of {path} has {} MiB free, and 1 GiB is required: free some space, or mount a larger file system",
            space.available >> 20
        ));
    }
    if free_inodes < FREE_INODES_PERCENT {
        findings.problem(format!(
            "the file system of {path} has {free_inodes} % of its inodes free, and {FREE_INODES_PERCENT} % are required: \
             delete files, or mount a larger file system"
        ));
    }
    if let Some(threshold) = eviction_percent.filter(|threshold| free < *threshold && space.available >= FREE_BYTES) {
        findings.remark(format!(
            "the file system of {path} has {free} % free: below {threshold} % the kubelet evicts pods by default"
        ));
    }
}
