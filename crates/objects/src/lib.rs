//! What every row may use: Kubernetes' own objects as far as we speak of them, and the formats around them.
//!
//! - Objects ([`ConfigMap`], [`Secret`], roles and bindings) keep the members that they don't know, so that what is read
//!   can be written back. Values of Secrets are [`Bytes`], which are never shown and are overwritten when they go.
//! - [`yaml`] reads one document as Kubernetes' programs do (YAML 1.1, with limits) and writes one that every reader
//!   takes for the same. [`kubeconfig`] is the format of kubeconfigs; who reads one decides what it may hold.
//! - [`pem`] reads blocks one by one, so that each bad one is named; [`hex`] writes and reads digests, pins and keys,
//!   [`Sha256Sum`] one of them.
//! - [`component_fields`] knows the fields of the kubelet's and kube-proxy's configuration in each Kubernetes version;
//!   [`nearest`] finds the name that a misspelt one probably means.
//! - [`kubernetes_paths`] spells the paths that kubeadm and the kubelet have fixed, so that no other place does.
//! - [`Duration`] is Go's span of time, [`shell`] quotes words for a shell, and [`printable`], [`visible`] and
//!   [`one_line`] make the words of others fit to be shown.
mod bytes;
pub mod component_fields;
mod config_map;
mod duration;
mod foreign_format;
pub mod hex;
pub mod kubeconfig;
pub mod kubernetes_paths;
mod meta;
pub mod nearest;
mod object;
pub mod pem;
mod printable;
mod rbac;
mod resource;
mod secret;
mod sha256_sum;
pub mod shell;
mod wipe;
pub mod yaml;

pub use bytes::Bytes;
pub use config_map::ConfigMap;
pub use duration::{Duration, NoDuration};
pub use foreign_format::{ForeignFormat, Member};
pub use meta::{ObjectMeta, OwnerReference};
pub use object::Object;
pub use printable::{one_line, printable, visible};
pub use rbac::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
pub use resource::{List, ListMeta, Resource};
pub use secret::Secret;
pub use sha256_sum::Sha256Sum;
pub use wipe::wipe;

/// How large a small file may be, in bytes: a kubeconfig, a bundle of CA certificates, a kubeadm file, a token, and
/// cluster-info on its way. All of them have a few KB, and etcd stores no object of much more than this; the limit keeps
/// a wrong file, an endless pipe or a hostile server from filling the memory.
pub const SMALL_FILE_LIMIT: usize = 1 << 20;

/// Group and version of machineadm's own documents and records.
pub const MACHINEADM_API_VERSION: &str = "machineadm.cluster.x-k8s.io/v1alpha1";
