//! Address ranges of services and pods: their form, their families and their sizes.
use super::At;
use crate::hub::{Arg, ClusterConfiguration};
use std::net::IpAddr;

/// Larger ranges of services are refused.
const SERVICE_BITS: u8 = 20;
/// Smaller ranges of services are refused.
const SERVICE_ADDRESSES: u128 = 10;
/// The node's share of the pods' addresses may be longer than the whole by so much.
const NODE_MASK_DIFFERENCE: u8 = 16;

const DEFAULT_SERVICE_SUBNET: &str = "10.96.0.0/12";
const FORM: &str = "must be an address range such as 10.96.0.0/12, or two of different families separated by a comma";

pub(super) fn subnets(cluster: &ClusterConfiguration, at: &mut At<'_>) {
    let (services, pods) = (range(&cluster.networking.service_subnet), range(&cluster.networking.pod_subnet));
    let services = match services.map(parse) {
        Some(None) => {
            at.at("serviceSubnet").refuse(FORM);
            None
        }
        Some(Some(subnets)) => {
            subnets.iter().for_each(|subnet| service_size(subnet, &mut at.at("serviceSubnet")));
            Some(subnets)
        }
        None => parse(DEFAULT_SERVICE_SUBNET),
    };
    let Some(pods) = pods else { return };
    let mut at = at.at("podSubnet");
    let Some(pods) = parse(pods) else { return at.refuse(FORM) };
    pod_sizes(&pods, &cluster.controller_manager.extra_args, &mut at);
    if services.iter().flatten().any(|services| pods.iter().any(|pods| pods.overlaps(services))) {
        at.warn("overlaps the service subnet (10.96.0.0/12 by default): such addresses cannot be reached");
    }
}

fn range(subnet: &Option<String>) -> Option<&str> {
    subnet.as_deref().filter(|text| !text.is_empty())
}

struct Subnet {
    address: IpAddr,
    length: u8,
}

impl Subnet {
    const fn is_v4(&self) -> bool {
        self.address.is_ipv4()
    }

    fn bits(&self) -> u8 {
        if self.is_v4() { 32 - self.length } else { 128 - self.length }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let same_bits = match (self.address, other.address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
            (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
            _ => return false,
        };
        same_bits >= u32::from(self.length.min(other.length))
    }
}

fn parse(text: &str) -> Option<Vec<Subnet>> {
    let subnets: Option<Vec<Subnet>> = text.split(',').map(parse_one).collect();
    subnets.filter(|subnets| match &subnets[..] {
        [_] => true,
        [first, second] => first.is_v4() != second.is_v4(),
        _ => false,
    })
}

fn parse_one(text: &str) -> Option<Subnet> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length = length.parse().ok().filter(|length| *length <= if address.is_ipv4() { 32 } else { 128 })?;
    Some(Subnet { address, length })
}

fn service_size(subnet: &Subnet, at: &mut At<'_>) {
    if subnet.bits() > SERVICE_BITS {
        at.refuse("is too large: at most 20 bits for services, as 10.96.0.0/12 has");
    } else if 1_u128 << subnet.bits() < SERVICE_ADDRESSES {
        at.refuse("is too small: at least 10 addresses are required");
    }
}

/// Each node gets a share, whose size the controller manager may be told.
fn pod_sizes(subnets: &[Subnet], arguments: &[Arg], at: &mut At<'_>) {
    let argument = |name: &str| arguments.iter().rev().find(|argument| argument.name == name);
    if argument("allocate-node-cidrs").is_some_and(|argument| argument.value == "false") {
        return;
    }
    for subnet in subnets {
        let (own, usual) =
            if subnet.is_v4() { ("node-cidr-mask-size-ipv4", 24) } else { ("node-cidr-mask-size-ipv6", 64) };
        let told = argument(own).or_else(|| argument("node-cidr-mask-size").filter(|_| subnets.len() == 1));
        let share = told.and_then(|argument| argument.value.parse().ok()).unwrap_or(usual);
        if subnet.length > share {
            at.refuse("is too small: a node's share is larger than the whole");
        } else if share - subnet.length > NODE_MASK_DIFFERENCE {
            at.refuse("is too large for the size of a node's share");
        }
    }
}
