//! `machineadm certs`: the certificates copy, through which a further control plane node gets the cluster's keys.
pub(crate) mod arguments;
mod delete;
mod download;
pub(crate) mod failures;
pub(super) mod key;
mod layout;
mod list;
pub(crate) mod upload;

use crate::command_error::CommandError;
use arguments::{Action, Certs};
use certs::ttl_token::ClockSkew;
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

/// A clock that differs decides on validity otherwise than the cluster does.
fn warn_of_skew(skew: Option<ClockSkew>) {
    match skew {
        Some(ClockSkew::Ahead(by)) => warn!("the clock of this machine is {by} ahead of the API server's clock"),
        Some(ClockSkew::Behind(by)) => warn!("the clock of this machine is {by} behind the API server's clock"),
        None => {}
    }
}
