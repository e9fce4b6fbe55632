//! Values as kubeadm reads them, in a file or on its command line, and as a document has them.
use crate::report::ImportReport;
use std::net::{IpAddr, Ipv6Addr};

/// The port of an API server unless another one is named.
const API_SERVER_PORT: u16 = 6443;

/// An empty text is none.
pub fn non_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// The endpoint of a cluster with its port; kubeadm's users may name a host alone.
pub fn endpoint_with_port(host: &str, port: Option<u16>) -> String {
    let port = port.unwrap_or(API_SERVER_PORT);
    let is_address = host.parse::<Ipv6Addr>().is_ok();
    match host.rsplit_once(':') {
        _ if is_address => format!("[{host}]:{port}"),
        None => format!("{host}:{port}"),
        Some(_) if host.starts_with('[') && host.ends_with(']') => format!("{host}:{port}"),
        Some(_) => host.to_owned(),
    }
}

/// The port of an API server; 0 is kubeadm's default.
pub(crate) fn api_server_port(here: &str, given: Option<i32>, report: &mut ImportReport) -> Option<u16> {
    let given = given.filter(|port| *port != 0)?;
    let port = u16::try_from(given).ok();
    if port.is_none() {
        report.refused(here, given, "must be a port from 1 to 65535");
    }
    port
}

/// An address of this machine; `0.0.0.0` is that of the default route.
pub fn own_address(text: Option<String>) -> Option<String> {
    let is_unset = |text: &String| text.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
    non_empty(text).filter(|text| !is_unset(text))
}

/// The name of a node, in which kubeadm takes capital letters for small ones. Values of the instance are filled in later.
pub fn node_name(text: Option<String>) -> Option<String> {
    non_empty(text).map(|name| if name.contains('{') { name } else { name.trim().to_lowercase() })
}

/// The path of a socket that may be written as an address.
pub fn socket_path(socket: &str) -> String {
    socket.strip_prefix("unix://").unwrap_or(socket).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_alone_gets_the_port_of_the_api_server() {
        for (given, wanted) in [
            ("api.example.com", "api.example.com:6444"),
            ("10.0.0.10", "10.0.0.10:6444"),
            ("fd00::10", "[fd00::10]:6444"),
            ("[fd00::10]", "[fd00::10]:6444"),
            ("[fd00::10]:443", "[fd00::10]:443"),
            ("api.example.com:443", "api.example.com:443"),
            // No address, and not for us to correct.
            ("[fd00::10", "[fd00::10"),
            ("fd00::x]", "fd00::x]"),
        ] {
            assert_eq!(endpoint_with_port(given, Some(6444)), wanted);
        }
        assert_eq!(endpoint_with_port("a", None), "a:6443");
    }

    #[test]
    fn a_node_is_named_as_kubeadm_names_it() {
        let named = |text: &str| node_name(Some(text.to_owned()));
        assert_eq!(named("CP1.Example ").as_deref(), Some("cp1.example"));
        assert_eq!(named("{{ ds.meta_data.Name }}").as_deref(), Some("{{ ds.meta_data.Name }}"));
        assert_eq!(named(""), None);
    }

    #[test]
    fn an_unspecified_address_is_none() {
        let own = |text: &str| own_address(Some(text.to_owned()));
        assert_eq!((own("0.0.0.0"), own("::"), own("")), (None, None, None));
        assert_eq!(own("10.0.0.1").as_deref(), Some("10.0.0.1"));
    }

    #[test]
    fn a_socket_is_a_path() {
        assert_eq!(socket_path("unix:///run/a.sock"), "/run/a.sock");
        assert_eq!(socket_path("/run/a.sock"), "/run/a.sock");
    }
}
