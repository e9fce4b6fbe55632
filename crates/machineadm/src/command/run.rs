//! A run, from its lock to its outcome: what `bootstrap` and `apply` share.
use super::{
    closing::{Closing, with_members},
    delivered::Delivered,
};
use crate::{
    api_servers::ApiServers,
    cli::Output,
    command_error::{self, CommandError, all_succeeded},
    context::{Configuration, Unusable, machine},
    downloads::HttpsDownloads,
    interrupt,
    reporter::Reporter,
    runtimes::Runtimes,
    show::{self, progress::Progress},
};
use engine::{
    Done, Event, Failure, LineRedactor, Manifests, Mode, Outcome, PlanError, Prune, Recorder, Redactor, ReviewedPlan,
    Transfer, TurnId, Wanted, World,
    outcome::{AddedTurn, FailureOutcome, Stage, State},
    turns,
};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
    linux::Lock,
};
use jiff::Timestamp;
use objects::one_line;
use serde_json::json;
use std::{
    cell::RefCell,
    path::Path,
    time::{Duration, Instant},
};

/// How long a run waits for an API server that may be starting.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a report says how far a download has come.
const BETWEEN_REPORTS: Duration = Duration::from_secs(2);

/// How a run goes.
pub(super) struct Run<'a> {
    pub(super) mode: Mode,
    pub(super) prune: Prune,
    pub(super) manifests: Manifests,
    pub(super) output: Option<Output>,
    pub(super) started: Timestamp,
    pub(super) root: &'a Path,
    /// The command that repeats the run.
    pub(super) again: String,
    /// What its success deletes.
    pub(super) delivered: Option<Delivered>,
    /// What its success prints besides.
    pub(super) closing: Option<&'a dyn Closing>,
}

/// Who takes note of what a run does.
struct Recorded<'a> {
    recorder: &'a mut Recorder,
    reporter: &'a Reporter,
}

/// A run that is over.
struct Ended {
    recorder: Recorder,
    ended: Result<Done, Failure>,
    reporter: Reporter,
}

/// Where a kubelet has its credentials: what has them is a node.
const KUBELET_KUBECONFIG: &str = objects::kubernetes_paths::KUBELET_KUBECONFIG;

/// Whether the machine became a node in an earlier run. A run whose configuration has no InitConfig succeeds as well, and
/// leaves the same marks.
pub(super) fn is_node(linux: &Linux) -> bool {
    let has = |path| linux.exists(path).unwrap_or(false);
    has(contract::SUCCESS_KEPT) && has(KUBELET_KUBECONFIG)
}

/// What the machine was before a run.
#[derive(Clone, Copy)]
enum Before {
    /// An earlier run in mode provision had succeeded.
    Node,
    /// None had.
    NoNode,
}

impl Before {
    /// By the mark that survives a reboot, which a run writes at its end.
    fn this_run(linux: &Linux) -> Self {
        if is_node(linux) { Self::Node } else { Self::NoNode }
    }
}

/// Locks the machine, or reports who holds it; then no other user has access to its state directory.
pub(super) fn lock(linux: &Linux, command: &str) -> Result<Lock, CommandError> {
    let who = format!("{command}, process {}, since {:.0}", std::process::id(), Timestamp::now());
    let lock = linux.lock(&who)?.map_err(|holder| {
        CommandError::new(Exit::Locked, format!("a run is in progress: {}", one_line(&holder.0)))
            .with_remedy("wait until that run has ended")
    })?;
    linux.state().restore()?;
    Ok(lock)
}

/// The machine for one run, whose caller holds the lock; what its commands print is shown without secrets.
pub(super) fn machine_for(configuration: &Configuration, root: &Path) -> Result<Linux, CommandError> {
    let echo = LineRedactor::new(configuration.redactor.clone());
    machine(root, Box::new(move |line| tell!("  | {}", one_line(&echo.redact(line)))))
}

