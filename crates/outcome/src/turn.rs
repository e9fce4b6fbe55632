//! What a turn of a run and its steps did.
use crate::{Action, AddedTurn};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How far something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It is at work, or was when its process ended.
    Running,
    /// It is done.
    Succeeded,
    /// It failed.
    Failed,
    /// It was never reached.
    NotReached,
}

/// What a turn did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnOutcome {
    /// Its name: a document's kind and name, or what the engine adds.
    pub name: String,
    /// The document's place in the stream after expansion, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// How far it came.
    pub state: State,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
    /// Its steps.
    #[serde(default)]
    pub steps: Vec<StepOutcome>,
    /// What to know although there was nothing to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOutcome {
    /// The step, in words.
    pub what: String,
    /// How far it came.
    pub state: State,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
    /// How far its download has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
}

/// How far a download has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transfer {
    /// Bytes that are there.
    pub received: u64,
    /// The size of the whole file, if the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl TurnOutcome {
    /// A turn that has not come yet.
    pub fn not_reached(name: impl Into<String>, document: Option<usize>) -> Self {
        Self {
            name: name.into(),
            document,
            state: State::NotReached,
            started: None,
            seconds: 0.0,
            steps: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// The turn, where it is one that the engine adds.
    pub fn added(&self) -> Option<AddedTurn> {
        if self.document.is_some() { None } else { AddedTurn::named(&self.name) }
    }

    /// The step at work.
    pub(crate) fn running_step(&self) -> Option<&StepOutcome> {
        self.steps.iter().find(|step| step.state == State::Running)
    }
}

impl StepOutcome {
    /// What it does and to what; `None` for a step of a newer version.
    pub fn action(&self) -> Option<(Action, &str)> {
        Action::split(&self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_says_what_is_done_to_what() {
        let what = "create /etc/motd".to_owned();
        let step = StepOutcome { what, state: State::Succeeded, started: None, seconds: 0.0, transfer: None };
        assert_eq!(step.action(), Some((Action::Create, "/etc/motd")));
    }

    #[test]
    fn a_document_is_never_a_turn_of_the_engines_own() {
        assert_eq!(TurnOutcome::not_reached("preflight", None).added(), Some(AddedTurn::Preflight));
        assert_eq!(TurnOutcome::not_reached("preflight", Some(1)).added(), None);
        assert_eq!(TurnOutcome::not_reached("FilesConfig", None).added(), None);
    }
}
