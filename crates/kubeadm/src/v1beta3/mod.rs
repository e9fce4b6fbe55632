//! kubeadm.k8s.io/v1beta3, for Kubernetes 1.22 to 1.30: v1beta2 with skipped phases and patches, without old words.
mod cluster;
mod convert;
mod convert_node;
mod init;
mod join;
mod node;

pub(crate) use crate::v1beta2::{
    ApiEndpoint, ApiServer, BootstrapToken, BootstrapTokenDiscovery, ControlPlaneComponent, Discovery, Etcd,
    FileDiscovery, HostPathMount, JoinControlPlane, Networking, Taint, later,
};
pub(crate) use cluster::{ClusterConfiguration, Dns};
pub(crate) use init::InitConfiguration;
pub(crate) use join::JoinConfiguration;
pub(crate) use node::{NodeRegistration, Patches};