impl Run<'_> {
    /// Runs; the caller holds the lock.
    pub(super) fn go(
        &self,
        configuration: &Configuration,
        reviewed: Option<&ReviewedPlan>,
        linux: &mut Linux,
    ) -> Result<Exit, CommandError> {
        interrupt::advise(self.advice());
        let mut recorder = self.recorder(linux, &configuration.wanted);
        let reporter = Reporter::start(&configuration.wanted.documents, linux);
        let ended = match self.prepare(configuration, &linux.state(), &recorder.outcome) {
            Ok(()) => {
                reporter.note(&recorder.outcome);
                self.phases(
                    configuration,
                    reviewed,
                    linux,
                    &mut Recorded { recorder: &mut recorder, reporter: &reporter },
                )
            }
            Err(error) => Err(failed_at(Stage::Start, error)),
        };
        self.end(linux, Ended { recorder, ended, reporter }, &configuration.redactor)
    }

    /// Ends before it could begin: its configuration is not to be had, or has turned out wrong.
    pub(super) fn give_up(&self, unusable: Unusable, linux: &Linux) -> Result<Exit, CommandError> {
        // The outcome tells one problem.
        let has_more = self.output.is_some() || unusable.read.report.notes.len() > 1;
        let all = if has_more { Err(unusable.error()) } else { Ok(()) };
        let Unusable { exit, why, read, fetched } = unusable;
        let cause = match exit {
            Exit::Input => PlanError::Wrong(why),
            _ => PlanError::Unavailable(why),
        };
        if let Some(parts) = fetched.bytes().filter(|_| exit != Exit::Input && self.mode == Mode::Provision) {
            // They only help the next run, which says itself if it misses them.
            let _ = linux.state().write(contract::FETCHED, &parts, 0o600);
        }
        let wanted = Wanted::of(read.documents);
        let recorder = self.recorder(linux, &wanted);
        // A ReportConfig that was read although something else is not to be had reports that.
        let readable = if exit == Exit::Input { &[][..] } else { &wanted.documents };
        let reporter = Reporter::start(readable, linux);
        // A report holds no secret of the documents: nothing is left to be taken out.
        let ended = Err(Failure::at(TurnId::from(Stage::Configuration), cause));
        let ended = self.end(linux, Ended { recorder, ended, reporter }, &Redactor::new([])).map(|_| ());
        all_succeeded([all, ended]).map(|()| exit).map_err(|error| error.with_exit(exit))
    }

    /// What to do after Ctrl-C.
    fn advice(&self) -> String {
        format!("interrupted; to continue: {}", self.again)
    }

    /// What is kept while the configuration is fetched.
    pub(super) fn begun(&self, linux: &Linux) -> Vec<u8> {
        self.recorder(linux, &Wanted::default()).outcome.bytes()
    }

    fn recorder(&self, linux: &Linux, wanted: &Wanted) -> Recorder {
        Recorder::begin(env!("CARGO_PKG_VERSION"), linux.name(), self.mode, wanted, self.started)
    }

    /// Saves and reports how it ended.
    fn end(&self, linux: &Linux, ended: Ended, redactor: &Redactor) -> Result<Exit, CommandError> {
        let Ended { mut recorder, ended, reporter } = ended;
        recorder.end(ended.as_ref(), redactor, Timestamp::now());
        let before = Before::this_run(linux);
        let (ended, kept) = match (ended, self.conclude(linux, &recorder.outcome, before)) {
            // All is done, but after a reboot nothing would show it: that is no success.
            (Ok(_), Err(error)) => {
                let ended = Err(failed_at(Stage::End, error));
                recorder.end(ended.as_ref(), redactor, Timestamp::now());
                (ended, self.conclude(linux, &recorder.outcome, before))
            }
            both => both,
        };
        let place = if kept.is_ok() { contract::OUTCOME } else { contract::OUTCOME_FALLBACK };
        let exit = exit_of(&ended);
        if let Some(problem) = reporter.finish(&recorder.outcome) {
            warn!("{problem}");
            recorder.outcome.remarks.push(problem);
            // It is there already, without the remark.
            let _ = linux.state().write(place, &recorder.outcome.bytes(), 0o600);
        }
        let reported = self.report(&recorder, exit, linux, place);
        all_succeeded([reported, kept.map_err(CommandError::from)])?;
        Ok(exit)
    }

    /// What must be on disk before the first change: the configuration, for a reboot to find, and that a run began.
    fn prepare(
        &self,
        configuration: &Configuration,
        state: &host::linux::State,
        outcome: &Outcome,
    ) -> host::Result<()> {
        if self.mode == Mode::Provision {
            state.write(contract::CONFIGURATION, &configuration.text, 0o600)?;
            if let Some(fetched) = configuration.fetched.bytes() {
                state.write(contract::FETCHED, &fetched, 0o600)?;
            }
            state.remove(contract::FAILURE)?;
        }
        state.write(contract::OUTCOME, &outcome.bytes(), 0o600)
    }

    fn phases(
        &self,
        configuration: &Configuration,
        reviewed: Option<&ReviewedPlan>,
        linux: &mut Linux,
        recorded: &mut Recorded<'_>,
    ) -> Result<Done, Failure> {
        let Recorded { recorder, reporter } = recorded;
        let wanted = &configuration.wanted;
        let turns = turns(self.mode, wanted, self.prune);
        // It may take minutes before its first step.
        let discovery = turns.iter().position(|turn| turn.id == TurnId::Added(AddedTurn::Discovery));
        let names = turns.iter().map(|turn| turn.id.to_string()).collect();
        let state = linux.state();
        let shown = RefCell::new((&mut **recorder, Progress::new(names), Instant::now()));
        let transferred = |transfer: Transfer| {
            let (recorder, progress, reported) = &mut *shown.borrow_mut();
            progress.transferred(transfer);
            if reported.elapsed() >= BETWEEN_REPORTS {
                *reported = Instant::now();
                recorder.note_transfer(transfer);
                reporter.note(&recorder.outcome);
            }
        };
        let mut watch = |event: Event<'_>| {
            let (recorder, progress, _) = &mut *shown.borrow_mut();
            recorder.note(&event, Timestamp::now());
            progress.note(&event);
            let is_recorded = match event {
                Event::Starts(..) => true,
                Event::Turn(at) => Some(at) == discovery,
                Event::Planned(..) | Event::Done(..) | Event::Through(_) | Event::Again(_) => false,
            };
            if is_recorded {
                // An outcome that can't be written must not stop the work that it records; the end writes it again.
                let _ = state.write(contract::OUTCOME, &recorder.outcome.bytes(), 0o600);
                reporter.note(&recorder.outcome);
            } else if matches!(event, Event::Turn(_) | Event::Again(_)) {
                reporter.send(&recorder.outcome);
            }
        };
        let run = engine::Run { mode: self.mode, wanted, prune: self.prune, manifests: self.manifests, reviewed };
        let downloads = HttpsDownloads { transferred: &transferred };
        let mut world =
            World { host: linux, cluster: &ApiServers, runtime: &Runtimes, downloads: &downloads, patience: PATIENCE };
        engine::bootstrap(&run, &mut world, &mut watch)
    }

    /// The outcome, and the marks that Cluster API's providers poll.
    fn conclude(&self, linux: &Linux, outcome: &Outcome, before: Before) -> host::Result<()> {
        let state = linux.state();
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
        match (&outcome.failure, before) {
            (None, _) => {
                kept?;
                // Before the mark, which keeps a unit from running again: if the power fails in between, the next boot
                // continues with the saved configuration and ends here again.
                self.delivered.iter().for_each(|delivered| delivered.delete(linux));
                state.write(contract::SUCCESS_KEPT, b"success\n", 0o644)?;
                state.write(contract::SUCCESS, b"success\n", 0o644)?;
                state.remove(contract::FETCHED)?;
                state.remove(contract::CONFIGURATION)
            }
            // The run has changed nothing.
            (Some(failure), Before::Node) if failure.stage() == Some(Stage::Configuration) => kept,
            // The marks record that the machine became a node, which a later run does not undo: without them its unit
            // would start again at the next boot.
            (Some(failure), Before::Node) => {
                write_failure(linux, failure)?;
                kept
            }
            (Some(failure), Before::NoNode) => {
                write_failure(linux, failure)?;
                state.remove(contract::SUCCESS)?;
                kept.and_then(|()| state.remove(contract::SUCCESS_KEPT))
            }
        }
    }

    /// Reports how the run ended. A report that standard output does not take is exit code 1, also where the run
    /// succeeded: whoever reads standard output must not take what is missing for an answer. The run stands: its outcome
    /// is on disk, and the success file, which boot tools poll, stays.
    fn report(&self, recorder: &Recorder, exit: Exit, linux: &Linux, place: &str) -> Result<(), CommandError> {
        let outcome = &recorder.outcome;
        let place = &linux.place_of(place);
        let closing = self.closing.filter(|_| outcome.failure.is_none()).map(|closing| closing.report(recorder, linux));
        let printed = match (self.output, &outcome.failure) {
            (Some(output), _) => {
                with_members(outcome, closing).and_then(|value| show::machine_readable(&value, output))
            }
            (None, None) => {
                let closing = closing.map(|closing| closing.text).unwrap_or_default();
                show::print_text(&done(outcome, place)).and_then(|()| show::print_text_whole(&closing))
            }
            (None, Some(_)) => {
                let (now, clock) = (&show::status::Now::Idle, Timestamp::now());
                let reading =
                    show::status::Reading { now, clock, file: place, root: self.root, again: Some(&self.again) };
                let text = show::status::text(outcome, &reading);
                return Err(CommandError::outcome(exit, text));
            }
        };
        let remedy = format!("the run has ended; its outcome is saved in {}", place.display());
        printed.map_err(|lost| lost.with_remedy(remedy))
    }
}

