//! Kubernetes' own objects as far as we speak of them, and YAML as Kubernetes reads it.
mod wipe;
pub mod yaml;

pub use wipe::wipe;
