//! Which addresses a request may go to: judged by the address that would be connected to, not by its name.
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The special addresses that are allowed; ordinary ones always are, multicast and broadcast never.
///
/// Checked after names are resolved, for every address and again for every redirect, so that a name that changes its
/// address does not help. A name with one forbidden address is refused whole. Through a proxy the proxy resolves names,
/// so that only addresses written in the URL can be checked; the proxy's own address is the operator's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// This machine: `127.0.0.0/8`, `::1`, and the unspecified addresses, which lead here too.
    pub loopback: bool,
    /// Link-local addresses, and the addresses elsewhere at which clouds serve a machine's metadata.
    pub link_local: bool,
}

impl Reach {
    /// Ordinary addresses and all special ones that a request can go to.
    pub const ANYWHERE: Self = Self { loopback: true, link_local: true };

    /// What kind of forbidden place an address is; `None` when it may be reached.
    pub fn forbids(&self, address: IpAddr) -> Option<Place> {
        let place = place(address)?;
        let allowed = match place {
            Place::Loopback => self.loopback,
            Place::LinkLocal | Place::Metadata => self.link_local,
            Place::Multicast => false,
        };
        (!allowed).then_some(place)
    }
}

/// A kind of special address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// This machine.
    Loopback,
    /// The link that this machine is on.
    LinkLocal,
    /// A cloud's metadata service.
    Metadata,
    /// Many machines.
    Multicast,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "this machine itself",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud's metadata address",
            Self::Multicast => "a multicast or broadcast address",
        })
    }
}

/// Metadata services outside the link-local ranges: Alibaba, Azure's wire server, AWS, Google, Oracle.
const METADATA: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
];

/// What kind of special place an address is; `None` for an ordinary one.
pub(crate) fn place(address: IpAddr) -> Option<Place> {
    let address = embedded(address);
    if METADATA.contains(&address) {
        return Some(Place::Metadata);
    }
    match address {
        IpAddr::V4(v4) if v4.is_loopback() || v4.octets()[0] == 0 => Some(Place::Loopback),
        IpAddr::V4(v4) if v4.is_link_local() => Some(Place::LinkLocal),
        IpAddr::V4(v4) if v4.is_multicast() || v4.is_broadcast() => Some(Place::Multicast),
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unspecified() => Some(Place::Loopback),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => Some(Place::LinkLocal),
        IpAddr::V6(v6) if v6.is_multicast() => Some(Place::Multicast),
        IpAddr::V4(_) | IpAddr::V6(_) => None,
    }
}

/// The IPv4 address inside an IPv6 address that leads to it: mapped, compatible, NAT64 or 6to4.
fn embedded(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let last = |high: u16, low: u16| IpAddr::V4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => last(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => last(high, low),
        [0x2002, high, low, ..] => last(high, low),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbidden(reach: Reach, addresses: &[&str]) -> Vec<Option<Place>> {
        addresses.iter().map(|text| reach.forbids(text.parse().expect("an address"))).collect()
    }

    #[test]
    fn this_machine_has_many_addresses() {
        let loopback = ["127.0.0.1", "127.8.9.1", "0.0.0.0", "0.1.2.3", "::1", "::", "::ffff:127.0.0.1", "::127.0.0.1"];
        assert_eq!(forbidden(Reach::default(), &loopback), [Some(Place::Loopback); 8]);
        assert_eq!(forbidden(Reach { loopback: true, link_local: false }, &loopback), [None; 8]);
    }

    #[test]
    fn metadata_counts_as_link_local_however_it_is_written() {
        let links = ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"];
        assert_eq!(forbidden(Reach::default(), &links), [Some(Place::LinkLocal); 5]);
        let metadata = ["fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "::ffff:168.63.129.16"];
        assert_eq!(forbidden(Reach::default(), &metadata), [Some(Place::Metadata); 5]);
        let allowed = Reach { loopback: false, link_local: true };
        assert_eq!(forbidden(allowed, &[&links[..], &metadata[..]].concat()), [None; 10]);
    }

    #[test]
    fn multicast_and_broadcast_are_never_reached() {
        let many = ["224.0.0.1", "255.255.255.255", "ff02::1", "::ffff:224.0.0.1"];
        assert_eq!(forbidden(Reach::ANYWHERE, &many), [Some(Place::Multicast); 4]);
    }

    #[test]
    fn ordinary_addresses_private_ones_included_are_reached() {
        let ordinary = ["10.0.0.1", "192.168.1.1", "203.0.113.9", "2001:db8::1", "fd12::1", "64:ff9b::0a00:1"];
        assert_eq!(forbidden(Reach::default(), &ordinary), [None; 6]);
    }
}
