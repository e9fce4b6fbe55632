//! `machineadm discover --refresh`: follows the kept cluster to a new address or new roots, if they can be verified.
use super::{arguments::Discover, consent, record, refuse, show_found, told};
use crate::command_error::CommandError;
use cluster::RealNetwork;
use discovery::{
    cache::{Cached, Decision, Kept},
    method::Patience,
};
use host::contract::Exit;
use jiff::Timestamp;
use std::path::Path;

pub(super) fn run(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, CommandError> {
    let none = || CommandError::usage("no cluster is kept on this machine: discover one with --store first");
    let cached = record::required(root)?.ok_or_else(none)?;
    let mut tell = told::progress(patience);
    let mut network = RealNetwork::new(&mut tell);
    let decision = cached.refresh(consent(asked), &mut network, patience, Timestamp::now());
    match decision.map_err(|error| CommandError::failed(error.to_string()))? {
        Decision::Keep(Kept::Same) => {
            let cached = cached.confirmed(Timestamp::now());
            record::write(&cached, root)?;
            tell!("nothing has changed");
            shown(&cached, asked)
        }
        Decision::Keep(Kept::Unreached(unreached)) => Err(told::not_answered(&unreached)),
        Decision::Refuse(refused) => refuse(told::not_followed(&refused), &refused, asked),
        Decision::Replace(newer) => {
            record::keep(&newer, root)?;
            shown(&newer, asked)
        }
    }
}

fn shown(cached: &Cached, asked: &Discover) -> Result<Exit, CommandError> {
    let info = cached.info().map_err(|error| CommandError::failed(error.to_string()))?;
    show_found::print(&info, cached, asked.output)?;
    Ok(Exit::Done)
}
