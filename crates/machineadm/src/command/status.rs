//! `machineadm status`: what the last run did, and where it stopped.
use crate::{
    cli::Status,
    command_error::CommandError,
    context::silent_machine,
    show::{
        self,
        status::{Now, Reading, text},
    },
};
use engine::{Outcome, outcome::State};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
};
use jiff::Timestamp;
use std::path::Path;

pub(crate) fn run(asked: &Status, root: &Path) -> Result<Exit, CommandError> {
    let linux = silent_machine(root)?;
    let Some((outcome, place)) = latest(&linux)? else {
        let text = "machineadm has not run here yet. To see what it would do: machineadm plan -f FILE\n";
        return Err(CommandError::report(Exit::Failed, text));
    };
    let now = linux.lock_holder()?.map_or(Now::Idle, |holder| Now::AtWork(holder.0));
    match asked.output {
        Some(output) => show::machine_readable(&outcome, output),
        None => {
            let file = &linux.place_of(place);
            show::print_text(&text(&outcome, &Reading { now: &now, clock: Timestamp::now(), file, root }))
        }
    }?;
    Ok(match (outcome.state, now) {
        (State::Succeeded, _) | (State::Running, Now::AtWork(_)) => Exit::Done,
        _ => Exit::Failed,
    })
}

/// The newer of the two places where an outcome may be; what can't be read counts as absent.
fn latest(linux: &Linux) -> host::Result<Option<(Outcome, &'static str)>> {
    let mut found: Vec<(Outcome, &'static str)> = Vec::new();
    for path in [contract::OUTCOME, contract::OUTCOME_FALLBACK] {
        let file = linux.file(path)?;
        let outcome = file.and_then(|file| serde_json::from_slice(file.contents.expose()).ok());
        found.extend(outcome.map(|outcome| (outcome, path)));
    }
    Ok(found.into_iter().max_by_key(|(outcome, _): &(Outcome, _)| outcome.started))
}
