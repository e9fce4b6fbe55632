//! Real Kubernetes for tests: pinned programs, a control plane on loopback, whole machines in systemd-nspawn.
mod base;
mod bed;
pub mod cache;
mod cgroup;
mod child;
mod claim;
mod digest;
pub mod doctor;
mod error;
mod images;
pub mod kubeadm;
mod layer;
mod machine;
mod network;
mod oci;
mod owner;
mod profile;
pub mod programs;
pub mod reaper;
mod wait;

pub use bed::Bed;
pub use child::Output;
pub use error::{Error, Result};
pub use images::TOOLS_IMAGE;
pub use machine::{Entry, Machine, Snapshot};
pub use profile::{CloudInit, Profile, Runtime, Software};
pub use wait::until;
