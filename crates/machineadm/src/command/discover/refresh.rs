//! `machineadm discover --refresh`: follows the kept cluster to a new address or new roots, if they can be verified.
use super::{arguments::Discover, keep, progress, show_found};
use crate::{
    command::wrong_use,
    context::{fail, failed, machine},
};
use cluster::RealNetwork;
use discovery::{
    cache::{Answer, Cached, Consent, Decision},
    method::{Network, Roots},
};
use host::{
    Inspect,
    contract::{self, Exit},
};
use jiff::Timestamp;
use std::path::Path;

pub(super) fn run(asked: &Discover, root: &Path) -> Result<Exit, Exit> {
    let cached = kept(root)?;
    let present = cached.info().map_err(|error| fail(&error.to_string()))?;
    let endpoint = present.endpoint().map_err(|error| fail(&format!("the kept server {error}")))?;
    let mut tell = progress;
    let mut network = RealNetwork::new(&mut tell);
    let roots = if present.roots.is_empty() { Roots::System } else { Roots::Only(&present.roots) };
    let answer = network.cluster_info(&endpoint, roots);
    let answer = answer.as_ref().map_or_else(Answer::None, |body| Answer::Verified(body));
    let consent = if asked.accept_unpinned_roots { Consent::Given } else { Consent::Withheld };
    let decision = cached.update(answer, consent, Timestamp::now()).map_err(|error| fail(&error.to_string()))?;
    match decision {
        Decision::Keep(discovery::cache::Kept::Same) => {
            eprintln!("nothing has changed");
            shown(&cached, asked)
        }
        Decision::Keep(reason) => {
            Err(fail(&format!("the cluster was not reached, so that what is kept stays: {reason}")))
        }
        Decision::Refuse(reason) => {
            Err(fail(&format!("what the cluster answered is not followed, so that what is kept stays: {reason}")))
        }
        Decision::Replace(newer) => {
            keep(&newer, root)?;
            shown(&newer, asked)
        }
    }
}

fn kept(root: &Path) -> Result<Cached, Exit> {
    let file = machine(root, Box::new(|_| ()))?.file(contract::CLUSTER_INFO).map_err(failed)?;
    let none = || wrong_use("no cluster is kept on this machine: discover one with --store first");
    let file = file.ok_or_else(none)?;
    Cached::read(file.contents.expose()).map_err(|error| fail(&format!("{}: {error}", contract::CLUSTER_INFO)))
}

fn shown(cached: &Cached, asked: &Discover) -> Result<Exit, Exit> {
    let info = cached.info().map_err(|error| fail(&error.to_string()))?;
    show_found::print(&info, cached.kubeconfig.as_bytes(), cached, asked.output);
    Ok(Exit::Done)
}
