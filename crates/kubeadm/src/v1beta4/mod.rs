//! kubeadm.k8s.io/v1beta4, for Kubernetes 1.31 and later. What holds arguments is open in their type: v1's say more.
mod cluster;
mod component;
mod convert;
mod environment;
mod init;
mod join;
mod node;
mod reset;
mod upgrade;

pub(crate) use crate::v1beta3::{
    ApiEndpoint, BootstrapToken, BootstrapTokenDiscovery, FileDiscovery, HostPathMount, Networking, Patches, Taint,
};
pub(crate) use cluster::{ClusterConfiguration, Dns, Etcd, ExternalEtcd, LocalEtcd, Proxy};
pub(crate) use component::{ApiServer, Arg, ControlPlaneComponent};
pub(crate) use convert::{HYPERKUBE_UNTIL, KUBE_DNS_UNTIL, lose_merge_method};
pub(crate) use environment::{
    ConfigMapKeySelector, EnvVar, EnvVarSource, FileKeySelector, ObjectFieldSelector, ResourceFieldSelector,
    SecretKeySelector,
};
pub(crate) use init::InitConfiguration;
pub(crate) use join::{Discovery, JoinConfiguration};
pub(crate) use node::{NodeRegistration, Timeouts};
pub(crate) use reset::ResetConfiguration;
pub(crate) use upgrade::{UpgradeApply, UpgradeConfiguration, UpgradeDiff, UpgradeNode, UpgradePlan};