/// A run that succeeded, for people.
fn done(outcome: &Outcome, place: &Path) -> String {
    let changes = outcome.phases.iter().flat_map(|turn| &turn.steps);
    let changes = changes.filter(|step| step.state == State::Succeeded).count();
    let steps = if changes == 0 { "nothing to do".into() } else { show::count(changes, "step") };
    let reboot = outcome.reboot.as_ref().map(|why| format!(", a reboot is needed: {why}")).unwrap_or_default();
    format!(
        "{}: {} done, {steps}{reboot}\noutcome {}\n",
        one_line(&outcome.machine),
        outcome.mode.name(),
        place.display()
    )
}

fn failed_at(stage: Stage, error: host::Error) -> Failure {
    Failure::at(TurnId::from(stage), PlanError::Look(error))
}

fn exit_of(ended: &Result<Done, Failure>) -> Exit {
    match ended {
        Ok(Done { reboot: None }) => Exit::Done,
        Ok(Done { reboot: Some(_) }) => Exit::Reboot,
        Err(failure) => match command_error::exit_of(&failure.cause) {
            // That code promises that nothing was changed.
            Exit::Input => Exit::Failed,
            exit => exit,
        },
    }
}

/// The mark for whoever polls: why the machine is no node, in one line of JSON.
pub(super) fn write_failure(linux: &Linux, failure: &FailureOutcome) -> host::Result<()> {
    let FailureOutcome { phase, reason, cause, .. } = failure;
    let line = json!({"machine": linux.name(), "phase": phase, "reason": reason, "cause": cause});
    linux.state().write(contract::FAILURE, format!("{line}\n").as_bytes(), 0o600)
}
