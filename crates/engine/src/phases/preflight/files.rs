//! Files of another cluster, and programs that kubeadm requires.
use super::{
    findings::Findings,
    node::{Candidate, Node},
};
use crate::{
    PlanError, Planned,
    phases::{static_pods, worker::CA_CERTIFICATE},
};
use host::PathState;
use kubeadm::preflight_checks::{refuses_static_pods, required_programs};

const MANIFESTS: &str = objects::kubernetes_paths::MANIFESTS;

/// Files with which kubeadm refuses to go on; of a worker's it would find them only after discovery.
pub(super) fn files(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let host = candidate.look.host;
    let is_full =
        |path: &str| Ok::<_, PlanError>(matches!(host.state_at(path)?, PathState::Directory { entries: 1.., .. }));
    match candidate.node {
        // A machine that shall be a control plane node may have the certificates of its cluster.
        _ if candidate.node.is_control_plane() => {
            let data = candidate.node.etcd_data();
            if is_full(data)? {
                findings.problem(format!(
                    "{data} is not empty: kubeadm refuses a machine with the data of another cluster; run machineadm reset, or \
                     move the data away"
                ));
            }
            if let Some(patches) = candidate.node.patches()
                && !is_directory(candidate, patches)?
            {
                findings.problem(format!(
                    "{patches} is not a directory: kubeadm reads its patches there; create it with a FilesConfig, or remove \
                     `patches`"
                ));
            }
        }
        Node::Init(_) | Node::Join(_) => {
            if host.exists(CA_CERTIFICATE)? {
                findings.problem(format!(
                    "{CA_CERTIFICATE} exists: kubeadm refuses to join a machine with files of another cluster; run machineadm \
                     reset, or delete the file"
                ));
            }
            let is_refused = candidate.kubeadm_minor().is_some_and(refuses_static_pods) && is_full(MANIFESTS)?;
            // kubeadm is told to ignore pods of this configuration.
            if is_refused && !static_pods::are_ours(candidate.look)? {
                findings.problem(format!(
                    "{MANIFESTS} is not empty: this kubeadm refuses to join a machine with static pods; run machineadm reset, \
                     or delete the files"
                ));
            }
        }
    }
    Ok(())
}

/// Whether there is a directory, or an earlier document creates it.
fn is_directory(candidate: &Candidate<'_>, path: &str) -> Result<bool, PlanError> {
    Ok(matches!(candidate.look.state_after(&Planned::default(), path)?, PathState::Directory { .. }))
}

pub(super) fn programs(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let Some(minor) = candidate.kubeadm_minor() else { return Ok(()) };
    let mut missing = Vec::new();
    for program in required_programs(minor) {
        if !candidate.look.host.has_program(program)? {
            missing.push(program);
        }
    }
    if !missing.is_empty() {
        findings.problem(format!(
            "programs that kubeadm 1.{minor} requires are not installed: {}: install their packages",
            missing.join(", ")
        ));
    }
    Ok(())
}
