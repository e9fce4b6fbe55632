//! One command per file.
pub(crate) mod api;
pub(crate) mod apply;
pub(crate) mod bootstrap;
mod bundle;
pub(crate) mod certs;
mod closing;
pub(crate) mod completion;
pub(crate) mod config;
mod configuration_file;
pub(crate) mod confirm;
pub(crate) mod control_plane;
pub(crate) mod decrypt;
mod delivered;
pub(crate) mod discover;
pub(crate) mod discovery_objects;
pub(crate) mod encrypt;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod join;
mod kubeadm_errors;
mod kubelet_patches;
pub(crate) mod plan;
pub(crate) mod reset;
mod run;
mod saved_plan;
mod small_file;
pub(crate) mod status;
mod tls_bootstrap_token;
pub(crate) mod token;
pub(crate) mod validate;
pub(crate) mod version;

use crate::command_error::CommandError;
use std::time::Duration;

/// A positive span of time that a flag names.
fn duration(flag: &str, text: &str) -> Result<Duration, CommandError> {
    let time = text.parse::<objects::Duration>().ok().filter(|span| !span.is_negative() && !span.is_zero());
    let time = time.map(|span| Duration::from_nanos(span.as_nanoseconds().unsigned_abs()));
    time.ok_or_else(|| {
        let text = "must be a positive duration such as 5m, 90s or 500ms, and at most 2562047h (292 years)";
        CommandError::invalid(format!("{flag} {text}"))
    })
}
