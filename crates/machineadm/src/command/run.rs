//! A run, from its lock to its outcome: what `bootstrap` and `apply` share.
use crate::{
    cli::Output,
    context::{Configuration, complain, fail, failed, machine},
    show::{self, progress::Progress},
};
use host::{
    Linux,
    contract::{self, Exit},
    linux::Lock,
};
use jiff::Timestamp;
use machine::{
    Event, Failure, LineRedactor, Mode, Outcome, SavedPlan,
    outcome::{END, START, State},
};
use serde_json::json;
use std::path::Path;

/// What a run is told.
pub(super) struct Run<'a> {
    pub(super) mode: Mode,
    pub(super) configuration: &'a Configuration,
    pub(super) reviewed: Option<&'a SavedPlan>,
    pub(super) output: Option<Output>,
}

/// Takes the machine for one run; what its commands print is shown without secrets.
pub(super) fn take(root: &Path, configuration: &Configuration, command: &str) -> Result<(Linux, Lock), Exit> {
    let echo = LineRedactor::new(configuration.redactor.clone());
    let mut linux = machine(root, Box::new(move |line| eprintln!("  | {}", echo.redact(line))))?;
    let lock = lock(&linux, command)?;
    // Only now: a run that has just ended may have written it.
    linux.reload_journal().map_err(failed)?;
    Ok((linux, lock))
}

/// Locks the machine, or says who has it.
fn lock(linux: &Linux, command: &str) -> Result<Lock, Exit> {
    let who = format!("{command}, process {}, since {:.0}", std::process::id(), Timestamp::now());
    match linux.lock(&who) {
        Ok(Ok(lock)) => Ok(lock),
        Ok(Err(holder)) => {
            eprintln!("error: another run holds this machine: {}\nremedy: wait until it has ended", holder.0);
            Err(Exit::Locked)
        }
        Err(error) => Err(failed(error)),
    }
}

impl Run<'_> {
    /// Runs; the caller holds the lock.
    pub(super) fn go(&self, linux: &mut Linux) -> Exit {
        let wanted = &self.configuration.machine;
        let mut outcome = Outcome::begin(env!("CARGO_PKG_VERSION"), linux.name(), self.mode, wanted, Timestamp::now());
        let failed_at = |phase| move |error: host::Error| Failure { phase, step: None, cause: error.into() };
        let state = linux.state();
        let ended = match self.prepare(&state, &outcome) {
            Ok(()) => self.phases(linux, &mut outcome),
            Err(error) => Err(failed_at(START)(error)),
        };
        let redactor = &self.configuration.redactor;
        outcome.end(ended.as_ref().err(), redactor, Timestamp::now());
        let kept = match self.conclude(&state, &outcome) {
            // All is done, but nobody could tell after a reboot: that is no success, and must not look like one.
            Err(error) if ended.is_ok() => {
                outcome.end(Some(&failed_at(END)(error)), redactor, Timestamp::now());
                self.conclude(&state, &outcome)
            }
            kept => kept,
        };
        let place = if kept.is_ok() { contract::OUTCOME } else { contract::OUTCOME_FALLBACK };
        self.report(&outcome, &linux.place_of(place));
        if let Err(error) = kept {
            complain(&error);
        }
        if outcome.state == State::Succeeded { Exit::Done } else { Exit::Failed }
    }

    /// What must be on disk before the first change: the configuration, for a reboot to find, and that a run began.
    fn prepare(&self, state: &host::linux::State, outcome: &Outcome) -> host::Result<()> {
        if self.mode == Mode::Provision {
            state.write(contract::CONFIGURATION, &self.configuration.text, 0o600)?;
            state.remove(contract::FAILURE)?;
        }
        state.write(contract::OUTCOME, &outcome.bytes(), 0o600)
    }

    fn phases(&self, linux: &mut Linux, outcome: &mut Outcome) -> Result<(), Failure> {
        let mut progress = Progress::new();
        let state = linux.state();
        let mut watch = |event: Event<'_>| {
            outcome.note(&event, Timestamp::now());
            progress.note(&event);
            if matches!(event, Event::Begins(_)) {
                // A report that can't be written must not stop the work it reports on; the end writes it again.
                let _ = state.write(contract::OUTCOME, &outcome.bytes(), 0o600);
            }
        };
        machine::bootstrap(self.mode, &self.configuration.machine, self.reviewed, linux, &mut watch)
    }

    /// The outcome, and the marks that Cluster API's providers poll.
    fn conclude(&self, state: &host::linux::State, outcome: &Outcome) -> host::Result<()> {
        let kept = state.write(contract::OUTCOME, &outcome.bytes(), 0o600);
        if kept.is_err() {
            // The disk may be full or read-only: memory is better than nothing.
            state.write(contract::OUTCOME_FALLBACK, &outcome.bytes(), 0o600)?;
        } else {
            state.remove(contract::OUTCOME_FALLBACK)?;
        }
        if self.mode != Mode::Provision {
            return kept;
        }
        match &outcome.failure {
            None => {
                kept?;
                state.write(contract::SUCCESS_KEPT, b"success\n", 0o644)?;
                state.write(contract::SUCCESS, b"success\n", 0o644)?;
                state.remove(contract::CONFIGURATION)
            }
            Some(failure) => {
                let line = json!({"machine": outcome.machine, "phase": failure.phase, "cause": failure.cause});
                state.write(contract::FAILURE, format!("{line}\n").as_bytes(), 0o600)?;
                state.remove(contract::SUCCESS)?;
                kept.and_then(|()| state.remove(contract::SUCCESS_KEPT))
            }
        }
    }

    fn report(&self, outcome: &Outcome, place: &Path) {
        if let Some(output) = self.output {
            show::machine_readable(outcome, output);
            return;
        }
        let changes = outcome.phases.iter().flat_map(|phase| &phase.steps);
        let changes = changes.filter(|step| step.state == State::Succeeded).count();
        match &outcome.failure {
            None => show::print(&format!(
                "{}: {} done, {}\noutcome {}\n",
                outcome.machine,
                outcome.mode.name(),
                if changes == 0 { "nothing to do".into() } else { show::count(changes, "step") },
                place.display()
            )),
            Some(_) => {
                fail(&show::status::text(outcome, &show::status::Now::Idle, Timestamp::now(), place));
            }
        }
    }
}
