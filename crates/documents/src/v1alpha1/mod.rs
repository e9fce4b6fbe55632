//! `machineadm.cluster.x-k8s.io/v1alpha1`: one file per kind.
mod commands;
mod files;
mod kernel_modules;
mod proxy;
mod sysctl;
mod trust_bundle;

pub use commands::{Command, Program, Repeat, When};
pub use files::{File, Owner};
pub use proxy::Proxy;
pub use sysctl::Parameter;
pub use trust_bundle::{Certificate, TrustBundle};
