//! The kinds of kubeadm's documents.
use crate::version::ApiVersion;
use serde::Serialize;
use std::fmt;

/// A kind of document, in the order in which kubeadm prints them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Kind {
    /// What `kubeadm init` needs.
    InitConfiguration,
    /// What holds for the whole cluster.
    ClusterConfiguration,
    /// What `kubeadm join` needs.
    JoinConfiguration,
    /// What `kubeadm reset` needs.
    ResetConfiguration,
    /// What `kubeadm upgrade` needs.
    UpgradeConfiguration,
    /// The API servers of a cluster, up to Kubernetes 1.21.
    ClusterStatus,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::InitConfiguration,
        Self::ClusterConfiguration,
        Self::JoinConfiguration,
        Self::ResetConfiguration,
        Self::UpgradeConfiguration,
        Self::ClusterStatus,
    ];

    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InitConfiguration => "InitConfiguration",
            Self::ClusterConfiguration => "ClusterConfiguration",
            Self::JoinConfiguration => "JoinConfiguration",
            Self::ResetConfiguration => "ResetConfiguration",
            Self::UpgradeConfiguration => "UpgradeConfiguration",
            Self::ClusterStatus => "ClusterStatus",
        }
    }

    /// The kind of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether an API version has it.
    pub fn is_in(self, api: ApiVersion) -> bool {
        match self {
            Self::InitConfiguration | Self::ClusterConfiguration | Self::JoinConfiguration => true,
            Self::ResetConfiguration | Self::UpgradeConfiguration => api >= ApiVersion::V1Beta4,
            Self::ClusterStatus => api <= ApiVersion::V1Beta2,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
