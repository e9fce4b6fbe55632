//! What a command adds to the report of a run, such as the join commands of `init`.
use crate::command_error::CommandError;
use engine::{Outcome, Recorder};
use host::Linux;
use serde_json::{Map, Value};

/// What a command adds to the report of a run that succeeded.
pub(super) trait Closing {
    /// What it has to say of this run on this machine.
    fn report(&self, recorder: &Recorder, machine: &Linux) -> ClosingReport;
}

/// It for people and for programs; it may hold secrets that were asked for.
pub(super) struct ClosingReport {
    /// Follows the outcome on standard output.
    pub(super) text: String,
    /// Beside the members of the outcome.
    pub(super) members: Map<String, Value>,
}

/// An outcome for programs, with what a command adds.
pub(super) fn with_members(outcome: &Outcome, closing: Option<ClosingReport>) -> Result<Value, CommandError> {
    let no_json = |error| CommandError::failed(format!("cannot write the result as JSON: {error}"));
    let mut value = serde_json::to_value(outcome).map_err(no_json)?;
    if let (Value::Object(members), Some(closing)) = (&mut value, closing) {
        members.extend(closing.members);
    }
    Ok(value)
}
