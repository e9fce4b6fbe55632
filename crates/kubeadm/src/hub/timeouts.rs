//! How long kubeadm waits for what.
use crate::{scalar::Duration, shape::shape};

shape! {
    /// How long kubeadm waits for what.
    pub struct Timeouts {
        /// For a component of the control plane to be healthy.
        pub control_plane_component_health_check: Option<Duration>,
        /// For the kubelet to be healthy.
        pub kubelet_health_check: Option<Duration>,
        /// For an answer of the API server.
        #[serde(rename = "kubernetesAPICall")]
        pub kubernetes_api_call: Option<Duration>,
        /// For an answer of etcd.
        #[serde(rename = "etcdAPICall")]
        pub etcd_api_call: Option<Duration>,
        /// For the kubelet's certificate.
        pub tls_bootstrap: Option<Duration>,
        /// For the discovery of the cluster.
        pub discovery: Option<Duration>,
        /// For new manifests of static pods.
        pub upgrade_manifests: Option<Duration>,
    }
}
