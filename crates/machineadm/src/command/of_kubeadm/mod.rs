//! kubeadm's documents in our own terms: an InitConfig or a JoinConfig, and by name every field that has no place there.
//!
//! ```text
//!  kubeadm's file ──crates/kubeadm──▶ hub ──▶ InitConfig or JoinConfig
//!  (any API version)                      └──▶ ImportReport: unsupported fields, notes
//! ```
//!
//! `init --config`, `join --config` and `config import` share this one conversion. It reads no files, and takes every type
//! of the hub apart by all of its fields, so that a new field does not build before it has a place here. The two commands
//! that change a machine refuse what is unsupported; `config import` lists it.
mod cluster;
mod init;
mod join;
mod node;
mod report;

pub(super) use init::init;
pub(super) use join::{ImportedJoin, join};
pub(super) use node::without_scheme;
pub(super) use report::{FieldNote, ImportReport, UnsupportedField};

use std::net::{IpAddr, Ipv6Addr};

/// The port of an API server unless another one is named.
const API_SERVER_PORT: u16 = 6443;

/// The endpoint of a cluster with its port; kubeadm's users may name a host alone.
pub(super) fn with_port(host: &str, port: Option<u16>) -> String {
    let port = port.unwrap_or(API_SERVER_PORT);
    let is_address = host.parse::<Ipv6Addr>().is_ok();
    match host.rsplit_once(':') {
        _ if is_address => format!("[{host}]:{port}"),
        None => format!("{host}:{port}"),
        Some(_) if host.starts_with('[') && host.ends_with(']') => format!("{host}:{port}"),
        Some(_) => host.to_owned(),
    }
}

/// An address of this machine; as kubeadm reads it, `0.0.0.0` is that of the default route.
pub(super) fn own_address(text: Option<String>) -> Option<String> {
    let is_unset = |text: &String| text.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
    set(text).filter(|text| !is_unset(text))
}

/// As kubeadm reads it, an empty text is none.
pub(super) fn set(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// The name of a node, in which kubeadm takes capital letters for small ones. Values of the instance are filled in later.
pub(super) fn node_name(text: Option<String>) -> Option<String> {
    set(text).map(|name| if name.contains('{') { name } else { name.trim().to_lowercase() })
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
        ] {
            assert_eq!(with_port(given, Some(6444)), wanted);
        }
        assert_eq!(with_port("a", None), "a:6443");
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
}
