//! ClusterInfo: where a cluster is and which roots it has, as a kubeconfig that holds nothing else.
mod credentials;
mod kubeconfig;
mod members;
mod read;

use crate::{
    certificate::CaBundle,
    endpoint::{Endpoint, is_dns_name},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use objects::{ConfigMap, ObjectMeta, Resource, yaml};
use std::net::IpAddr;

pub use kubeconfig::DiscoveryKubeconfig;
pub use read::{Origin, Problem, Read, read};

/// The namespace of the ConfigMap.
pub const NAMESPACE: &str = "kube-public";
/// Its name.
pub const NAME: &str = "cluster-info";
/// The key of the kubeconfig.
pub const KUBECONFIG_KEY: &str = "kubeconfig";
/// What keys of signatures begin with; a token's id follows.
pub const SIGNATURE_PREFIX: &str = "jws-kubeconfig-";

/// The path at which every cluster shows its ClusterInfo to everybody.
pub fn path() -> String {
    ConfigMap::path_of(NAMESPACE, NAME)
}

/// Where a cluster is and how to know it. Whoever holds one need not check its address or its roots again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterInfo {
    /// As it was written.
    server: String,
    endpoint: Endpoint,
    roots: CaBundle,
    tls_server_name: Option<String>,
}

impl ClusterInfo {
    /// A cluster by the https URL of its API server, its roots, and the name that the server's certificate is for, where
    /// it isn't the host of the URL.
    pub fn new(server: String, roots: CaBundle, tls_server_name: Option<String>) -> Result<Self, Vec<Problem>> {
        let is_name = |name: &String| is_dns_name(name) || name.parse::<IpAddr>().is_ok();
        let misnamed = tls_server_name.as_ref().is_some_and(|name| !is_name(name)).then_some(Problem::ServerName);
        match (Endpoint::from_url(&server), misnamed) {
            (Ok(endpoint), None) => {
                let endpoint = endpoint.verified_as(tls_server_name.clone());
                Ok(Self { server, endpoint, roots, tls_server_name })
            }
            (endpoint, misnamed) => Err(endpoint.err().map(Problem::Server).into_iter().chain(misnamed).collect()),
        }
    }

    /// The https URL of its API server, as it was written.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The address of its API server, with the name that the server's certificate must be for.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Its roots; none means those of the system.
    pub fn roots(&self) -> &CaBundle {
        &self.roots
    }

    /// The name that the server's certificate is for, where it isn't the host of the URL.
    pub fn tls_server_name(&self) -> Option<&str> {
        self.tls_server_name.as_deref()
    }

    /// The same cluster with these roots.
    pub(crate) fn with_roots(self, roots: CaBundle) -> Self {
        Self { roots, ..self }
    }

    /// The kubeconfig with one unnamed cluster, byte for byte as kubeadm writes it.
    pub fn kubeconfig(&self) -> String {
        let mut cluster = String::new();
        if !self.roots.is_empty() {
            cluster.push_str(&format!("    certificate-authority-data: {}\n", STANDARD.encode(self.roots.pem())));
        }
        cluster.push_str(&format!("    server: {}\n", scalar(&self.server)));
        if let Some(name) = &self.tls_server_name {
            cluster.push_str(&format!("    tls-server-name: {}\n", scalar(name)));
        }
        format!(
            "apiVersion: v1\nclusters:\n- cluster:\n{cluster}  name: \"\"\ncontexts: null\n\
             current-context: \"\"\nkind: Config\nusers: null\n"
        )
    }

    /// The ConfigMap that shows it to everybody. The signer adds signatures.
    pub fn config_map(&self) -> ConfigMap {
        let data = [(KUBECONFIG_KEY.to_owned(), self.kubeconfig())].into();
        ConfigMap::new(ObjectMeta::named_in(NAMESPACE, NAME), data)
    }
}

/// A text in YAML: plain where that says the same.
fn scalar(text: &str) -> String {
    let is_plain = yaml::value(text).is_ok_and(|value| value == text) && !text.contains('\n');
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for name in [None, Some("kubernetes".to_owned()), Some("true".to_owned())] {
            let roots = CaBundle::read(include_bytes!("../../tests/vectors/real/pki/ca.crt").to_vec()).unwrap();
            let info = ClusterInfo::new("https://[::1]:6443".to_owned(), roots, name.clone()).unwrap();
            assert_eq!(info.endpoint().server_name(), name.unwrap_or_else(|| "::1".to_owned()));
            let again = read(info.kubeconfig().as_bytes(), Origin::Signed).unwrap();
            assert_eq!(again, Read { info, roots_file: None });
        }
    }

    #[test]
    fn a_cluster_has_an_https_address_and_a_name_that_a_certificate_can_have() {
        let new = |server: &str, name: Option<&str>| {
            ClusterInfo::new(server.to_owned(), CaBundle::default(), name.map(str::to_owned)).err()
        };
        assert_eq!(new("https://a", Some("::1")), None);
        let not_https = Problem::Server(crate::endpoint::NoEndpoint::NotHttps);
        assert_eq!(new("http://a", Some("a b")), Some(vec![not_https, Problem::ServerName]));
        assert_eq!(new("https://a", Some("a b")), Some(vec![Problem::ServerName]));
    }

    #[test]
    fn cluster_info_has_its_well_known_place() {
        assert_eq!(path(), "/api/v1/namespaces/kube-public/configmaps/cluster-info");
    }
}
