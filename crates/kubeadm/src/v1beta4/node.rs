//! How a node registers, and how long kubeadm waits for what.
use super::Taint;
use crate::{scalar::Duration, shape::shape};

shape! {
    pub(crate) struct NodeRegistration<A> {
        pub(crate) name: Option<String>,
        pub(crate) cri_socket: Option<String>,
        pub(crate) taints: Option<Vec<Taint>>,
        pub(crate) kubelet_extra_args: Vec<A>,
        pub(crate) ignore_preflight_errors: Vec<String>,
        pub(crate) image_pull_policy: Option<String>,
        pub(crate) image_pull_serial: Option<bool>,
    }

    pub(crate) struct Timeouts {
        pub(crate) control_plane_component_health_check: Option<Duration>,
        pub(crate) kubelet_health_check: Option<Duration>,
        #[serde(rename = "kubernetesAPICall")]
        pub(crate) kubernetes_api_call: Option<Duration>,
        #[serde(rename = "etcdAPICall")]
        pub(crate) etcd_api_call: Option<Duration>,
        pub(crate) tls_bootstrap: Option<Duration>,
        pub(crate) discovery: Option<Duration>,
        pub(crate) upgrade_manifests: Option<Duration>,
    }
}
