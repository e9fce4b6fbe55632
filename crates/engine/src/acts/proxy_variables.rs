//! Proxy variables for kubeadm: those of the ProxyConfig that asks for it, with the cluster's own addresses left out of
//! the proxy. kubeadm copies each of them into the static pods of a control plane.
use crate::{Wanted, fingerprint::Parts};
use documents::{AnyDocument, Secret, v1alpha1::Proxy};
use std::collections::{BTreeMap, BTreeSet};

/// Variables of one program.
pub(crate) type Variables = BTreeMap<String, Secret<String>>;

/// The names that hold destinations without the proxy; programs disagree about their case.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// What is never behind a proxy: this machine, and names inside of the cluster.
const NEVER: [&str; 5] = ["localhost", "127.0.0.1", "::1", ".svc", ".cluster.local"];

/// The variables of the last ProxyConfig for kubeadm; none without one.
pub(crate) fn given(wanted: &Wanted) -> Variables {
    let mut proxies = wanted.documents.iter().filter_map(|document| match &document.body {
        AnyDocument::Proxy(proxy) if proxy.kubeadm => Some(proxy),
        _ => None,
    });
    proxies.next_back().map_or_else(Variables::new, |Proxy { variables, .. }| variables.iter().cloned().collect())
}

/// The same variables, with these destinations reached without the proxy, beside those that the document names.
pub(crate) fn without_proxy_to(variables: &Variables, destinations: &[String]) -> Variables {
    if variables.is_empty() {
        return Variables::new();
    }
    let given = variables.get(NO_PROXY[0]).map(|value| value.expose().as_str()).unwrap_or_default();
    let all = given.split(',').chain(NEVER).chain(destinations.iter().map(String::as_str));
    let mut seen = BTreeSet::new();
    let entries: Vec<&str> = all.filter(|entry| !entry.is_empty() && seen.insert(*entry)).collect();
    let mut extended = variables.clone();
    for name in NO_PROXY {
        extended.insert(name.to_owned(), Secret::new(entries.join(",")));
    }
    extended
}

/// The host of `host:port`, as these variables name it: without port and brackets.
pub(crate) fn host_of(endpoint: &str) -> String {
    let host = match endpoint.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(':') => host,
        _ => endpoint,
    };
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

/// For a reviewed plan.
pub(crate) fn compare(variables: &Variables, parts: &mut Parts) {
    for (name, value) in variables {
        parts.text(name).text(value.expose());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(entries: &[(&str, &str)]) -> Variables {
        entries.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect()
    }

    #[test]
    fn the_clusters_own_addresses_join_those_of_the_document_once() {
        let given = variables(&[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", ".example.com,10.96.0.0/12")]);
        let extended = without_proxy_to(&given, &["10.0.0.10".to_owned(), "10.96.0.0/12".to_owned()]);
        let wanted = ".example.com,10.96.0.0/12,localhost,127.0.0.1,::1,.svc,.cluster.local,10.0.0.10";
        let entries = [("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", wanted), ("no_proxy", wanted)];
        assert_eq!(extended, variables(&entries));
    }

    #[test]
    fn without_a_proxy_nothing_is_set() {
        assert_eq!(without_proxy_to(&Variables::new(), &["10.0.0.10".to_owned()]), Variables::new());
    }

    #[test]
    fn an_endpoint_is_named_by_its_host() {
        let hosts = ["10.0.0.10:6443", "[fd00::1]:6443", "api.example.com", "fd00::1", "api.example.com:443"];
        let wanted = ["10.0.0.10", "fd00::1", "api.example.com", "fd00::1", "api.example.com"];
        assert_eq!(hosts.map(host_of), wanted);
    }
}
