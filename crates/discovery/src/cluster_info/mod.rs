//! ClusterInfo: where a cluster is and which roots it has, as a kubeconfig that holds nothing else.
mod credentials;
mod members;
mod read;

use crate::{
    certificate::{Certificate, NoCertificates, bundle},
    endpoint::{Endpoint, NoEndpoint},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use objects::{ConfigMap, ObjectMeta, Resource, yaml};

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

/// Where a cluster is and how to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterInfo {
    /// The https URL of its API server.
    pub server: String,
    /// Its roots as a PEM bundle; empty means those of the system.
    pub roots: Vec<u8>,
    /// The name that the server's certificate is for, where it isn't the host of the URL.
    pub tls_server_name: Option<String>,
}

impl ClusterInfo {
    /// The address of its API server.
    pub fn endpoint(&self) -> Result<Endpoint, NoEndpoint> {
        Endpoint::from_url(&self.server).map(|endpoint| endpoint.verified_as(self.tls_server_name.clone()))
    }

    /// Its roots; none means those of the system.
    pub fn certificates(&self) -> Result<Vec<Certificate>, NoCertificates> {
        if self.roots.is_empty() { Ok(Vec::new()) } else { bundle(&self.roots) }
    }

    /// The kubeconfig with one unnamed cluster, byte for byte as kubeadm writes it.
    pub fn kubeconfig(&self) -> String {
        let mut cluster = String::new();
        if !self.roots.is_empty() {
            cluster.push_str(&format!("    certificate-authority-data: {}\n", STANDARD.encode(&self.roots)));
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
            let roots = include_bytes!("../../tests/vectors/real/pki/ca.crt").to_vec();
            let info = ClusterInfo { server: "https://[::1]:6443".to_owned(), roots, tls_server_name: name };
            let again = read(info.kubeconfig().as_bytes(), Origin::Signed).unwrap();
            assert_eq!(again, Read { info, roots_file: None });
        }
    }

    #[test]
    fn cluster_info_has_its_well_known_place() {
        assert_eq!(path(), "/api/v1/namespaces/kube-public/configmaps/cluster-info");
    }
}
