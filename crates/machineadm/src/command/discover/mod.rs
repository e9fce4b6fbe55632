//! `machineadm discover`: finds a cluster, proves that it is the right one, and says how.
pub(crate) mod arguments;
mod failures;
mod inputs;
mod record;
mod refresh;
mod show_found;
mod waiting;

use crate::{
    command::duration,
    command_error::{CommandError, all_succeeded},
};
use arguments::Discover;
use cluster::RealNetwork;
use discovery::{
    cache::{Cached, Consent, NotFound, Refused, Search},
    method::{Event, Flags, Method, Patience, Purpose, Refusal, choose},
};
use host::contract::Exit;
use inputs::Inputs;
use jiff::Timestamp;
use std::path::Path;
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
    duration("--timeout", &asked.timeout).map(Patience::within)
}

fn find(asked: &Discover, root: &Path, patience: Patience) -> Result<Exit, CommandError> {
    let method = chosen(&asked.source.flags(Purpose::Discover)?)?;
    // What can't be kept isn't looked for.
    let kept = if asked.store { record::replaceable(root)? } else { None };
    let search = Search { method: &method, kept: kept.as_ref(), consent: consent(asked), patience };
    let cached = match searched(&search)? {
        Ok(cached) => cached,
        Err(refused) => return refuse(failures::not_replaced(&refused), &refused, asked),
    };
    if asked.store {
        record::keep(&cached, root)?;
    }
    show_found::print(&cached, asked.output)?;
    Ok(Exit::Done)
}

/// The cluster that is found and verified now; it takes the place of no saved one.
pub(super) fn discovered(flags: &Flags, patience: Patience) -> Result<Cached, CommandError> {
    let method = chosen(flags)?;
    let search = Search { method: &method, kept: None, consent: Consent::Withheld, patience };
    searched(&search)?.map_err(|refused| failures::not_replaced(&refused))
}

/// Why a run has no cluster to join.
pub(crate) struct Undiscovered {
    /// Why each location is not trusted.
    pub(crate) refusals: Vec<Refusal>,
    /// The same for people.
    pub(crate) why: String,
    /// What to do.
    pub(crate) advice: String,
}

/// The cluster that a run of documents is to join.
pub(crate) fn for_run(method: &Method, patience: Patience) -> Result<Cached, Undiscovered> {
    let mut waiting = Waiting::in_lines(patience);
    let mut note = |event: Event<'_>| waiting.note(event);
    let mut network = RealNetwork::new(&mut note);
    let search = Search { method, kept: None, consent: Consent::Withheld, patience };
    match search.run(&mut Inputs, &mut network, Timestamp::now()) {
        Ok(cached) => {
            if let Some(risk) = cached.proof().risk() {
                warn!("{risk}");
            }
            Ok(cached)
        }
        Err(NotFound::NotTrusted(error)) => {
            let mut advice: Vec<_> = error.attempts.iter().map(|attempt| attempt.refusal.next_step()).collect();
            advice.sort_unstable();
            advice.dedup();
            let (why, advice) = (error.to_string(), advice.join("; "));
            let refusals = error.attempts.into_iter().map(|attempt| attempt.refusal).collect();
            Err(Undiscovered { refusals, why, advice })
        }
        Err(NotFound::NotReplaced(refused)) => {
            let (why, advice) = (refused.to_string(), "discover the cluster again".to_owned());
            Err(Undiscovered { refusals: Vec::new(), why, advice })
        }
    }
}

/// The cluster that `discover --store` saved on the machine below a root.
pub(super) fn saved(root: &Path) -> Result<Option<Cached>, CommandError> {
    record::required(root)
}

/// Searches, and shows why it waits; what is found may be refused in the place of a saved one.
fn searched(search: &Search<'_>) -> Result<Result<Cached, Refused>, CommandError> {
    let mut waiting = Waiting::start(search.patience);
    let mut note = |event: Event<'_>| waiting.note(event);
    let mut network = RealNetwork::new(&mut note);
    let found = search.run(&mut Inputs, &mut network, Timestamp::now());
    let advice = waiting.end();
    match found {
        Ok(cached) => {
            if let Some(risk) = cached.proof().risk() {
                warn!("{risk}");
            }
            Ok(Ok(cached))
        }
        Err(NotFound::NotTrusted(error)) => Err(failures::not_trusted(search.method, &error, &advice)),
        Err(NotFound::NotReplaced(refused)) => Ok(Err(refused)),
    }
}

fn chosen(flags: &Flags) -> Result<Method, CommandError> {
    choose(flags).map_err(|problems| CommandError::invalid_input(problems.iter().map(ToString::to_string)))
}

/// Prints for programs what is refused, and ends with the error.
fn refuse(error: CommandError, refused: &Refused, asked: &Discover) -> Result<Exit, CommandError> {
    let printed = show_found::print_refused(refused, asked.output);
    all_succeeded([Err(error), printed]).map(|()| Exit::Failed)
}

fn consent(asked: &Discover) -> Consent {
    if asked.accept_unpinned_roots { Consent::Given } else { Consent::Withheld }
}
