//! The API servers of a cluster, as kubeadm kept them up to Kubernetes 1.21.
use super::ApiEndpoint;
use crate::shape::shape;
use std::collections::BTreeMap;

shape! {
    /// The API servers of a cluster; v1beta1 and v1beta2 only.
    pub struct ClusterStatus {
        /// Where each node's API server listens, by the node's name.
        pub api_endpoints: BTreeMap<String, ApiEndpoint>,
    }
}
