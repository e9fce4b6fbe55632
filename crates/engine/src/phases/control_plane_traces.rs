//! What a machine shows of a control plane node: the static pods of kubeadm, the kubelet's credentials, etcd's data.
use super::worker::Worker;
use crate::{acts::ADMIN, etcd_access::MANIFEST};
use host::Inspect;
use objects::kubernetes_paths;

/// The static pods of a control plane; etcd is one of them unless it is external.
const MANIFESTS: [&str; 3] = [
    kubernetes_paths::API_SERVER_MANIFEST,
    kubernetes_paths::CONTROLLER_MANAGER_MANIFEST,
    kubernetes_paths::SCHEDULER_MANIFEST,
];

/// What is there of a control plane node.
#[derive(Debug)]
pub(crate) struct ControlPlaneTraces {
    /// What is there of any node.
    pub(crate) worker: Worker,
    /// Whether there is the administrator's kubeconfig.
    pub(crate) has_administrator: bool,
    /// How many manifests of static pods there are beside etcd's.
    manifests: usize,
    /// Whether each of them has content, and etcd's as well if there is one: a power cut can leave one empty.
    has_content: bool,
    /// Whether there is etcd's static pod.
    pub(crate) has_etcd: bool,
}

impl ControlPlaneTraces {
    /// What a machine has.
    pub(crate) fn on(host: &dyn Inspect) -> host::Result<Self> {
        let (mut manifests, mut has_content) = (0, true);
        for manifest in MANIFESTS {
            manifests += usize::from(host.exists(manifest)?);
            has_content &= !is_empty(manifest, host)?;
        }
        Ok(Self {
            worker: Worker::on(host)?,
            has_administrator: host.exists(ADMIN)?,
            manifests,
            has_content: has_content && !is_empty(MANIFEST, host)?,
            has_etcd: host.exists(MANIFEST)?,
        })
    }

    /// Whether a join has left anything. Certificates tell nothing: they are there before kubeadm runs.
    pub(crate) const fn are_any(&self) -> bool {
        self.manifests > 0 || self.has_etcd || self.has_administrator || self.worker.has_traces()
    }

    /// Whether they are those of a worker. An operator may have removed the administrator's kubeconfig of a control plane
    /// node, which has static pods.
    pub(crate) const fn are_of_worker(&self) -> bool {
        !self.has_administrator && self.manifests == 0 && !self.has_etcd
    }

    /// Whether all static pods beside etcd's are there, and none is without content.
    pub(crate) const fn has_static_pods(&self) -> bool {
        self.manifests == MANIFESTS.len() && self.has_content
    }

    /// Whether the machine is a control plane node, as far as its files tell.
    pub(crate) fn are_all(&self) -> bool {
        self.has_static_pods() && self.has_administrator && self.worker.credentials().is_some()
    }
}

fn is_empty(path: &str, host: &dyn Inspect) -> host::Result<bool> {
    Ok(host.file(path)?.is_some_and(|file| file.contents.expose().is_empty()))
}
