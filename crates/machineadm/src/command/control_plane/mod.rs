//! `machineadm control-plane`: the etcd members and Node objects of a cluster's control plane.
//!
//! [`state::look`] collects what this machine sees. `list` prints it; `remove` finds its [`target`] in it, refuses what
//! would do harm, and acts.
pub(crate) mod arguments;
mod list;
mod node;
mod remove;
mod shown;
mod state;
mod target;

use crate::command_error::CommandError;
use arguments::{Action, ControlPlane};
use host::contract::Exit;

/// Runs what is asked for.
pub(crate) fn run(asked: &ControlPlane) -> Result<Exit, CommandError> {
    match &asked.action {
        Action::List(list) => list::run(list, &asked.kubeconfig),
        Action::Remove(remove) => remove::run(remove, &asked.kubeconfig),
    }
}
