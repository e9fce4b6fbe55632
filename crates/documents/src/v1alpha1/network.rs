//! Networks in CIDR notation, such as `10.244.0.0/16`.
use std::{net::IpAddr, str::FromStr};

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    prefix_length: u8,
}

/// The text is not a network in CIDR notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoNetwork;

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let (address, length) = text.split_once('/').ok_or(NoNetwork)?;
        let address: IpAddr = address.parse().map_err(|_| NoNetwork)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix_length = length.parse().ok().filter(|length| *length <= longest).ok_or(NoNetwork)?;
        Ok(Self { address, prefix_length })
    }
}

impl Network {
    /// Whether both have addresses of the same family.
    pub(crate) fn is_same_family(&self, other: &Self) -> bool {
        self.address.is_ipv4() == other.address.is_ipv4()
    }

    /// Whether an address is in both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let differing = match (self.address, other.address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
            (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
            _ => return false,
        };
        differing >= u32::from(self.prefix_length.min(other.prefix_length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_overlap_where_the_shorter_prefix_is_the_same() {
        let overlap = |one: &str, other: &str| {
            let [one, other]: [Network; 2] = [one, other].map(|text| text.parse().unwrap());
            assert_eq!(one.overlaps(&other), other.overlaps(&one));
            one.overlaps(&other)
        };
        assert!(overlap("10.96.0.0/12", "10.100.0.0/16") && overlap("10.0.0.1/32", "0.0.0.0/0"));
        assert!(overlap("fd00::/64", "fd00::1/128") && overlap("10.244.0.7/16", "10.244.0.0/16"));
        assert!(!overlap("10.96.0.0/12", "10.112.0.0/16") && !overlap("fd00:0:0:1::/64", "fd00::/64"));
        assert!(!overlap("0.0.0.0/0", "::/0"), "families have no address in common");
    }

    #[test]
    fn a_network_has_an_address_and_a_prefix_that_fits() {
        for text in ["10.0.0.0", "10.0.0.0/33", "fd00::/129", "x/8", "10.0.0.0/", "10.0.0.0/-1", ""] {
            assert_eq!(text.parse::<Network>(), Err(NoNetwork), "{text}");
        }
    }
}
