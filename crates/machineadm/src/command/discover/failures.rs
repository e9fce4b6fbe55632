//! Errors of `machineadm discover`: why no cluster is trusted, or why the saved one is not replaced.
use crate::command_error::CommandError;
use discovery::{
    cache::Refused,
    method::{Attempt, Cause, Method, NotTrusted, Refusal, Source, Unreached},
};

/// Every location that was tried, why it is not trusted, and what to do, unless that was shown while waiting.
pub(super) fn not_trusted(method: &Method, error: &NotTrusted, shown: &[&'static str]) -> CommandError {
    if is_input(method) && error.attempts.iter().all(|attempt| attempt.refusal.is_of_the_kubeconfig()) {
        return not_usable(error);
    }
    let mut advice: Vec<_> = error.attempts.iter().map(|attempt| attempt.refusal.next_step()).collect();
    advice.retain(|advice| !shown.contains(advice));
    advice.sort_unstable();
    advice.dedup();
    CommandError::failed(error.to_string()).with_remedies(advice)
}

/// Whether the kubeconfig was given by the user of the command, rather than fetched.
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

/// Why the saved cluster stays when another one was discovered.
pub(super) fn not_replaced(refused: &Refused) -> CommandError {
    unchanged("cannot replace the saved cluster", refused)
}

/// Why the saved cluster stays when it published something else.
pub(super) fn not_followed(refused: &Refused) -> CommandError {
    unchanged("cannot update the saved cluster from its cluster-info", refused)
}

fn unchanged(what: &str, refused: &Refused) -> CommandError {
    CommandError::failed(format!("{what}, which is unchanged: {refused}")).with_remedies(advice(refused))
}

/// Why the saved cluster stays when its cluster-info is unavailable.
pub(super) fn not_answered(unreached: &Unreached, shown: &[&'static str]) -> CommandError {
    let what = match unreached.cause {
        Cause::Status(_) | Cause::EtcdUnavailable => "the cluster did not return its cluster-info",
        _ => "the cluster cannot be reached",
    };
    let text = format!("{what}; the saved cluster is unchanged: {unreached}");
    let advice = Refusal::Unreached(unreached.clone()).next_step();
    let advice = Some(advice).filter(|advice| !shown.contains(advice));
    CommandError::failed(text).with_remedies(advice.into_iter().chain(if_stale(unreached)))
}

/// A server that returned an answer is the saved cluster's: the saved CA certificates have verified it.
fn if_stale(unreached: &Unreached) -> Option<&'static str> {
    (!matches!(unreached.cause, Cause::Status(_) | Cause::EtcdUnavailable)).then_some(DISCOVER_AGAIN)
}

/// For a machine that was off while the cluster moved or replaced its CA certificates: nothing that it has saved leads
/// to the cluster any more.
const DISCOVER_AGAIN: &str = "if the address or the CA certificates of the cluster have changed, discover it again: \
     machineadm discover ENDPOINT --token TOKEN --discovery-token-ca-cert-hash HASH --store; \
     on the cluster, machineadm token create --print-join-command prints these values";

fn advice(refused: &Refused) -> Option<&'static str> {
    match refused {
        Refused::NotPinned(_) | Refused::RootsDropped => Some(
            "compare the new CA certificates with the cluster's own, then accept them with --accept-unpinned-roots",
        ),
        Refused::Unusable(refusal) => Some(refusal.next_step()),
        Refused::Unverified => Some(DISCOVER_AGAIN),
    }
}
