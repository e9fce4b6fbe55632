//! The authority of a URL: credentials, host and port, written so that every reader of URLs sees the same host.
use std::net::{Ipv4Addr, Ipv6Addr};

/// Why a text can't stand between `://` and the path; `None` when it can.
pub(crate) fn authority_problem(authority: &str) -> Option<&'static str> {
    // Browsers, and those who read URLs as they do, take it for a slash: the host would end before it.
    if authority.contains('\\') {
        return Some("must be written without `\\`; in a password write it as %5C");
    }
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match host_and_port.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (host_and_port, None),
    };
    if !is_host(host) {
        return Some(match host {
            "" => "must name a host",
            _ => "must name a host that every reader takes for the same: write an address in full, such as 127.0.0.1",
        });
    }
    match port.map(str::parse::<u16>) {
        None | Some(Ok(1..)) => None,
        Some(Ok(0) | Err(_)) => Some("must have a port between 1 and 65535"),
    }
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok();
    }
    let letters = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    letters && (!is_numeric(host) || host.parse::<Ipv4Addr>().is_ok())
}

/// Whether a host is read as an address, which also has forms that nobody recognises: `0x7f.1`, `2130706433`.
fn is_numeric(host: &str) -> bool {
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    last.bytes().all(|byte| byte.is_ascii_digit())
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::authority_problem;

    #[test]
    fn a_host_has_one_meaning() {
        for authority in
            ["a", "a.example:8443", "u:p@w@a_b.example.", "127.0.0.1", "[::1]:1", "[::ffff:1.2.3.4]", "x0x1"]
        {
            assert_eq!(authority_problem(authority), None, "{authority}");
        }
        for authority in [
            "",
            ":1",
            "u@",
            "a:0",
            "a:65536",
            "a:1:2",
            "127.0.0.1\\@a",
            "a\\",
            "%61",
            "127.1",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "127.0.0.1.",
            "1.2.3.0X",
            "[::1",
            "[v1.a]",
            "::1",
        ] {
            assert!(authority_problem(authority).is_some(), "{authority}");
        }
    }
}
