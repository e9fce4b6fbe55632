//! Networks of pods and services: one of each family, and without an address in common.
use super::network::Network;
use crate::{findings::Findings, path};

/// What kubeadm takes if there are no networks of services.
const SERVICE_SUBNET: &str = "10.96.0.0/12";

/// The networks of a list, each with its path; those that are invalid are reported and left out.
pub(super) fn networks(here: &str, subnets: &[String], findings: &mut Findings<'_>) -> Vec<(String, Network)> {
    let mut networks: Vec<(String, Network)> = Vec::new();
    for (index, subnet) in subnets.iter().enumerate() {
        let here = path::item(here, index);
        match subnet.parse::<Network>() {
            Err(_) => _ = findings.error(&here, "must be a network, such as `10.244.0.0/16`"),
            Ok(network) if networks.iter().any(|(_, earlier)| earlier.is_same_family(&network)) => {
                findings.error(&here, "must be at most one network of each family, IPv4 and IPv6");
            }
            Ok(network) => networks.push((here, network)),
        }
    }
    networks
}

/// An address that a pod and a service both have is reached by neither.
pub(super) fn check_overlap(pods: &[(String, Network)], services: &[(String, Network)], findings: &mut Findings<'_>) {
    let default = SERVICE_SUBNET.parse::<Network>();
    for (here, pod) in pods {
        if services.is_empty() && default.is_ok_and(|services| services.overlaps(pod)) {
            let message = format!("overlaps {SERVICE_SUBNET}, the default of `serviceSubnets`");
            findings.error(here, message).hint("set `serviceSubnets` as well, or use another network");
        }
        for (there, _) in services.iter().filter(|(_, service)| service.overlaps(pod)) {
            findings.error(there, format!("overlaps {here}")).hint("use networks that have no address in common");
        }
    }
}
