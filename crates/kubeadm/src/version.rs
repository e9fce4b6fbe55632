//! Which kubeadm API a Kubernetes version speaks.
use serde::{Serialize, Serializer};
use std::{fmt, str::FromStr};

/// The group of kubeadm's kinds.
pub const GROUP: &str = "kubeadm.k8s.io";

/// A kubeadm API version, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApiVersion {
    /// Written for Kubernetes 1.13 and 1.14.
    V1Beta1,
    /// Written for Kubernetes 1.15 to 1.21.
    V1Beta2,
    /// Written for Kubernetes 1.22 to 1.30.
    V1Beta3,
    /// Written for Kubernetes 1.31 and later.
    V1Beta4,
    /// Experimental in Kubernetes 1.37: read, and written only when asked for.
    V1,
}

impl ApiVersion {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] = [Self::V1Beta1, Self::V1Beta2, Self::V1Beta3, Self::V1Beta4, Self::V1];

    /// The newest API that a kubeadm of this version speaks without being asked.
    pub fn preferred(version: KubernetesVersion) -> Result<Self, UnsupportedVersion> {
        let minor = version.effective_minor();
        let row = PREFERRED.iter().rev().find(|(first, _)| minor >= *first);
        row.map(|(_, api)| *api).ok_or(UnsupportedVersion(version))
    }

    /// Its name without the group.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
            Self::V1Beta3 => "v1beta3",
            Self::V1Beta4 => "v1beta4",
            Self::V1 => "v1",
        }
    }

    /// The version of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// The Kubernetes minors whose kubeadm reads it, first and last; v1 only with `--allow-experimental-api`.
    pub const fn read_by(self) -> (u32, Option<u32>) {
        match self {
            Self::V1Beta1 => (13, Some(21)),
            Self::V1Beta2 => (15, Some(26)),
            Self::V1Beta3 => (22, Some(36)),
            Self::V1Beta4 => (31, None),
            Self::V1 => (37, None),
        }
    }

    /// Whether a kubeadm of this minor reads it.
    pub fn is_read_by(self, minor: u32) -> bool {
        let (first, last) = self.read_by();
        minor >= first && last.is_none_or(|last| minor <= last)
    }
}

/// From which minor on which API is written; the last row holds for all versions to come.
/// v1 gets its row here once a kubeadm reads it without `--allow-experimental-api`.
const PREFERRED: &[(u32, ApiVersion)] =
    &[(13, ApiVersion::V1Beta1), (15, ApiVersion::V1Beta2), (22, ApiVersion::V1Beta3), (31, ApiVersion::V1Beta4)];

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{GROUP}/{}", self.name())
    }
}

impl Serialize for ApiVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Kubernetes is too old for any kubeadm API known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Kubernetes {0} is older than 1.13, the first version with a supported kubeadm API")]
pub struct UnsupportedVersion(KubernetesVersion);

/// A Kubernetes version without pre-release and build: 1.31.0-rc.1 already speaks what 1.31.0 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    /// 1, so far.
    pub major: u32,
    /// The number that features and APIs are counted by.
    pub minor: u32,
    /// The number of corrections.
    pub patch: u32,
}

impl KubernetesVersion {
    /// The minor as tables count it: another major comes after all minors of 1.
    pub const fn effective_minor(self) -> u32 {
        match self.major {
            0 => 0,
            1 => self.minor,
            _ => u32::MAX,
        }
    }
}

/// The text is no Kubernetes version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid Kubernetes version: write it as 1.31.4 or v1.31.4")]
pub struct NoVersion;

impl FromStr for KubernetesVersion {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let release = text.split(['-', '+']).next().unwrap_or(text);
        let mut numbers = release.split('.').map(number);
        let (major, minor) = (numbers.next().ok_or(NoVersion)??, numbers.next().ok_or(NoVersion)??);
        let patch = numbers.next().unwrap_or(Ok(0))?;
        if numbers.next().is_some() {
            return Err(NoVersion);
        }
        Ok(Self { major, minor, patch })
    }
}

fn number(text: &str) -> Result<u32, NoVersion> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten().ok_or(NoVersion)
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(text: &str) -> Option<&'static str> {
        ApiVersion::preferred(text.parse().unwrap()).ok().map(ApiVersion::name)
    }

    #[test]
    fn each_kubernetes_version_gets_the_newest_api_that_its_kubeadm_speaks() {
        for (version, expected) in [
            ("0.99.0", None),
            ("1.12.9", None),
            ("1.13.0", Some("v1beta1")),
            ("1.14.99", Some("v1beta1")),
            ("1.15.0-alpha.1", Some("v1beta2")),
            ("v1.21.14", Some("v1beta2")),
            ("1.22.0", Some("v1beta3")),
            ("1.30.14", Some("v1beta3")),
            ("1.31.0-rc.1", Some("v1beta4")),
            ("v1.31.0-rc.1+x", Some("v1beta4")),
            ("1.36.4", Some("v1beta4")),
            ("1.37.0", Some("v1beta4")),
            ("1.37", Some("v1beta4")),
            ("99.0.0", Some("v1beta4")),
        ] {
            assert_eq!(api(version), expected, "{version}");
        }
    }

    #[test]
    fn what_is_written_is_always_read() {
        for minor in 13..60 {
            let version = KubernetesVersion { major: 1, minor, patch: 0 };
            assert!(ApiVersion::preferred(version).unwrap().is_read_by(minor), "1.{minor}");
        }
    }

    #[test]
    fn words_are_no_versions() {
        for text in ["", "stable-1", "1", "v", "1.x", "1.2.3.4", "1..2", "+1.2"] {
            assert_eq!(text.parse::<KubernetesVersion>(), Err(NoVersion), "{text}");
        }
    }
}
