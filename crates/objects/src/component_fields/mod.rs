//! Fields of the kubelet's and kube-proxy's configuration: which Kubernetes version has which, and what each holds.
//!
//! ```text
//!  component-fields/generate.go ──▶ kubelet.txt, kube-proxy.txt ──table──▶ rows ──check──▶ FieldProblem
//!  (Kubernetes' own Go types)       (path, type, minor versions)
//! ```
//!
//! [`check`] judges the members of a configuration at every level as Kubernetes' strict decoder does: names match
//! exactly, null is unset, and a value has its field's type. What a value means is the component's to check.
mod check;
mod table;
#[cfg(test)]
mod tests;
mod value_type;

pub use check::check;
pub use table::{NEWEST_MINOR, OLDEST_MINOR};

use std::fmt;

/// A component with a configuration of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// KubeletConfiguration in `kubelet.config.k8s.io/v1beta1`.
    Kubelet,
    /// KubeProxyConfiguration in `kubeproxy.config.k8s.io/v1alpha1`.
    KubeProxy,
}

/// A field that the component would ignore or refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// Where the field is, from the configuration's top on.
    pub path: Vec<Step>,
    /// Why it is a problem; values are never quoted.
    pub reason: Reason,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a mapping's member.
    Member(String),
    /// Into a list's item, counted from 0.
    Item(usize),
}

/// Why a field is a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No Kubernetes version has it.
    Unknown {
        /// The field that was probably meant.
        meant: Option<&'static str>,
    },
    /// No Kubernetes version up to [`NEWEST_MINOR`] has it, and the configuration is for a newer one.
    NotKnownYet {
        /// The field that was probably meant.
        meant: Option<&'static str>,
    },
    /// Only a later Kubernetes version has it.
    TooEarly {
        /// The minor version of the configuration.
        minor: u32,
        /// The first minor version that has it.
        since: u32,
    },
    /// Only an earlier Kubernetes version has it.
    Removed {
        /// The minor version of the configuration.
        minor: u32,
        /// The last minor version that has it.
        until: u32,
    },
    /// Its value has another type.
    Mistyped {
        /// The type of the field.
        expected: &'static str,
        /// The type of the value, if that is what is invalid about it.
        found: Option<&'static str>,
        /// What to do, where that is known.
        hint: Option<&'static str>,
    },
}

impl Reason {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { meant } | Self::NotKnownYet { meant } => {
                meant.map(|name| format!("did you mean `{name}`?"))
            }
            Self::Mistyped { hint, .. } => hint.map(str::to_owned),
            Self::TooEarly { .. } | Self::Removed { .. } => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { .. } => f.write_str("unknown field"),
            Self::NotKnownYet { .. } => {
                write!(f, "unknown field in Kubernetes 1.{NEWEST_MINOR}, the newest version that this machineadm knows")
            }
            Self::TooEarly { minor, since } => {
                write!(f, "unknown field in Kubernetes 1.{minor}: it exists since Kubernetes 1.{since}")
            }
            Self::Removed { minor, until } => {
                write!(f, "unknown field in Kubernetes 1.{minor}: it existed until Kubernetes 1.{until}")
            }
            Self::Mistyped { expected, found: Some(found), .. } => write!(f, "must be {expected}, not {found}"),
            Self::Mistyped { expected, found: None, .. } => write!(f, "must be {expected}"),
        }
    }
}
