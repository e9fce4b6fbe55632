//! Credentials that a joining control plane node issues itself with the certificates of the cluster, before it has any of
//! its own. kubeadm issues the same a moment later; these are valid for minutes and stay in memory.
use crate::{Cluster, Unanswered};
use base64::{Engine, prelude::BASE64_STANDARD};
use certs::{
    CertificateSet, FileName,
    client_certificate::{ClientCertificate, Subject},
};
use discovery::ClusterInfo;
use documents::Secret;
use etcd::Credentials;
use kubeadm::{KubernetesVersion, hub::ClusterConfiguration};
use serde_json::json;

/// The client by which kubeadm looks after etcd.
const ETCD_CLIENT: Subject = Subject { name: "kube-etcd-healthcheck-client", group: None };
const ADMINISTRATOR: &str = "kubernetes-admin";
/// The administrator's group in clusters that kubeadm created since 1.29; before, it was that of all rights.
const GROUP: &str = "kubeadm:cluster-admins";
const FIRST_GROUP: u32 = 29;
const MASTERS: &str = "system:masters";

/// Credentials for etcd.
pub(super) fn etcd_client(set: &CertificateSet, cluster: &dyn Cluster) -> Result<Credentials, Unanswered> {
    let (authority, key) = (content(set, FileName::EtcdCaCertificate)?, content(set, FileName::EtcdCaKey)?);
    let ClientCertificate { certificate, key } = cluster.issue(authority.expose(), key, ETCD_CLIENT)?;
    Ok(Credentials { authority: authority.expose().clone(), certificate, key })
}

/// A kubeconfig of the administrator, as kubeadm would write it.
pub(super) fn administrator(
    set: &CertificateSet,
    info: &ClusterInfo,
    configuration: &ClusterConfiguration,
    cluster: &dyn Cluster,
) -> Result<Secret<Vec<u8>>, Unanswered> {
    let version = configuration.kubernetes_version.as_deref().and_then(|text| text.parse::<KubernetesVersion>().ok());
    let is_old = version.is_some_and(|version| version.effective_minor() < FIRST_GROUP);
    let subject = Subject { name: ADMINISTRATOR, group: Some(if is_old { MASTERS } else { GROUP }) };
    let (authority, key) = (content(set, FileName::CaCertificate)?, content(set, FileName::CaKey)?);
    let ClientCertificate { certificate, key } = cluster.issue(authority.expose(), key, subject)?;
    let mut entry = json!({
        "server": info.server(),
        "certificate-authority-data": BASE64_STANDARD.encode(info.roots().pem()),
    });
    if let Some(name) = info.tls_server_name() {
        entry["tls-server-name"] = name.into();
    }
    let user = json!({
        "client-certificate-data": BASE64_STANDARD.encode(certificate),
        "client-key-data": BASE64_STANDARD.encode(key.expose()),
    });
    let text = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kubernetes", "cluster": entry}],
        "contexts": [{"name": "join", "context": {"cluster": "kubernetes", "user": ADMINISTRATOR}}],
        "current-context": "join",
        "users": [{"name": ADMINISTRATOR, "user": user}],
    });
    Ok(Secret::new(text.to_string().into_bytes()))
}

/// The content of a file of a set.
fn content(set: &CertificateSet, name: FileName) -> Result<&Secret<Vec<u8>>, Unanswered> {
    let found = set.files().iter().find(|(file, _)| file.name == name).map(|(_, content)| content);
    found.ok_or_else(|| Unanswered(format!("the certificates of the cluster lack {}", name.entry())))
}
