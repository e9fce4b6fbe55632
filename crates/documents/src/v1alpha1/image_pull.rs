//! When kubeadm pulls images.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When kubeadm pulls the images that it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ImagePull {
    /// Those that the container runtime does not have.
    #[default]
    IfNotPresent,
    /// All of them.
    Always,
    /// None: the container runtime must have them.
    Never,
}

impl ImagePull {
    /// As Kubernetes writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IfNotPresent => "IfNotPresent",
            Self::Always => "Always",
            Self::Never => "Never",
        }
    }

    /// Whether it is the default, which a document need not write.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    pub(super) const fn is_default(&self) -> bool {
        matches!(self, Self::IfNotPresent)
    }
}
