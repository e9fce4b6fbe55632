//! kubeadm.k8s.io/v1beta2, for Kubernetes 1.15 to 1.21: v1beta1 with preflight errors to ignore and certificate keys.
mod cluster;
mod convert;
mod init;
mod join;
mod node;

pub(crate) use crate::v1beta1::{
    ApiEndpoint, ApiServer, BootstrapToken, BootstrapTokenDiscovery, ControlPlaneComponent, Discovery, Etcd,
    FileDiscovery, HostPathMount, Networking, Taint, later,
};
pub(crate) use cluster::{ClusterConfiguration, ClusterStatus};
pub(crate) use init::InitConfiguration;
pub(crate) use join::{JoinConfiguration, JoinControlPlane};
pub(crate) use node::NodeRegistration;
