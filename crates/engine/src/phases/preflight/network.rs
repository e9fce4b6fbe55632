//! Ports that must be free, and names that must have an address.
use super::{
    findings::Findings,
    node::{Candidate, Node},
};
use crate::PlanError;
use discovery::Endpoint;
use documents::v1alpha1::JoinDiscovery;
use std::{net::IpAddr, time::Duration};

/// The ports of a control plane beside that of the API server: etcd, kubelet, controller-manager, scheduler.
const CONTROL_PLANE_PORTS: [u16; 5] = [2379, 2380, 10250, 10257, 10259];
/// The port of a worker: the kubelet.
const WORKER_PORTS: [u16; 1] = [10250];
const HOSTS: &str = "/etc/hosts";
/// How long the resolver may take for a name.
const RESOLVED: Duration = Duration::from_secs(10);

pub(super) fn ports(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let ports = match candidate.node {
        Node::ControlPlane(wanted) => [&[wanted.settings.port()], &CONTROL_PLANE_PORTS[..]].concat(),
        Node::Worker(_) => WORKER_PORTS.to_vec(),
    };
    for port in ports {
        if candidate.look.host.listens(port)? {
            findings.problem(format!(
                "port {port} is in use by another program: find it with ss -ltnp 'sport = :{port}', and stop it"
            ));
        }
    }
    Ok(())
}

pub(super) fn name_resolution(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let hosts = candidate.look.file(HOSTS)?.map(|file| String::from_utf8_lossy(file.contents.expose()).into_owned());
    let hosts = hosts.unwrap_or_default();
    // What is listed there needs no resolver: where nothing may be asked, nothing is.
    let resolves = |name: &str| {
        let is_known = name.parse::<IpAddr>().is_ok() || lists(&hosts, name);
        if is_known { Ok(true) } else { candidate.look.host.resolves(name, RESOLVED) }
    };
    match candidate.node {
        Node::ControlPlane(wanted) => {
            let endpoint = wanted.control_plane_endpoint.as_deref().map(host_of);
            if let Some(name) = endpoint.filter(|name| !name.is_empty())
                && !resolves(name)?
            {
                findings.problem(format!(
                    "the host {name} of controlPlaneEndpoint has no address: add it to the name server, or to {HOSTS} with \
                     a FilesConfig"
                ));
            }
        }
        // Discovery asks until they do.
        Node::Worker(wanted) => {
            let JoinDiscovery::Token { endpoints, .. } = &wanted.discovery else {
                return own_name(candidate, &resolves, findings);
            };
            for name in endpoints.iter().map(Endpoint::authority) {
                let name = host_of(&name);
                if !resolves(name)? {
                    findings.remark(format!("the endpoint {name} has no address yet"));
                }
            }
        }
    }
    own_name(candidate, &resolves, findings)
}

/// kubeadm warns of a node whose own name has no address.
fn own_name(
    candidate: &Candidate<'_>,
    resolves: &dyn Fn(&str) -> host::Result<bool>,
    findings: &mut Findings,
) -> Result<(), PlanError> {
    let host = candidate.look.host.sysctl("kernel/hostname")?.map(|name| name.trim().to_lowercase());
    let name = candidate.node.name().map(str::to_owned).or(host).unwrap_or_default();
    if !name.is_empty() && !resolves(&name)? {
        findings
            .remark(format!("the name {} of this node has no address; add it to {HOSTS}", objects::one_line(&name)));
    }
    Ok(())
}

/// The host of `host:port`, without the brackets of an IPv6 address.
pub(super) fn host_of(endpoint: &str) -> &str {
    let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Whether a line of hosts(5) names a host.
fn lists(hosts: &str, name: &str) -> bool {
    let names = hosts.lines().map(|line| line.split('#').next().unwrap_or_default());
    names.flat_map(|line| line.split_whitespace().skip(1)).any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_endpoints() {
        for (endpoint, host) in
            [("a.example:6443", "a.example"), ("[fd00::1]:6443", "fd00::1"), ("10.0.0.1:1", "10.0.0.1")]
        {
            assert_eq!(host_of(endpoint), host);
        }
    }

    #[test]
    fn comments_and_addresses_are_no_names() {
        let hosts = "127.0.0.1 localhost\n# 10.0.0.2 cp\n10.0.0.1 Node-7 node-7.example # w1\n";
        assert_eq!(
            ["node-7", "cp", "w1", "10.0.0.1", "node-7.example"].map(|name| lists(hosts, name)),
            [true, false, false, false, true]
        );
    }
}
