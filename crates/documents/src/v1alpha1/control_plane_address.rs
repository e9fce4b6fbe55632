//! Where a control plane is reached: its endpoint, and the address of one machine.
use core::net::IpAddr;

/// Whether other machines can reach an address; kubeadm replaces some of the others by one of its own choice.
pub(super) fn is_reachable(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(address.is_loopback() || address.is_unspecified() || address.is_multicast() || is_link_local)
}

/// Whether a text is `host:port`.
pub(super) fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host_is_fine =
        !host.is_empty() && !host.contains(['/', '@', ' ']) && (host.starts_with('[') || !host.contains(':'));
    host_is_fine && port.parse::<u16>().is_ok_and(|port| port > 0)
}
