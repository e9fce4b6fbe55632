//! kubeadm.k8s.io/v1beta1, for Kubernetes 1.13 and 1.14; later versions use its smaller types on.
mod cluster;
mod convert;
mod convert_node;
mod init;
mod join;
pub(crate) mod later;
mod node;

pub(crate) use cluster::{
    ApiServer, ClusterConfiguration, ClusterStatus, ControlPlaneComponent, Dns, Etcd, ExternalEtcd, HostPathMount,
    LocalEtcd, Networking,
};
pub(crate) use init::{BootstrapToken, InitConfiguration};
pub(crate) use join::{BootstrapTokenDiscovery, Discovery, FileDiscovery, JoinConfiguration, JoinControlPlane};
pub(crate) use node::{ApiEndpoint, NodeRegistration, Taint};
