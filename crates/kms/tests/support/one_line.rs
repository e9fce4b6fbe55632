//! What a service that is broken or hostile may make of a failure: one short line that cannot control a terminal or forge a log.
use machineadm_kms::{Failure, FailureKind};

/// Judges a failure after an answer, which is shown where it is not so.
pub(crate) fn is_one_short_line(failure: &Failure, answer: &str) {
    assert_eq!(failure.kind, FailureKind::Unreachable, "{answer:?}: {failure}");
    let is_short = failure.message.len() < 600 && !failure.message.contains(char::is_control);
    assert!(is_short, "{answer:?}: {failure:?}");
}
