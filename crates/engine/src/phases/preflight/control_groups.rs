//! Control groups: a version that the kubelet accepts, with its controllers.
use super::{findings::Findings, node::Candidate};
use crate::{PlanError, phases::tolerated_checks::accepts_cgroup_v1};
use host::CgroupVersion;
use kubeadm::preflight_checks::refuses_cgroup_v1;

/// The controllers that the kubelet needs in either version.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuset", "memory", "pids"];

pub(super) fn cgroups(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let found = candidate.look.host.cgroups()?;
    let is_refused = found.version == CgroupVersion::V1 && candidate.kubelet_minor().is_some_and(refuses_cgroup_v1);
    if is_refused && !accepts_cgroup_v1(candidate.node.kubelet()) {
        findings.problem(
            "control groups have version 1, which the kubelet refuses since 1.35: boot with \
             systemd.unified_cgroup_hierarchy=1, or set kubelet.failCgroupV1 to false for the cluster and tolerate cgroups",
        );
    }
    let missing: Vec<_> = CONTROLLERS.into_iter().filter(|name| !found.controllers.contains(*name)).collect();
    if !missing.is_empty() {
        findings.problem(format!(
            "controllers of control groups are missing: {}: enable them in the kernel, for example with \
             cgroup_enable=memory on its command line",
            missing.join(", ")
        ));
    }
    Ok(())
}
