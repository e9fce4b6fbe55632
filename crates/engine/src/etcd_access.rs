//! The etcd of a cluster, as a control plane node reaches it: its own static pod, its client certificate, its servers.
use crate::{acts::ADMIN, api_server_manifest};
use documents::Secret;
use etcd::Credentials;
use host::Inspect;
use objects::yaml;
use serde_json::Value;
use std::net::IpAddr;

/// The static pod of this machine's member.
pub(crate) const MANIFEST: &str = objects::kubernetes_paths::ETCD_MANIFEST;
/// Where kubeadm puts certificates unless it is told otherwise.
pub(crate) const CERTIFICATES: &str = objects::kubernetes_paths::PKI;

/// The certificates directory of this control plane node, as the manifest of its API server names it.
pub(crate) fn certificates_directory(host: &dyn Inspect) -> host::Result<Option<String>> {
    let path = Flags::of_api_server(host)?.and_then(|flags| flags.last("--client-ca-file"));
    Ok(path.and_then(|path| Some(path.rsplit_once('/')?.0.to_owned())))
}

/// The address of this control plane node for others, as the manifest of its API server names it. kubeadm gives its etcd
/// the same, and writes that manifest later.
pub(crate) fn advertised_address(host: &dyn Inspect) -> host::Result<Option<IpAddr>> {
    let address = Flags::of_api_server(host)?.and_then(|flags| flags.last("--advertise-address"));
    Ok(address.and_then(|address| address.parse().ok()))
}

/// The command line of a static pod.
struct Flags(Vec<String>);

impl Flags {
    fn of_api_server(host: &dyn Inspect) -> host::Result<Option<Self>> {
        let Some(manifest) = host.file(api_server_manifest::MANIFEST)? else { return Ok(None) };
        Ok(std::str::from_utf8(manifest.contents.expose()).ok().and_then(Self::read))
    }

    fn read(manifest: &str) -> Option<Self> {
        let pod = yaml::value(manifest).ok()?;
        let command = pod["spec"]["containers"][0]["command"].as_array()?;
        Some(Self(command.iter().filter_map(Value::as_str).map(str::to_owned).collect()))
    }

    /// The last value of a flag, which counts.
    fn last(&self, name: &str) -> Option<String> {
        let value = |word: &String| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
        self.0.iter().rev().find_map(value)
    }
}

/// How the etcd of a cluster is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdAccess {
    /// A kubeconfig with the administrator's rights: the cluster says where its etcd servers are.
    pub kubeconfig: Option<Secret<Vec<u8>>>,
    /// Client URLs that are known besides.
    pub endpoints: Vec<String>,
    /// The client certificate.
    pub credentials: Credentials,
}

impl EtcdAccess {
    /// By what kubeadm leaves on a control plane node with an etcd member; `None` where that is missing.
    pub fn on(host: &dyn Inspect, certificates: &str) -> host::Result<Option<Self>> {
        let file = |name: &str| host.file(&format!("{certificates}/etcd/{name}"));
        let (authority, certificate, key) =
            (file("ca.crt")?, file("healthcheck-client.crt")?, file("healthcheck-client.key")?);
        let (Some(authority), Some(certificate), Some(key)) = (authority, certificate, key) else { return Ok(None) };
        Ok(Some(Self {
            kubeconfig: host.file(ADMIN)?.map(|file| file.contents),
            endpoints: EtcdPod::on(host)?.map(|pod| pod.client_urls).unwrap_or_default(),
            credentials: Credentials {
                authority: authority.contents.expose().clone(),
                certificate: certificate.contents.expose().clone(),
                key: key.contents,
            },
        }))
    }
}

/// What the manifest of this machine's etcd says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtcdPod {
    /// Where other members reach it.
    pub peer_url: String,
    /// Where clients reach it.
    pub client_urls: Vec<String>,
    /// Where its data is.
    pub data_directory: String,
}

impl EtcdPod {
    /// The one of this machine, if its manifest is there and can be read.
    pub fn on(host: &dyn Inspect) -> host::Result<Option<Self>> {
        let Some(manifest) = host.file(MANIFEST)? else { return Ok(None) };
        Ok(std::str::from_utf8(manifest.contents.expose()).ok().and_then(Self::read))
    }

    fn read(manifest: &str) -> Option<Self> {
        let flags = Flags::read(manifest)?;
        let flag = |name: &str| flags.last(name);
        let urls = flag("--advertise-client-urls").unwrap_or_default();
        Some(Self {
            peer_url: flag("--initial-advertise-peer-urls")?,
            client_urls: urls.split(',').filter(|url| !url.is_empty()).map(str::to_owned).collect(),
            data_directory: flag("--data-dir")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "\
apiVersion: v1
kind: Pod
spec:
  containers:
  - command:
    - etcd
    - --advertise-client-urls=https://10.50.0.2:2379
    - --data-dir=/var/lib/etcd
    - --initial-advertise-peer-urls=https://10.50.0.2:2380
    - --initial-cluster=cp1=https://10.50.0.1:2380,cp2=https://10.50.0.2:2380
";

    #[test]
    fn a_manifest_says_where_a_member_is_and_where_its_data_is() {
        let pod = EtcdPod::read(POD).unwrap();
        assert_eq!(pod.peer_url, "https://10.50.0.2:2380");
        assert_eq!(pod.client_urls, ["https://10.50.0.2:2379"]);
        assert_eq!(pod.data_directory, "/var/lib/etcd");
    }

    #[test]
    fn what_is_no_manifest_of_etcd_says_nothing() {
        for text in ["", "a: b", "spec: {containers: [{command: [etcd]}]}", "{"] {
            assert_eq!(EtcdPod::read(text), None, "{text}");
        }
    }
}
