//! Kubernetes' own objects as far as we speak of them, its spans of time, YAML and kubeconfigs as it reads them, PEM and hexadecimal digits.
mod bytes;
mod config_map;
mod duration;
pub mod hex;
pub mod kubeconfig;
mod meta;
mod object;
pub mod pem;
mod printable;
mod rbac;
mod resource;
mod secret;
mod wipe;
pub mod yaml;

pub use bytes::Bytes;
pub use config_map::ConfigMap;
pub use duration::{Duration, NoDuration};
pub use meta::{ObjectMeta, OwnerReference};
pub use object::Object;
pub use printable::printable;
pub use rbac::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
pub use resource::{List, ListMeta, Resource};
pub use secret::Secret;
pub use wipe::wipe;
