//! `machineadm status`: what the last run did, and where it stopped.
use super::bundle;
use crate::{
    cli::Status,
    command_error::CommandError,
    context::silent_machine,
    show::{
        self,
        status::{Now, Reading, text},
    },
};
use engine::{
    Outcome,
    outcome::{OutcomeError, State, chain},
};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
};
use jiff::Timestamp;
use objects::shell;
use std::path::Path;

pub(crate) fn run(asked: &Status, root: &Path) -> Result<Exit, CommandError> {
    if let Some(out) = &asked.bundle {
        return bundle::write(out, root);
    }
    let linux = silent_machine(root)?;
    let Some(Seen { outcome, place, now }) = seen(&linux)? else {
        let shown = root.to_string_lossy();
        let mut words = vec!["machineadm", "plan", "-f", "FILE"];
        if shown != "/" {
            words.extend(["--root", &shown]);
        }
        let text =
            format!("machineadm has not run here yet. To see what it would change: {}\n", shell::command(&words));
        return Err(CommandError::report(Exit::Failed, text));
    };
    match asked.output {
        Some(output) => show::machine_readable(&outcome, output),
        None => {
            let file = &linux.place_of(place);
            show::print_text(&text(&outcome, &Reading { now: &now, clock: Timestamp::now(), file, root, again: None }))
        }
    }?;
    Ok(match (outcome.state, now) {
        (State::Succeeded, _) | (State::Running, Now::AtWork(_)) => Exit::Done,
        _ => Exit::Failed,
    })
}

/// The same text for a file, or why there is none.
pub(super) fn plain_text(linux: &Linux, root: &Path) -> Result<String, String> {
    let Some(Seen { outcome, place, now }) = seen(linux).map_err(|error| error.text().trim_end().to_owned())? else {
        return Err("machineadm has not run here yet".to_owned());
    };
    let file = &linux.place_of(place);
    let reading = Reading { now: &now, clock: Timestamp::now(), file, root, again: None };
    Ok(show::plain(&text(&outcome, &reading)))
}

/// The last run.
struct Seen {
    outcome: Outcome,
    place: &'static str,
    now: Now,
}

/// The last run, and whether it is at work. A run holds the lock as long as its outcome says that it runs: an outcome of
/// a run that has ended since is read again, so that it does not look interrupted.
fn seen(linux: &Linux) -> Result<Option<Seen>, CommandError> {
    let Some((mut outcome, mut place)) = latest(linux)? else { return Ok(None) };
    let now = linux.lock_holder()?.map_or(Now::Idle, |holder| Now::AtWork(holder.0));
    if let (State::Running, Now::Idle, Some(newer)) = (outcome.state, &now, latest(linux)?) {
        (outcome, place) = newer;
    }
    Ok(Some(Seen { outcome, place, now }))
}

/// The newer of the two files that may hold an outcome. One that cannot be read is an error: it may be the newer one.
fn latest(linux: &Linux) -> Result<Option<(Outcome, &'static str)>, CommandError> {
    let mut found: Vec<(Outcome, &'static str)> = Vec::new();
    for path in [contract::OUTCOME, contract::OUTCOME_FALLBACK] {
        let Some(file) = linux.file(path).map_err(|error| unreadable(path, &error, error.advice()))? else { continue };
        let outcome = Outcome::read(file.contents.expose());
        found.push((outcome.map_err(|error| unreadable(path, &error, remedy(&error)))?, path));
    }
    Ok(found.into_iter().max_by_key(|(outcome, _): &(Outcome, _)| outcome.started))
}

fn unreadable(path: &str, error: &dyn std::error::Error, remedy: Option<String>) -> CommandError {
    let text = format!("cannot read the outcome of the last run, {path}: {}", chain(error));
    CommandError::of_machine(text).with_remedies(remedy)
}

fn remedy(error: &OutcomeError) -> Option<String> {
    Some(match error {
        OutcomeError::Damaged(_) => "run bootstrap or apply for this machine again, which replaces the file; the log of \
                                     the last run may be in: journalctl -u machineadm"
            .into(),
        OutcomeError::OtherVersion { .. } => {
            "use the machineadm that wrote the file, or run bootstrap or apply for this machine again, which replaces it".into()
        }
    })
}
