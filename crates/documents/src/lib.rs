//! The documents of `machineadm_config.yaml`: split, checked as a tree, decoded, judged.
mod secret;
pub mod v1alpha1;

pub use secret::Secret;
