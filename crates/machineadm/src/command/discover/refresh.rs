//! `machineadm discover --refresh`: follows the kept cluster to a new address or new roots, if they can be verified.
use super::{arguments::Discover, consent, failures, record, refuse, show_found, waiting::Waiting};
use crate::command_error::CommandError;
use cluster::RealNetwork;
use discovery::{
    cache::{Decision, Kept},
    method::{Event, Patience},
};
use host::contract::Exit;
use jiff::Timestamp;
use std::path::Path;

pub(super) fn run(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, CommandError> {
    let none = || CommandError::usage("no cluster is saved on this machine: run discover with --store first");
    let cached = record::required(root)?.ok_or_else(none)?;
    let mut waiting = Waiting::start(patience);
    let mut note = |event: Event<'_>| waiting.note(event);
    let mut network = RealNetwork::new(&mut note);
    let decision = cached.refresh(consent(asked), &mut network, patience, Timestamp::now());
    let advice = waiting.end();
    match decision {
        Decision::Keep(Kept::Same) => {
            let cached = cached.confirmed(Timestamp::now());
            record::write(&cached, root)?;
            tell!("the cluster is unchanged");
            show_found::print(&cached, asked.output)?;
            Ok(Exit::Done)
        }
        Decision::Keep(Kept::Unreached(unreached)) => Err(failures::not_answered(&unreached, &advice)),
        Decision::Refuse(refused) => refuse(failures::not_followed(&refused), &refused, asked),
        Decision::Replace(newer) => {
            record::keep(&newer, root)?;
            show_found::print(&newer, asked.output)?;
            Ok(Exit::Done)
        }
    }
}
