//! Why kubeadm's documents do not become one of ours.
use crate::report::{ImportReport, UnsupportedField};

/// Why there is no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Documents for the first node and for a further one, and nothing says which is wanted.
    #[error(
        "the files are for two machines: an InitConfiguration or a ClusterConfiguration is for the first node, a \
         JoinConfiguration for another one"
    )]
    TwoMachines,
    /// No document that is for any node.
    #[error("the files have no InitConfiguration, ClusterConfiguration or JoinConfiguration")]
    NoConfiguration,
    /// An InitConfig is wanted.
    #[error("the files have neither an InitConfiguration nor a ClusterConfiguration")]
    NoInitConfiguration,
    /// A JoinConfig is wanted.
    #[error("the files have no JoinConfiguration")]
    NoJoinConfiguration,
    /// An InitConfig names one.
    #[error("the files name no complete Kubernetes version, which an InitConfig requires")]
    NoKubernetesVersion,
    /// Fields without a place, where none may be lost.
    #[error("unsupported: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unsupported(Vec<UnsupportedField>),
}

impl ImportReport {
    /// An error that has every unsupported field, if there is one.
    pub fn refuse_unsupported(&self) -> Result<(), ImportError> {
        match self.unsupported.as_slice() {
            [] => Ok(()),
            fields => Err(ImportError::Unsupported(fields.to_vec())),
        }
    }
}
