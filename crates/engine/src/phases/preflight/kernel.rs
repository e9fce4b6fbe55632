//! The kernel: swap, forwarding, modules.
use super::{
    findings::Findings,
    network::host_of,
    node::{Candidate, Node},
};
use crate::{PlanError, Step};
use discovery::Endpoint;
use documents::v1alpha1::{self, JoinDiscovery};
use host::{Change, Inspect};
use kubeadm::preflight_checks::wants_bridge;
use serde_json::Value;
use std::net::IpAddr;

const FORWARDING: (&str, &str) = ("net.ipv4.ip_forward", "net/ipv4/ip_forward");
const FORWARDING_6: (&str, &str) = ("net.ipv6.conf.default.forwarding", "net/ipv6/conf/default/forwarding");
const BRIDGE: (&str, &str) = ("net.bridge.bridge-nf-call-iptables", "net/bridge/bridge-nf-call-iptables");
/// The file system that containers are made of.
const OVERLAY: &str = "overlay";

pub(super) fn swap(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    if candidate.node.kubelet().get("failSwapOn") == Some(&Value::Bool(false)) {
        return Ok(());
    }
    let areas = candidate.look.host.swaps()?;
    if !areas.is_empty() {
        findings.problem(format!(
            "swap is on ({}), which the kubelet refuses: turn it off with swapoff -a and in /etc/fstab, or set \
             kubelet.failSwapOn to false",
            objects::one_line(&areas.join(", "))
        ));
    }
    Ok(())
}

pub(super) fn ip_forward(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let (uses_ipv4, uses_ipv6) = match candidate.node {
        Node::Init(wanted) => control_plane_families(wanted),
        Node::Join(wanted) => worker_families(wanted, candidate.look.host)?,
    };
    for (key, path) in [uses_ipv4.then_some(FORWARDING), uses_ipv6.then_some(FORWARDING_6)].into_iter().flatten() {
        is_set(key, path, candidate, findings)?;
    }
    Ok(())
}

/// The address families of a worker, IPv4 and IPv6, as kubeadm sees them: those of the endpoints. Where these are names,
/// that of the machine's default route.
fn worker_families(wanted: &v1alpha1::Join, host: &dyn Inspect) -> host::Result<(bool, bool)> {
    let endpoints = match &wanted.discovery {
        JoinDiscovery::Token { endpoints, .. } => endpoints.iter().map(Endpoint::authority).collect(),
        JoinDiscovery::File { .. } => Vec::new(),
    };
    let mut addresses: Vec<IpAddr> = endpoints.iter().filter_map(|endpoint| host_of(endpoint).parse().ok()).collect();
    if addresses.is_empty() {
        addresses.extend(host.address_towards(None)?);
    }
    let has_ipv6 = addresses.iter().any(IpAddr::is_ipv6);
    Ok((!has_ipv6 || addresses.iter().any(IpAddr::is_ipv4), has_ipv6))
}

/// The address families of a cluster, as kubeadm sees them. Without networks of services there are those of IPv4.
fn control_plane_families(wanted: &v1alpha1::Init) -> (bool, bool) {
    let networks = wanted.pod_subnets.iter().chain(&wanted.service_subnets);
    let has_ipv6 = networks.clone().any(|network| network.contains(':'));
    let has_ipv4 = wanted.service_subnets.is_empty() || networks.clone().any(|network| !network.contains(':'));
    let address = wanted.advertise_address;
    (
        has_ipv4 || address.is_some_and(|address| address.is_ipv4()),
        has_ipv6 || address.is_some_and(|address| address.is_ipv6()),
    )
}

pub(super) fn modules(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let look = candidate.look;
    let loads = |step: &Step| matches!(step, Step::Ensure(Change::LoadModule { name }) if name == OVERLAY);
    if !look.host.provides_module(OVERLAY)? && look.waits_for(loads).is_none() {
        findings.problem(
            "the kernel has no overlay file system, which containers are made of: load the module overlay, or boot a kernel \
             that has it",
        );
    }
    if candidate.kubeadm_minor().is_some_and(wants_bridge) {
        is_set(BRIDGE.0, BRIDGE.1, candidate, findings)?;
    }
    Ok(())
}

fn is_set(key: &str, path: &str, candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    if candidate.look.sysctl(path)?.as_deref() != Some("1") {
        findings.problem(format!("{key} is not 1: set it with a SysctlConfig before this document"));
    }
    Ok(())
}
