//! `machineadm discover --refresh`: follows the kept cluster to a new address or new roots, if they can be verified.
use super::{arguments::Discover, consent, record, refuse, show_found, told};
use crate::command_error::CommandError;
use cluster::RealNetwork;
use discovery::{
    cache::{Decision, Kept},
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
    match cached.refresh(consent(asked), &mut network, patience, Timestamp::now()) {
        Decision::Keep(Kept::Same) => {
            let cached = cached.confirmed(Timestamp::now());
            record::write(&cached, root)?;
            tell!("nothing has changed");
            show_found::print(&cached, asked.output)?;
            Ok(Exit::Done)
        }
        Decision::Keep(Kept::Unreached(unreached)) => Err(told::not_answered(&unreached)),
        Decision::Refuse(refused) => refuse(told::not_followed(&refused), &refused, asked),
        Decision::Replace(newer) => {
            record::keep(&newer, root)?;
            show_found::print(&newer, asked.output)?;
            Ok(Exit::Done)
        }
    }
}
