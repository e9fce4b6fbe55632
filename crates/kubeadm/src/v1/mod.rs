//! kubeadm.k8s.io/v1, experimental in Kubernetes 1.37: v1beta4 whose arguments may add to kubeadm's own.
mod cluster;
mod convert;
mod init;
mod join;
mod reset;
mod upgrade;

pub(crate) use cluster::{Arg, ClusterConfiguration};
pub(crate) use init::InitConfiguration;
pub(crate) use join::JoinConfiguration;
pub(crate) use reset::ResetConfiguration;
pub(crate) use upgrade::UpgradeConfiguration;
