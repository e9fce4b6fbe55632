//! `machineadm discover`: finds a cluster, proves that it is the right one, and says how.
pub(crate) mod arguments;
mod places;
mod record;
mod refresh;
mod show_found;
mod told;

use super::{wrong_input, wrong_use};
use arguments::Discover;
use cluster::RealNetwork;
use discovery::{
    Pin,
    cache::{Cached, Consent},
    method::{Discovered, Flags, Method, Patience, Pinning, Purpose, choose, discover},
};
use host::contract::Exit;
use jiff::Timestamp;
use places::Places;
use secret::Secret;
use std::{path::Path, time::Duration};

pub(crate) fn run(asked: &Discover, root: &Path) -> Exit {
    let done = checked(asked).and_then(|patience| match asked.refresh {
        true => refresh::run(asked, root, patience),
        false => find(asked, root, patience),
    });
    done.unwrap_or_else(|exit| exit)
}

/// What holds for every way to ask.
fn checked(asked: &Discover) -> Result<Patience, Exit> {
    if asked.accept_unpinned_roots && !asked.refresh && !asked.store {
        return Err(wrong_use("--accept-unpinned-roots goes with --refresh or --store: nothing is kept without them"));
    }
    let time = asked.timeout.parse::<objects::Duration>().ok().filter(|span| !span.is_negative() && !span.is_zero());
    let time = time.map(|span| Duration::from_nanos(span.as_nanoseconds().unsigned_abs()));
    let text = || wrong_input(&["--timeout must be a positive duration such as 5m, 90s or 500ms".to_owned()]);
    time.map(Patience::within).ok_or_else(text)
}

fn find(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, Exit> {
    let method = method(asked)?;
    let mut tell = told::progress();
    let mut network = RealNetwork::new(&mut tell);
    let found = discover(&method, &mut Places, &mut network, patience);
    let found = found.map_err(|error| told::not_trusted(&method, &error))?;
    if let Some(risk) = found.proof.risk() {
        tell!("warning: {risk}");
    }
    let mut cached = cached(&method, &found);
    if asked.store {
        if let Some(kept) = record::usable(root)? {
            let succeeded = kept.succeeded_by(cached, consent(asked), &mut network, patience);
            cached = succeeded.map_err(|refused| told::not_replaced(&refused))?;
        }
        record::keep(&cached, root)?;
    }
    show_found::print(&found.cluster_info, &cached, asked.output);
    Ok(Exit::Done)
}

fn method(asked: &Discover) -> Result<Method, Exit> {
    let secret = |text: &Option<String>| text.clone().map(Secret::new);
    let token = match &asked.token_file {
        Some(file) => Some(places::token(file)?),
        None => secret(&asked.token),
    };
    let flags = Flags {
        purpose: Purpose::Discover,
        endpoints: asked.endpoints.clone(),
        token,
        discovery_token: secret(&asked.discovery_token),
        pins: asked.discovery_token_ca_cert_hash.clone(),
        skip_ca_verification: asked.discovery_token_unsafe_skip_ca_verification,
        file: asked.discovery_file.clone(),
    };
    choose(&flags).map_err(|problems| wrong_input(&problems.iter().map(ToString::to_string).collect::<Vec<_>>()))
}

fn consent(asked: &Discover) -> Consent {
    if asked.accept_unpinned_roots { Consent::Given } else { Consent::Withheld }
}

/// The pins that hold for later: those that were given, else none.
fn cached(method: &Method, found: &Discovered) -> Cached {
    let pins: Vec<Pin> = match method {
        Method::Token { pinning: Pinning::Pins(pins), .. } => pins.clone(),
        Method::Token { .. } | Method::File(_) => Vec::new(),
    };
    let kubeconfig = String::from_utf8_lossy(&found.bytes).into_owned();
    Cached { kubeconfig, pins, proof: found.proof.clone(), updated: Timestamp::now().into() }
}
