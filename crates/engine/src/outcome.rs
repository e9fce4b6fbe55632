//! The outcome: what a run did, step by step, and where it stopped. Programs read it; its form is versioned.
use crate::{
    Done, Event, Failure, Label, Line, Mode, PlanError, Provenance, Prune, Redactor, Transfer, Wanted,
    acts::kubeadm::{self, KubeadmFailure},
    turns,
};
use documents::v1alpha1::API_VERSION;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const KIND: &str = "Outcome";
/// Lines of a failed program's output that are stored.
const TAIL_LINES: usize = 20;

/// Where a run stands while it fetches what its configuration points to.
pub const CONFIGURATION: &str = "configuration";
/// Where a run stands before its first turn: it stores its configuration and records that it started.
pub const START: &str = "start";
/// Where it stands after its last: it records how it ended.
pub const END: &str = "end";

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

impl Outcome {
    /// A run that starts now.
    pub fn begin(version: &str, machine: String, mode: Mode, wanted: &Wanted, now: Timestamp) -> Self {
        Self {
            api_version: API_VERSION.into(),
            kind: KIND.into(),
            version: version.to_owned(),
            machine,
            mode,
            state: State::Running,
            started: now,
            finished: None,
            documents: wanted.documents.len(),
            sources: wanted.sources.clone(),
            phases: turns(mode, wanted, Prune::List).iter().map(|turn| TurnOutcome::of(&turn.label)).collect(),
            reboot: None,
            remarks: Vec::new(),
            failure: None,
        }
    }

    /// Takes note of an event.
    pub fn note(&mut self, event: &Event<'_>, now: Timestamp) {
        match event {
            Event::Turn(turn) => self.turn(*turn, |turn| (turn.state, turn.started) = (State::Running, Some(now))),
            Event::Planned(turn, planned) => self.turn(*turn, |turn| {
                turn.steps = planned.steps.iter().map(|step| StepOutcome::of(&Line::of(step))).collect();
                turn.remarks.extend(planned.remarks.iter().map(ToString::to_string));
            }),
            Event::Starts(turn, step, _) => self.turn(*turn, |turn| {
                if let Some(step) = turn.steps.get_mut(*step) {
                    (step.state, step.started) = (State::Running, Some(now));
                }
            }),
            Event::Done(turn, step, _) => self.turn(*turn, |turn| {
                if let Some(step) = turn.steps.get_mut(*step) {
                    step.end(State::Succeeded, now);
                }
            }),
            Event::Through(turn) => self.turn(*turn, |turn| turn.end(State::Succeeded, now)),
            Event::Again(act) => self.start_again(act),
        }
    }

    /// Takes note of how far the download of the step at work has come.
    pub fn note_transfer(&mut self, transfer: Transfer) {
        let mut steps = self.phases.iter_mut().flat_map(|turn| &mut turn.steps);
        if let Some(step) = steps.find(|step| step.state == State::Running) {
            step.transfer = Some(transfer);
        }
    }

    fn turn(&mut self, turn: usize, change: impl FnOnce(&mut TurnOutcome)) {
        self.phases.get_mut(turn).map(change);
    }

    /// Every turn comes again; the one whose act was undone says so.
    fn start_again(&mut self, act: &str) {
        for turn in &mut self.phases {
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
        self.finished = Some(now);
        let failure = match ended {
            Ok(Done { reboot }) => {
                (self.state, self.reboot) = (State::Succeeded, reboot.clone());
                return;
            }
            Err(failure) => failure,
        };
        self.state = State::Failed;
        for turn in &mut self.phases {
            // A restart is done for turns that are through.
            let has_failed = turn.fail_step(now) || turn.state == State::Running;
            if has_failed {
                turn.end(State::Failed, now);
            }
        }
        self.failure = Some(FailureOutcome::of(failure, redactor));
    }

    /// Whether this run has run an act of this name to its end. One that an earlier run had done does not count.
    pub fn has_run(&self, act: &str) -> bool {
        let mut steps = self.phases.iter().flat_map(|turn| &turn.steps);
        steps.any(|step| step.state == State::Succeeded && step.what.strip_prefix("run ") == Some(act))
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

impl TurnOutcome {
    fn of(label: &Label) -> Self {
        Self {
            name: label.to_string(),
            document: label.number(),
            state: State::NotReached,
            started: None,
            seconds: 0.0,
            steps: Vec::new(),
            remarks: Vec::new(),
        }
    }

    fn end(&mut self, state: State, now: Timestamp) {
        self.state = state;
        self.seconds = seconds(self.started, now);
    }

    /// Ends the step at work, if there is one.
    fn fail_step(&mut self, now: Timestamp) -> bool {
        match self.steps.iter_mut().find(|step| step.state == State::Running) {
            Some(step) => {
                step.end(State::Failed, now);
                true
            }
            None => false,
        }
    }
}

impl StepOutcome {
    fn of(line: &Line) -> Self {
        Self { what: line.to_string(), state: State::NotReached, started: None, seconds: 0.0, transfer: None }
    }

    fn end(&mut self, state: State, now: Timestamp) {
        self.state = state;
        self.seconds = seconds(self.started, now);
    }
}

impl FailureOutcome {
    fn of(failure: &Failure, redactor: &Redactor) -> Self {
        let host = match &*failure.cause {
            PlanError::Look(error) => Some(error),
            _ => None,
        };
        let output = host.and_then(host::Error::output).map(|output| redactor.redact(output.expose()));
        let kubeadm = kubeadm_failure(&failure.cause, redactor);
        let lines: Vec<String> = output.unwrap_or_default().lines().map(str::to_owned).collect();
        Self {
            phase: failure.at.to_string(),
            document: failure.at.number(),
            step: failure.step.clone(),
            cause: cause(&failure.cause, redactor),
            kubeadm_phase: kubeadm.as_ref().and_then(|kubeadm| kubeadm.phase.clone()),
            output: lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec(),
            advice: match &*failure.cause {
                PlanError::Wrong(_) => {
                    Some("correct the configuration, and pass it: machineadm bootstrap -f FILE".into())
                }
                _ => host.and_then(host::Error::advice).or_else(|| kubeadm.map(|kubeadm| kubeadm.advice().to_owned())),
            },
        }
    }
}

/// Why planning stopped, in one line: our own sentence as it is, and what it quotes of others without secrets.
pub fn cause(error: &PlanError, redactor: &Redactor) -> String {
    match error {
        PlanError::Unknown { act, why } => {
            PlanError::Unknown { act: act.clone(), why: redactor.redact(why) }.to_string()
        }
        error => match kubeadm_failure(error, redactor) {
            Some(KubeadmFailure { phase: Some(phase), reason }) => {
                format!("{} in phase {phase}: {}", chain(error), objects::one_line(&reason))
            }
            Some(KubeadmFailure { phase: None, reason }) => format!("{}: {}", chain(error), objects::one_line(&reason)),
            None => chain(error),
        },
    }
}

/// What kubeadm printed of its failure, without secrets.
fn kubeadm_failure(error: &PlanError, redactor: &Redactor) -> Option<KubeadmFailure> {
    let PlanError::Look(host::Error::Program { program, output, .. }) = error else { return None };
    (program == kubeadm::NAME).then(|| KubeadmFailure::read(&redactor.redact(output.expose())))?
}

/// An error and its causes, in one line, without the system's numbers.
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

fn seconds(started: Option<Timestamp>, now: Timestamp) -> f64 {
    started.map_or(0.0, |started| now.duration_since(started).as_secs_f64().max(0.0))
}
