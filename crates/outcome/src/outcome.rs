//! The outcome: what a run did, step by step, and where it stopped. Its form is versioned.
use crate::{FailureOutcome, Mode, State, TurnOutcome};
use jiff::Timestamp;
use objects::MACHINEADM_API_VERSION as API_VERSION;
use serde::{Deserialize, Serialize};

const KIND: &str = "Outcome";

/// What a run did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// `machineadm.cluster.x-k8s.io/v1alpha1`.
    pub api_version: String,
    /// `Outcome`.
    pub kind: String,
    /// machineadm's version.
    pub version: String,
    /// The machine's name.
    pub machine: String,
    /// The mode.
    pub mode: Mode,
    /// How it ended, or that it has not.
    pub state: State,
    /// When it started.
    pub started: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Timestamp>,
    /// How many documents asked for it.
    pub documents: usize,
    /// Where they came from, in their order.
    #[serde(default)]
    pub sources: Vec<Provenance>,
    /// Turn by turn: documents in their order, and what the engine adds.
    pub phases: Vec<TurnOutcome>,
    /// Why the machine needs a reboot, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reboot: Option<String>,
    /// What to know of the run as a whole, such as a report that was not delivered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureOutcome>,
}

/// What every version of an outcome has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    api_version: String,
    kind: String,
}

/// Why an outcome cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    /// It is no outcome, or only a part of one.
    #[error("the file is damaged")]
    Damaged(#[source] serde_json::Error),
    /// Another version of machineadm wrote it.
    #[error("the file is a {found}, and this machineadm reads {API_VERSION} {KIND}")]
    OtherVersion {
        /// Its API version and kind.
        found: String,
    },
}

/// Where documents came from: a file, or the way into another document, as in `node.yaml#2 > decrypted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Its name.
    pub name: String,
    /// How many documents it gave.
    pub documents: usize,
}

impl Outcome {
    /// The outcome of a run of which nothing is known yet but who runs it.
    pub fn new(version: &str, machine: String, mode: Mode, started: Timestamp) -> Self {
        Self {
            api_version: API_VERSION.into(),
            kind: KIND.into(),
            version: version.to_owned(),
            machine,
            mode,
            state: State::Running,
            started,
            finished: None,
            documents: 0,
            sources: Vec::new(),
            phases: Vec::new(),
            reboot: None,
            remarks: Vec::new(),
            failure: None,
        }
    }

    /// Reads an outcome back.
    pub fn read(bytes: &[u8]) -> Result<Self, OutcomeError> {
        let Header { api_version, kind } = serde_json::from_slice(bytes).map_err(OutcomeError::Damaged)?;
        if (api_version.as_str(), kind.as_str()) != (API_VERSION, KIND) {
            return Err(OutcomeError::OtherVersion { found: format!("{api_version} {kind}") });
        }
        serde_json::from_slice(bytes).map_err(OutcomeError::Damaged)
    }

    /// The bytes to store.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    fn outcome() -> Outcome {
        let mut outcome = Outcome::new("1.2.3", "node-7".to_owned(), Mode::Provision, Timestamp::UNIX_EPOCH);
        outcome.phases.push(TurnOutcome::not_reached("preflight", None));
        outcome
    }

    #[test]
    fn an_outcome_is_read_back_as_it_was_written() {
        let outcome = outcome();
        let bytes = outcome.bytes();
        assert!(bytes.starts_with(b"{\n") && bytes.ends_with(b"}\n"));
        assert_eq!(Outcome::read(&bytes).unwrap(), outcome);
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((&value["kind"], &value["state"]), (&"Outcome".into(), &"running".into()));
        assert_eq!((&value["mode"], &value["phases"][0]["state"]), (&"provision".into(), &"notReached".into()));
    }

    #[test]
    fn an_outcome_of_another_version_is_refused_with_its_version() {
        let text = String::from_utf8(outcome().bytes()).unwrap();
        for (from, to) in [("v1alpha1", "v9"), ("\"Outcome\"", "\"Report\"")] {
            let other = text.replace(from, to);
            let Err(error @ OutcomeError::OtherVersion { .. }) = Outcome::read(other.as_bytes()) else {
                panic!("{other}")
            };
            assert!(error.to_string().contains(to.trim_matches('"')), "{error}");
        }
    }

    #[test]
    fn what_is_no_outcome_is_damaged() {
        let half = format!(r#"{{"apiVersion": "{API_VERSION}", "kind": "Outcome"}}"#);
        for damaged in ["", "{", "[]", &half] {
            assert!(matches!(Outcome::read(damaged.as_bytes()), Err(OutcomeError::Damaged(_))), "{damaged}");
        }
    }

    #[test]
    fn outcomes_of_older_and_of_newer_versions_are_read() {
        let with = |reason: &str| {
            let failure =
                format!(r#""failure": {{{reason} "phase": "start", "cause": "x", "of a newer version": 1}},"#);
            let text = String::from_utf8(outcome().bytes()).unwrap().replacen('{', &format!("{{{failure}"), 1);
            Outcome::read(text.as_bytes()).unwrap()
        };
        for reason in ["", r#""reason": "DiskOnFire","#] {
            let outcome = with(reason);
            assert_eq!(outcome.failure.as_ref().unwrap().reason, Reason::Unknown);
            assert!(!String::from_utf8(outcome.bytes()).unwrap().contains("reason"), "nothing is made up");
        }
        let outcome = with(r#""reason": "ClockSkew","#);
        assert_eq!(outcome.failure.as_ref().unwrap().reason, Reason::ClockSkew);
        let value: serde_json::Value = serde_json::from_slice(&outcome.bytes()).unwrap();
        assert_eq!(value["failure"]["reason"], "ClockSkew");
    }
}
