//! `machineadm discover`: finds a cluster, proves that it is the right one, and says how.
pub(crate) mod arguments;
mod places;
mod refresh;
mod show_found;

use super::wrong_input;
use crate::context::{failed, machine};
use arguments::Discover;
use cluster::RealNetwork;
use discovery::{
    Lifetime, Pin,
    cache::Cached,
    method::{Discovered, Event, Flags, Method, NotTrusted, Patience, Pinning, Purpose, choose, discover},
};
use host::contract::{self, Exit};
use jiff::Timestamp;
use places::Places;
use secret::Secret;
use std::{path::Path, time::Duration};

pub(crate) fn run(asked: &Discover, root: &Path) -> Exit {
    let done = if asked.refresh { refresh::run(asked, root) } else { find(asked, root) };
    done.unwrap_or_else(|exit| exit)
}

fn find(asked: &Discover, root: &Path) -> Result<Exit, Exit> {
    let patience = patience(&asked.timeout)?;
    let method = method(asked)?;
    let mut tell = progress;
    let mut network = RealNetwork::new(&mut tell);
    let found = discover(&method, &mut Places, &mut network, patience).map_err(|error| not_trusted(&error))?;
    if let Some(risk) = found.proof.risk() {
        eprintln!("warning: {risk}");
    }
    let cached = cached(&method, &found);
    if asked.store {
        keep(&cached, root)?;
    }
    show_found::print(&found.cluster_info, &found.bytes, &cached, asked.output);
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

fn patience(text: &str) -> Result<Patience, Exit> {
    match Lifetime::read(text) {
        Ok(Lifetime::For(span)) => {
            let total = Duration::from_nanos(span.as_nanoseconds().unsigned_abs());
            Ok(Patience { total, ..Patience::default() })
        }
        _ => Err(wrong_input(&["--timeout must be a positive duration such as 5m or 90s".to_owned()])),
    }
}

/// Plain lines, so that a boot log tells what went on.
fn progress(event: Event<'_>) {
    match event {
        Event::Trying { .. } => {}
        Event::Refused { place, text } => eprintln!("{place}: {text}"),
        Event::Again { after } => eprintln!("trying again in {} s", after.as_secs().max(1)),
    }
}

/// Every place that was tried, why it is not trusted, and what to do.
fn not_trusted(error: &NotTrusted) -> Exit {
    eprintln!("error: {error}");
    let mut steps: Vec<_> = error.attempts.iter().map(|attempt| attempt.refusal.next_step()).collect();
    steps.dedup();
    for step in steps {
        eprintln!("remedy: {step}");
    }
    Exit::Failed
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

fn keep(cached: &Cached, root: &Path) -> Result<(), Exit> {
    let linux = machine(root, Box::new(|_| ()))?;
    linux.state().write(contract::CLUSTER_INFO, &cached.bytes(), 0o600).map_err(failed)?;
    eprintln!("kept in {}", linux.place_of(contract::CLUSTER_INFO).display());
    Ok(())
}
