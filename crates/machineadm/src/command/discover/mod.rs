//! `machineadm discover`: finds a cluster, proves that it is the right one, and says how.
pub(crate) mod arguments;
mod failures;
mod inputs;
mod record;
mod refresh;
mod show_found;
mod waiting;

use crate::command_error::{CommandError, all_succeeded};
use arguments::Discover;
use cluster::RealNetwork;
use discovery::{
    cache::{Consent, NotFound, Refused, Search},
    method::{Event, Flags, Method, Patience, Purpose, choose},
};
use host::contract::Exit;
use inputs::Inputs;
use jiff::Timestamp;
use secret::Secret;
use std::{path::Path, time::Duration};
use waiting::Waiting;

pub(crate) fn run(asked: &Discover, root: &Path) -> Result<Exit, CommandError> {
    let patience = checked(asked)?;
    match asked.refresh {
        true => refresh::run(asked, root, patience),
        false => find(asked, root, patience),
    }
}

/// What holds for every way to ask.
fn checked(asked: &Discover) -> Result<Patience, CommandError> {
    if asked.accept_unpinned_roots && !asked.refresh && !asked.store {
        let text = "--accept-unpinned-roots requires --refresh or --store";
        return Err(CommandError::usage(text));
    }
    let time = asked.timeout.parse::<objects::Duration>().ok().filter(|span| !span.is_negative() && !span.is_zero());
    let time = time.map(|span| Duration::from_nanos(span.as_nanoseconds().unsigned_abs()));
    let text = "--timeout must be a positive duration such as 5m, 90s or 500ms, and at most 2562047h (292 years)";
    time.map(Patience::within).ok_or_else(|| CommandError::invalid(text))
}

fn find(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, CommandError> {
    let method = method(asked)?;
    // What can't be kept isn't looked for.
    let kept = if asked.store { record::replaceable(root)? } else { None };
    let mut waiting = Waiting::start(patience);
    let mut note = |event: Event<'_>| waiting.note(event);
    let mut network = RealNetwork::new(&mut note);
    let search = Search { method: &method, kept: kept.as_ref(), consent: consent(asked), patience };
    let found = search.run(&mut Inputs, &mut network, Timestamp::now());
    let advice = waiting.end();
    let cached = match found {
        Ok(cached) => cached,
        Err(NotFound::NotTrusted(error)) => return Err(failures::not_trusted(&method, &error, &advice)),
        Err(NotFound::NotReplaced(refused)) => return refuse(failures::not_replaced(&refused), &refused, asked),
    };
    if let Some(risk) = cached.proof().risk() {
        warn!("{risk}");
    }
    if asked.store {
        record::keep(&cached, root)?;
    }
    show_found::print(&cached, asked.output)?;
    Ok(Exit::Done)
}

fn method(asked: &Discover) -> Result<Method, CommandError> {
    let secret = |text: &Option<String>| text.clone().map(Secret::new);
    let flags = Flags {
        purpose: Purpose::Discover,
        endpoints: asked.endpoints.clone(),
        token: secret(&asked.token),
        token_file: asked.token_file.as_deref().map(inputs::token).transpose()?,
        discovery_token: secret(&asked.discovery_token),
        pins: asked.discovery_token_ca_cert_hash.clone(),
        skip_ca_verification: asked.discovery_token_unsafe_skip_ca_verification,
        file: asked.discovery_file.clone(),
        accept_untrusted_certificate: asked.accept_untrusted_certificate,
    };
    choose(&flags).map_err(|problems| CommandError::invalid_input(problems.iter().map(ToString::to_string)))
}

/// Prints for programs what is refused, and ends with the error.
fn refuse(error: CommandError, refused: &Refused, asked: &Discover) -> Result<Exit, CommandError> {
    let printed = show_found::print_refused(refused, asked.output);
    all_succeeded([Err(error), printed]).map(|()| Exit::Failed)
}

fn consent(asked: &Discover) -> Consent {
    if asked.accept_unpinned_roots { Consent::Given } else { Consent::Withheld }
}
