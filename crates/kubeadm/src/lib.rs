//! kubeadm's configuration, insulated: our own types (the hub), one folder per kubeadm API version (the spokes), and
//! conversion for one Kubernetes version, in which nothing is lost without a word. No I/O.
mod aside;
mod check;
mod convert;
mod decode;
pub mod defaults;
mod fit;
mod gates;
pub mod hub;
mod kind;
pub mod kubeadm_config_map;
pub mod preflight_checks;
mod problem;
mod read;
pub mod render;
mod scalar;
mod settle;
mod shape;
mod spoke;
pub mod static_pod;
mod target;
mod v1;
mod v1beta1;
mod v1beta2;
mod v1beta3;
mod v1beta4;
mod version;

pub use aside::{Flag, Loss, Note, NoteKind};
pub use check::{Refusal, check};
pub use convert::{Converted, WireDocument, convert};
pub use kind::Kind;
pub use objects::yaml::{SyntaxError, value as parse_yaml};
pub use problem::{Problem, Severity, shown};
pub use read::{ComponentConfig, Location, Read, Rules, Source, Strictness, read};
pub use scalar::{Duration, Quantity, Time};
pub use target::{NoTarget, Target};
pub use version::{ApiVersion, GROUP, KubernetesVersion, NoVersion, UnsupportedVersion};
