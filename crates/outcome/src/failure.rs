//! Why a run failed, for people and for programs.
use crate::{Reason, Stage, TurnOutcome};
use serde::{Deserialize, Serialize};

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureOutcome {
    /// The turn: a document's kind and name, what the engine adds, or a stage outside of the turns.
    pub phase: String,
    /// The document's place in the stream after expansion, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// The step, unless the turn could not even plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Why, for programs; not written where it is unknown.
    #[serde(default, skip_serializing_if = "Reason::is_unknown")]
    pub reason: Reason,
    /// The cause in one line.
    pub cause: String,
    /// The phase of kubeadm that failed, by the name of that kubeadm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeadm_phase: Option<String>,
    /// The end of what the program printed, secrets removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl FailureOutcome {
    /// A failure of which nothing else is known.
    pub fn new(phase: impl Into<String>, reason: Reason, cause: impl Into<String>) -> Self {
        Self {
            phase: phase.into(),
            document: None,
            step: None,
            reason,
            cause: cause.into(),
            kubeadm_phase: None,
            output: Vec::new(),
            advice: None,
        }
    }

    /// The stage, where the run failed outside of all turns.
    pub fn stage(&self) -> Option<Stage> {
        if self.document.is_some() { None } else { Stage::named(&self.phase) }
    }

    /// Whether it is the failure of this turn.
    pub fn is_of(&self, turn: &TurnOutcome) -> bool {
        (&self.phase, self.document) == (&turn.name, turn.document)
    }
}

/// An error and its causes, in one line, without the system's numbers: how a cause is written.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut parts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        parts.push(cause.to_string());
        next = cause.source();
    }
    parts.dedup();
    parts.iter().map(|part| part.split(" (os error").next().unwrap_or(part)).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Wrapped {
        text: &'static str,
        source: io::Error,
    }

    #[test]
    fn an_error_is_one_line_with_its_causes_and_without_numbers_of_the_system() {
        let source = || io::Error::from_raw_os_error(28);
        assert_eq!(chain(&Wrapped { text: "cannot write", source: source() }), "cannot write: No space left on device");
        let twice = Wrapped { text: "a", source: io::Error::other("a") };
        assert_eq!(chain(&twice), "a");
    }

    #[test]
    fn only_a_failure_outside_of_all_turns_has_a_stage() {
        let mut failure = FailureOutcome::new("start", Reason::SystemError, "x");
        assert_eq!(failure.stage(), Some(Stage::Start));
        failure.document = Some(1);
        assert_eq!(failure.stage(), None);
        assert_eq!(FailureOutcome::new("preflight", Reason::ClockSkew, "x").stage(), None);
    }

    #[test]
    fn documents_of_one_name_are_told_apart_by_their_place() {
        let turn = |document| TurnOutcome::not_reached("FilesConfig", document);
        let failure =
            FailureOutcome { document: Some(2), ..FailureOutcome::new("FilesConfig", Reason::SystemError, "x") };
        assert_eq!([Some(1), Some(2), None].map(|document| failure.is_of(&turn(document))), [false, true, false]);
        assert!(!failure.is_of(&TurnOutcome::not_reached("UsersConfig", Some(2))));
    }
}
