//! The recorder: turns what happens during a run into its outcome.
use crate::{
    Done, Event, Failure, Line, Mode, Outcome, PlanError, Prune, Redactor, Step, Transfer, Wanted,
    acts::kubeadm::{self, KubeadmFailure},
    turns,
};
use jiff::Timestamp;
use outcome::{ActSort, FailureOutcome, State, StepOutcome, TurnOutcome, chain};
use std::collections::BTreeSet;

/// Lines of a failed program's output that are stored.
const TAIL_LINES: usize = 20;

/// Records a run.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// What is recorded so far.
    pub outcome: Outcome,
    /// The acts that this run has run to their end.
    ran: BTreeSet<ActSort>,
}

impl Recorder {
    /// A run that starts now.
    pub fn begin(version: &str, machine: String, mode: Mode, wanted: &Wanted, now: Timestamp) -> Self {
        let outcome = Outcome {
            documents: wanted.documents.len(),
            sources: wanted.sources.clone(),
            phases: turns(mode, wanted, Prune::List)
                .iter()
                .map(|turn| TurnOutcome::not_reached(turn.id.to_string(), turn.id.number()))
                .collect(),
            ..Outcome::new(version, machine, mode, now)
        };
        Self { outcome, ran: BTreeSet::new() }
    }

    /// Takes note of an event.
    pub fn note(&mut self, event: &Event<'_>, now: Timestamp) {
        match event {
            Event::Turn(turn) => self.turn(*turn, |turn| (turn.state, turn.started) = (State::Running, Some(now))),
            Event::Planned(turn, planned) => self.turn(*turn, |turn| {
                turn.steps = planned.steps.iter().map(planned_step).collect();
                turn.remarks.extend(planned.remarks.iter().map(ToString::to_string));
            }),
            Event::Starts(turn, step, _) => self.turn(*turn, |turn| {
                if let Some(step) = turn.steps.get_mut(*step) {
                    (step.state, step.started) = (State::Running, Some(now));
                }
            }),
            Event::Done(turn, at, step) => {
                self.turn(*turn, |turn| {
                    if let Some(step) = turn.steps.get_mut(*at) {
                        end_step(step, State::Succeeded, now);
                    }
                });
                if let Step::Run(act) | Step::Redo(act) = step {
                    self.ran.insert(act.sort());
                }
            }
            Event::Through(turn) => self.turn(*turn, |turn| end_turn(turn, State::Succeeded, now)),
            Event::Again(act) => self.start_again(act),
        }
    }

    /// Takes note of how far the download of the step at work has come.
    pub fn note_transfer(&mut self, transfer: Transfer) {
        let mut steps = self.outcome.phases.iter_mut().flat_map(|turn| &mut turn.steps);
        if let Some(step) = steps.find(|step| step.state == State::Running) {
            step.transfer = Some(transfer);
        }
    }

    fn turn(&mut self, turn: usize, change: impl FnOnce(&mut TurnOutcome)) {
        self.outcome.phases.get_mut(turn).map(change);
    }

    /// Every turn comes again; the one whose act was undone says so.
    fn start_again(&mut self, act: &str) {
        self.ran.clear();
        for turn in &mut self.outcome.phases {
            let was_undone = turn.state == State::Running;
            (turn.state, turn.started, turn.seconds) = (State::NotReached, None, 0.0);
            turn.steps.clear();
            turn.remarks.clear();
            if was_undone {
                turn.remarks.push(format!("{act} was interrupted before; it was undone, and the run started again"));
            }
        }
    }

    /// The run is over; what others wrote goes through the redactor.
    pub fn end(&mut self, ended: Result<&Done, &Failure>, redactor: &Redactor, now: Timestamp) {
        let outcome = &mut self.outcome;
        outcome.finished = Some(now);
        let failure = match ended {
            Ok(Done { reboot }) => {
                (outcome.state, outcome.reboot) = (State::Succeeded, reboot.clone());
                return;
            }
            Err(failure) => failure,
        };
        outcome.state = State::Failed;
        for turn in &mut outcome.phases {
            // A restart is done for turns that are through.
            let has_failed = fail_step(turn, now) || turn.state == State::Running;
            if has_failed {
                end_turn(turn, State::Failed, now);
            }
        }
        outcome.failure = Some(recorded(failure, redactor));
    }

    /// Whether this run has run an act of this sort to its end. One that an earlier run had done does not count.
    pub fn has_run(&self, act: ActSort) -> bool {
        self.ran.contains(&act)
    }
}

fn end_turn(turn: &mut TurnOutcome, state: State, now: Timestamp) {
    turn.state = state;
    turn.seconds = seconds(turn.started, now);
}

/// Ends the step at work, if there is one.
fn fail_step(turn: &mut TurnOutcome, now: Timestamp) -> bool {
    match turn.steps.iter_mut().find(|step| step.state == State::Running) {
        Some(step) => {
            end_step(step, State::Failed, now);
            true
        }
        None => false,
    }
}

fn planned_step(step: &Step) -> StepOutcome {
    let what = Line::of(step).to_string();
    StepOutcome { what, state: State::NotReached, started: None, seconds: 0.0, transfer: None }
}

fn end_step(step: &mut StepOutcome, state: State, now: Timestamp) {
    step.state = state;
    step.seconds = seconds(step.started, now);
}

fn recorded(failure: &Failure, redactor: &Redactor) -> FailureOutcome {
    let host = failure.cause.of_host();
    let output = host.and_then(host::Error::output).map(|output| redactor.redact(output.expose()));
    let kubeadm = kubeadm_failure(&failure.cause, redactor);
    let lines: Vec<String> = output.unwrap_or_default().lines().map(str::to_owned).collect();
    FailureOutcome {
        phase: failure.at.to_string(),
        document: failure.at.number(),
        step: failure.step_in_words(),
        reason: failure.reason(),
        cause: cause(&failure.cause, redactor),
        kubeadm_phase: kubeadm.as_ref().and_then(|kubeadm| kubeadm.phase.clone()),
        output: lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec(),
        advice: match &*failure.cause {
            PlanError::Wrong(_) => Some("correct the configuration, and pass it: machineadm bootstrap -f FILE".into()),
            _ => host.and_then(host::Error::advice).or_else(|| kubeadm.map(|kubeadm| kubeadm.advice().to_owned())),
        },
    }
}

/// Why planning stopped, in one line: our own sentence as it is, and what it quotes of others without secrets.
pub fn cause(error: &PlanError, redactor: &Redactor) -> String {
    match error {
        PlanError::Unknown { act, why } => {
            PlanError::Unknown { act: act.clone(), why: redactor.redact(why) }.to_string()
        }
        error => match kubeadm_failure(error, redactor) {
            Some(KubeadmFailure { phase: Some(phase), reason, .. }) => {
                format!("{} in phase {phase}: {}", chain(error), objects::one_line(&reason))
            }
            Some(KubeadmFailure { phase: None, reason, .. }) => {
                format!("{}: {}", chain(error), objects::one_line(&reason))
            }
            None => chain(error),
        },
    }
}

/// What kubeadm printed of its failure, without secrets.
fn kubeadm_failure(error: &PlanError, redactor: &Redactor) -> Option<KubeadmFailure> {
    let PlanError::Look(host::Error::Program { program, output, .. }) = error else { return None };
    (program == kubeadm::NAME).then(|| KubeadmFailure::read(&redactor.redact(output.expose())))?
}

fn seconds(started: Option<Timestamp>, now: Timestamp) -> f64 {
    started.map_or(0.0, |started| now.duration_since(started).as_secs_f64().max(0.0))
}
