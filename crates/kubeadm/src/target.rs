//! What is converted for: one Kubernetes version, and the kubeadm API that is written for it.
use crate::version::{ApiVersion, KubernetesVersion, NoVersion, UnsupportedVersion};

/// One Kubernetes version, and the kubeadm API that is written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    kubernetes: KubernetesVersion,
    release: String,
    api: ApiVersion,
}

/// The target makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    /// The text is no version.
    #[error(transparent)]
    NoVersion(#[from] NoVersion),
    /// The version is too old.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedVersion),
    /// The version's kubeadm does not read the API that was asked for.
    #[error("the kubeadm of Kubernetes {kubernetes} does not read {api}; it reads {preferred}")]
    NotRead {
        /// The version.
        kubernetes: KubernetesVersion,
        /// The API that was asked for.
        api: ApiVersion,
        /// What it reads.
        preferred: ApiVersion,
    },
}

impl Target {
    /// A version, with the newest API that its kubeadm speaks without being asked.
    pub fn new(version: &str) -> Result<Self, NoTarget> {
        let kubernetes: KubernetesVersion = version.parse()?;
        let release = format!("v{}", version.strip_prefix('v').unwrap_or(version));
        let short = version.split(['-', '+']).next().unwrap_or(version).matches('.').count() < 2;
        let release = if short { format!("v{kubernetes}") } else { release };
        Ok(Self { kubernetes, release, api: ApiVersion::preferred(kubernetes)? })
    }

    /// The same version with another API that its kubeadm reads, such as the experimental v1.
    pub fn with_api(self, api: ApiVersion) -> Result<Self, NoTarget> {
        if api.is_read_by(self.minor()) {
            return Ok(Self { api, ..self });
        }
        Err(NoTarget::NotRead { kubernetes: self.kubernetes, api, preferred: self.api })
    }

    /// The version.
    pub const fn kubernetes(&self) -> KubernetesVersion {
        self.kubernetes
    }

    /// The version as kubeadm's file says it, pre-release and all: `v1.36.4`.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The kubeadm API that is written.
    pub const fn api(&self) -> ApiVersion {
        self.api
    }

    /// The minor that fields and feature gates are counted by.
    pub const fn minor(&self) -> u32 {
        self.kubernetes.effective_minor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pre_release_is_kept_in_the_file_and_ignored_for_the_choice() {
        let target = Target::new("v1.31.0-rc.1").unwrap();
        assert_eq!((target.release(), target.api()), ("v1.31.0-rc.1", ApiVersion::V1Beta4));
        assert_eq!(Target::new("1.31").unwrap().release(), "v1.31.0");
    }

    #[test]
    fn an_experimental_or_too_new_api_is_written_only_where_it_is_read() {
        assert_eq!(Target::new("1.37.1").unwrap().with_api(ApiVersion::V1).unwrap().api(), ApiVersion::V1);
        let refused = Target::new("1.30.0").unwrap().with_api(ApiVersion::V1Beta4).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the kubeadm of Kubernetes 1.30.0 does not read kubeadm.k8s.io/v1beta4; it reads kubeadm.k8s.io/v1beta3"
        );
    }
}
