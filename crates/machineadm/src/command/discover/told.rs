//! What is said while a cluster is looked for, and when none is trusted.
use crate::context::fail;
use discovery::{
    cache::Refused,
    method::{Attempt, Event, Method, NotTrusted, Refusal, Source},
};
use host::contract::Exit;

/// Plain lines, so that a boot log tells what went on; what stays as it is is said once.
pub(super) fn progress() -> impl FnMut(Event<'_>) {
    let mut is_news = false;
    move |event| match event {
        Event::Trying { .. } => {}
        Event::Refused { place, text } => {
            tell!("{place}: {text}");
            is_news = true;
        }
        Event::Again { after } => {
            if std::mem::take(&mut is_news) {
                tell!("trying again every {} s", after.as_secs().max(1));
            }
        }
    }
}

/// Every place that was tried, why it is not trusted, and what to do.
pub(super) fn not_trusted(method: &Method, error: &NotTrusted) -> Exit {
    if let Method::File(Source::Path(_) | Source::StandardInput) = method {
        return not_usable(error);
    }
    tell!("error: {error}");
    let mut steps: Vec<_> = error.attempts.iter().map(|attempt| attempt.refusal.next_step()).collect();
    steps.sort_unstable();
    steps.dedup();
    for step in steps {
        tell!("remedy: {step}");
    }
    Exit::Failed
}

/// What lies on this machine is wrong input, found before anything was sent.
fn not_usable(error: &NotTrusted) -> Exit {
    for Attempt { place, refusal } in &error.attempts {
        match refusal {
            // It names its file, which may be another one.
            Refusal::Unreadable(text) => tell!("error: {text}"),
            refusal => tell!("error: {place}: {refusal}"),
        }
        tell!("remedy: {}", refusal.next_step());
    }
    Exit::Input
}

/// Why the cluster that is kept stays when another was discovered.
pub(super) fn not_replaced(refused: &Refused) -> Exit {
    let exit = fail(&format!("another cluster is kept on this machine, and what is kept stays: {refused}"));
    tell!("remedy: {}", next_step(refused));
    exit
}

/// Why the cluster that is kept stays when it answered something else.
pub(super) fn not_followed(refused: &Refused) -> Exit {
    let exit = fail(&format!("what the cluster answered is not followed, so that what is kept stays: {refused}"));
    tell!("remedy: {}", next_step(refused));
    exit
}

fn next_step(refused: &Refused) -> &'static str {
    match refused {
        Refused::NotPinned(_) | Refused::RootsDropped => {
            "compare the new roots with the cluster's own; --accept-unpinned-roots agrees to them"
        }
        Refused::Unusable(refusal) => refusal.next_step(),
        Refused::Unverified => "discover the cluster anew",
    }
}
