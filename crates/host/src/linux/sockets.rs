//! Which ports of this machine are in use, by the kernel's own tables, and from which address it sends.
use crate::{Error, Result};
use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket},
};

/// Whether something listens on a port: state 0A.
pub(super) fn listens(port: u16) -> Result<bool> {
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = match fs::read_to_string(table) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(Error::System { doing: format!("read {table}"), source }),
        };
        if lists(&text, port) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The address of the route to another one, or of the default route. A datagram socket that is connected sends nothing.
pub(super) fn address_towards(target: Option<IpAddr>) -> Option<IpAddr> {
    let targets = target.map_or_else(|| ELSEWHERE.to_vec(), |target| vec![target]);
    targets.into_iter().find_map(|target| {
        let any = if target.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        // Any port will do.
        socket.connect((target, 9)).ok()?;
        socket.local_addr().ok().map(|own| own.ip()).filter(|own| !own.is_unspecified())
    })
}

/// Addresses that nobody has (RFC 5737, RFC 3849): only the default route leads there.
const ELSEWHERE: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

fn lists(table: &str, port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    let mut rows = table.lines().skip(1).map(|row| row.split_whitespace());
    rows.any(|mut row| row.nth(1).is_some_and(|local| local.ends_with(&wanted)) && row.nth(1) == Some("0A"))
}

#[cfg(test)]
mod tests {
    use super::lists;

    #[test]
    fn only_a_listening_socket_counts() {
        let table = "  sl  local_address rem_address   st\n\
            0: 0100007F:192B 00000000:0000 0A 0\n   1: 0100007F:01BB 0100007F:192C 01 0\n";
        assert_eq!([6443, 443, 6444].map(|port| lists(table, port)), [true, false, false]);
    }
}
