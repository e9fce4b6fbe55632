//! Where the etcd servers of a kubeadm cluster are: as their static pods say.
use crate::{ApiServer, Listed, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

const PODS: &str = "/api/v1/namespaces/kube-system/pods";
const SELECTOR: &str = "component=etcd,tier=control-plane";
/// kubeadm writes the client URL of a member on its pod.
const CLIENT_URL: &str = "kubeadm.kubernetes.io/etcd.advertise-client-urls";

#[derive(Deserialize)]
struct Pod {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl ApiServer {
    /// The client URLs of the etcd servers that run as static pods of this cluster.
    pub fn etcd_endpoints(&self) -> Result<Vec<String>> {
        let mut endpoints = Vec::new();
        self.list::<Pod>(PODS, &[("labelSelector", SELECTOR)], &mut |listed| match listed {
            Listed::Restarted => endpoints.clear(),
            Listed::Item(pod) => {
                let urls = pod.metadata.annotations.get(CLIENT_URL).map(String::as_str).unwrap_or_default();
                endpoints.extend(urls.split(',').filter(|url| !url.is_empty()).map(str::to_owned));
            }
        })?;
        Ok(endpoints)
    }
}
