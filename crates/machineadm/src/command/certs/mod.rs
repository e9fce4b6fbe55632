//! `machineadm certs`: the certificates copy, through which a further control plane node gets the cluster's keys.
pub(crate) mod arguments;
mod configuration;
mod delete;
mod download;
pub(crate) mod failures;
mod key;
mod list;
mod upload;

use crate::command_error::CommandError;
use arguments::{Action, Certs};
use host::contract::Exit;
use std::path::Path;

/// The Secret, as people name it.
const SECRET: &str = "kube-system/kubeadm-certs";

/// Runs what is asked for.
pub(crate) fn run(asked: &Certs, root: &Path) -> Result<Exit, CommandError> {
    match &asked.action {
        Action::Key(key) => key::run(key),
        Action::Upload(upload) => upload::run(upload, &asked.connection, root),
        Action::Download(download) => download::run(download, &asked.connection, root),
        Action::List(list) => list::run(list, &asked.connection),
        Action::Delete(delete) => delete::run(delete, &asked.connection),
    }
}

/// Standard input has one content: at most one of these flags may name it.
fn one_standard_input(named: &[(&str, &Option<String>)]) -> Result<(), CommandError> {
    let named: Vec<_> = named.iter().filter(|(_, name)| name.as_deref() == Some("-")).map(|(flag, _)| *flag).collect();
    match named.len() > 1 {
        true => Err(CommandError::usage(format!("standard input can be read once: {} all name it", named.join(", ")))),
        false => Ok(()),
    }
}
