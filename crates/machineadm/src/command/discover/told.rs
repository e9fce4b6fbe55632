//! What is said while a cluster is looked for, and when none is trusted.
use crate::command_error::CommandError;
use discovery::{
    cache::Refused,
    method::{Attempt, Cause, Event, Method, NotTrusted, Patience, Refusal, Source, Unreached},
};
use std::time::Duration;

/// Plain lines, so that a boot log tells what went on; what stays as it is is said once. With the first refusal comes
/// how long this goes on, and with each new kind of refusal what to do about it.
pub(super) fn progress(patience: Patience) -> impl FnMut(Event<'_>) {
    let mut remedies: Vec<&'static str> = Vec::new();
    move |event| {
        let Event::Refused { place, text, next_step } = event else { return };
        // Many a reason names its place.
        if text.contains(place) {
            tell!("{text}");
        } else {
            tell!("{place}: {text}");
        }
        if remedies.is_empty() {
            tell!("trying again every {}, for {} at most", span(patience.every), span(patience.total));
        }
        if !remedies.contains(&next_step) {
            tell!("remedy: {next_step}");
            remedies.push(next_step);
        }
    }
}

/// A time as people say it.
fn span(time: Duration) -> String {
    let is_minutes = time.as_secs() >= 60 && time.as_secs().is_multiple_of(60) && time.subsec_nanos() == 0;
    if is_minutes { format!("{} min", time.as_secs() / 60) } else { format!("{} s", time.as_secs_f64()) }
}

/// Every place that was tried, why it is not trusted, and what to do.
pub(super) fn not_trusted(method: &Method, error: &NotTrusted) -> CommandError {
    if is_input(method) && error.attempts.iter().all(|attempt| attempt.refusal.is_of_the_kubeconfig()) {
        return not_usable(error);
    }
    let mut steps: Vec<_> = error.attempts.iter().map(|attempt| attempt.refusal.next_step()).collect();
    steps.sort_unstable();
    steps.dedup();
    CommandError::failed(error.to_string()).with_remedies(steps)
}

/// Whether the kubeconfig was given by whoever runs the command, rather than fetched.
const fn is_input(method: &Method) -> bool {
    matches!(method, Method::File { source: Source::Path(_) | Source::StandardInput, .. })
}

/// A kubeconfig on this machine that can't be used is invalid input, found before anything was sent.
fn not_usable(error: &NotTrusted) -> CommandError {
    let problems = error.attempts.iter().map(|Attempt { place, refusal }| {
        let text = match refusal {
            // It names its file, which may be another one.
            Refusal::Unreadable(text) => text.clone(),
            refusal => format!("{place}: {refusal}"),
        };
        CommandError::invalid(text).with_remedy(refusal.next_step())
    });
    problems.reduce(CommandError::and).unwrap_or_else(|| CommandError::invalid(error.to_string()))
}

/// Why the cluster that is kept stays when something else was discovered.
pub(super) fn not_replaced(refused: &Refused) -> CommandError {
    not_kept("this machine keeps something else, and what is kept stays", refused)
}

/// Why the cluster that is kept stays when it answered something else.
pub(super) fn not_followed(refused: &Refused) -> CommandError {
    not_kept("what the cluster answered is not followed, so that what is kept stays", refused)
}

fn not_kept(what: &str, refused: &Refused) -> CommandError {
    CommandError::failed(format!("{what}: {refused}")).with_remedy(next_step(refused))
}

/// Why the cluster that is kept stays when it didn't say its cluster-info.
pub(super) fn not_answered(unreached: &Unreached) -> CommandError {
    let (what, remedy) = match unreached.cause {
        Cause::Status(_) if unreached.is_forbidden() => (
            "the cluster does not allow everybody to read its cluster-info",
            "on the cluster: machineadm discovery-objects, or bring a new kubeconfig with --discovery-file and --store",
        ),
        Cause::Status(_) => {
            ("the cluster answered without its cluster-info", "on the cluster: machineadm discovery-objects")
        }
        _ => ("the cluster was not reached", "see that its API server runs, or discover the cluster anew"),
    };
    CommandError::failed(format!("{what}, so that what is kept stays: {unreached}")).with_remedy(remedy)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_said_as_it_is() {
        for (milliseconds, said) in [(100, "0.1 s"), (1600, "1.6 s"), (5000, "5 s"), (90_000, "90 s")] {
            assert_eq!(span(Duration::from_millis(milliseconds)), said);
        }
        assert_eq!(span(Patience::default().total), "5 min");
    }
}
