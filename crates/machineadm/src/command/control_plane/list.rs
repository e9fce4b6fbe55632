//! `machineadm control-plane list`: etcd's members, the Nodes, and whether etcd has a quorum.
use super::{
    arguments::List,
    shown,
    state::{Access, ControlPlaneState},
};
use crate::{command_error::CommandError, show};
use etcd::Quorum;
use host::contract::Exit;
use std::path::Path;

pub(super) fn run(asked: &List, kubeconfig: &Path) -> Result<Exit, CommandError> {
    let state = Access::connect(kubeconfig)?.look()?;
    match asked.output {
        Some(output) => show::machine_readable(&shown::list(&state), output)?,
        None => show::print_text(&shown::table(&state))?,
    }
    ended(&state)
}

fn ended(state: &ControlPlaneState) -> Result<Exit, CommandError> {
    if let Some(Quorum::Lost(why)) = state.membership().map(|membership| &membership.quorum) {
        let error = CommandError::failed(format!("etcd has no quorum: {why}"));
        return Err(error.with_remedy(
            "start the control plane nodes that are down; if most of them are lost for good, restore etcd from a backup",
        ));
    }
    if let Err(why) = &state.nodes {
        warn!("Nodes are not known: the API server does not answer: {why}");
    }
    Ok(Exit::Done)
}
