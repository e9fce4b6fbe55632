//! `machineadm discover --refresh`: follows the kept cluster to a new address or new roots, if they can be verified.
use super::{arguments::Discover, consent, record, show_found, told};
use crate::{command::wrong_use, context::fail};
use cluster::RealNetwork;
use discovery::{
    cache::{Cached, Decision, Kept},
    method::Patience,
};
use host::contract::Exit;
use jiff::Timestamp;
use std::path::Path;

pub(super) fn run(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, Exit> {
    let none = || wrong_use("no cluster is kept on this machine: discover one with --store first");
    let cached = record::required(root)?.ok_or_else(none)?;
    let mut tell = told::progress(patience);
    let mut network = RealNetwork::new(&mut tell);
    let decision = cached.refresh(consent(asked), &mut network, patience, Timestamp::now());
    match decision.map_err(|error| fail(&error.to_string()))? {
        Decision::Keep(Kept::Same) => {
            let cached = cached.confirmed(Timestamp::now());
            record::write(&cached, root)?;
            tell!("nothing has changed");
            shown(&cached, asked)
        }
        Decision::Keep(Kept::Unreached(unreached)) => Err(told::not_answered(&unreached)),
        Decision::Refuse(refused) => Err(told::not_followed(&refused, asked.output)),
        Decision::Replace(newer) => {
            record::keep(&newer, root)?;
            shown(&newer, asked)
        }
    }
}

fn shown(cached: &Cached, asked: &Discover) -> Result<Exit, Exit> {
    let info = cached.info().map_err(|error| fail(&error.to_string()))?;
    show_found::print(&info, cached, asked.output);
    Ok(Exit::Done)
}
