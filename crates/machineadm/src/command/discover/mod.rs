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
    cache::{Consent, NotFound, Search},
    method::{Flags, Method, Patience, Purpose, choose},
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
    let text = "--timeout must be a positive duration such as 5m, 90s or 500ms, and at most 2562047h (292 years)";
    time.map(Patience::within).ok_or_else(|| wrong_input(&[text.to_owned()]))
}

fn find(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, Exit> {
    let method = method(asked)?;
    // What can't be kept isn't looked for.
    let kept = if asked.store { record::replaceable(root)? } else { None };
    let mut tell = told::progress(patience);
    let mut network = RealNetwork::new(&mut tell);
    let search = Search { method: &method, kept: kept.as_ref(), consent: consent(asked), patience };
    let cached = search.run(&mut Places, &mut network, Timestamp::now()).map_err(|not| match not {
        NotFound::NotTrusted(error) => told::not_trusted(&method, &error),
        NotFound::NotReplaced(refused) => told::not_replaced(&refused, asked.output),
    })?;
    if let Some(risk) = cached.proof().risk() {
        tell!("warning: {risk}");
    }
    if asked.store {
        record::keep(&cached, root)?;
    }
    show_found::print(&cached, asked.output);
    Ok(Exit::Done)
}

fn method(asked: &Discover) -> Result<Method, Exit> {
    let secret = |text: &Option<String>| text.clone().map(Secret::new);
    let flags = Flags {
        purpose: Purpose::Discover,
        endpoints: asked.endpoints.clone(),
        token: secret(&asked.token),
        token_file: asked.token_file.as_deref().map(places::token).transpose()?,
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
