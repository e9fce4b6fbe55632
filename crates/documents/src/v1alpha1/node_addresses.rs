//! Addresses of a node, one of each family at most.
use super::instance_value::{has_instance_values, instance_value_problem};
use crate::{findings::Findings, path::item};
use std::net::IpAddr;

const HERE: &str = "spec.nodeAddresses";

/// Reports invalid addresses; what only the machine knows is checked when it is known.
pub(super) fn check(addresses: &[String], findings: &mut Findings<'_>) {
    let known = addresses.iter().enumerate().filter(|(_, address)| !has_instance_values(address));
    let known: Vec<(usize, &str)> = known.map(|(index, address)| (index, address.as_str())).collect();
    for (index, text) in addresses.iter().enumerate() {
        let problem = match has_instance_values(text) {
            true => instance_value_problem(text),
            false => node_address_problem(text),
        };
        let earlier = known.iter().take_while(|(other, _)| *other < index);
        let is_second = earlier.filter(|(_, other)| is_v4(other) == is_v4(text)).count() > 0;
        let is_second = is_second && !has_instance_values(text);
        if let Some(problem) = problem.or((is_second || index > 1).then_some(ONE_OF_EACH)) {
            findings.error(&item(HERE, index), problem);
        }
    }
}

const ONE_OF_EACH: &str = "must be at most one address of each family, IPv4 and IPv6";

/// Why a text is no address of a node.
pub fn node_address_problem(text: &str) -> Option<&'static str> {
    let Ok(address) = text.parse::<IpAddr>() else { return Some("must be an IP address") };
    let is_no_node = address.is_loopback() || address.is_unspecified() || address.is_multicast();
    is_no_node.then_some("must be an address at which other machines reach this one")
}

fn is_v4(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4())
}
