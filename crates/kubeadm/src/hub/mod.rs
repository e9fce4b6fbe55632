//! The hub: our own types for what kubeadm is told. Their shape is kubeadm's newest, plus the few older words that it
//! has lost, so that nothing a file of any version says is lost on the way in. What is unset stays unset.
mod cluster;
mod component;
mod environment;
mod etcd;
mod init;
mod join;
mod node;
mod reset;
mod status;
mod timeouts;
mod upgrade;

pub use cluster::{ClusterConfiguration, Dns, Networking, Proxy};
pub use component::{ApiServer, Arg, ControlPlaneComponent, HostPathMount};
pub use environment::{
    ConfigMapKeySelector, EnvVar, EnvVarSource, FileKeySelector, ObjectFieldSelector, ResourceFieldSelector,
    SecretKeySelector,
};
pub use etcd::{Etcd, ExternalEtcd, LocalEtcd};
pub use init::{BootstrapToken, InitConfiguration};
pub use join::{BootstrapTokenDiscovery, Discovery, FileDiscovery, JoinConfiguration, JoinControlPlane};
pub use node::{ApiEndpoint, NodeRegistration, Patches, Taint};
pub use reset::ResetConfiguration;
pub use status::ClusterStatus;
pub use timeouts::Timeouts;
pub use upgrade::{UpgradeApply, UpgradeConfiguration, UpgradeDiff, UpgradeNode, UpgradePlan};

use crate::shape::shape;

shape! {
    /// Everything that kubeadm is told about one cluster and one node of it. Documents belong together because some
    /// fields move between them from one API version to the next.
    pub struct Documents {
        /// What holds for the whole cluster.
        pub cluster: Option<ClusterConfiguration>,
        /// What `kubeadm init` needs.
        pub init: Option<InitConfiguration>,
        /// What `kubeadm join` needs.
        pub join: Option<JoinConfiguration>,
        /// What `kubeadm reset` needs.
        pub reset: Option<ResetConfiguration>,
        /// What `kubeadm upgrade` needs.
        pub upgrade: Option<UpgradeConfiguration>,
        /// The API servers of a cluster, as kubeadm kept them up to Kubernetes 1.21.
        pub cluster_status: Option<ClusterStatus>,
    }
}
