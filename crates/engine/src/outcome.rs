//! The outcome: what a run did, step by step, and where it stopped. Programs read it; its form is versioned.
use crate::{Event, Failure, Line, Mode, PlanError, Provenance, Redactor, Wanted, phases};
use documents::v1alpha1::API_VERSION;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Lines of a failed program's output that are kept.
const TAIL_LINES: usize = 20;

/// Where a run stands while it fetches what its configuration points to.
pub const CONFIGURATION: &str = "configuration";
/// Where a run stands before its first phase: it keeps its configuration and says that it began.
pub const START: &str = "start";
/// Where it stands after its last: it says how it ended.
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
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Timestamp>,
    /// How many documents asked for it.
    pub documents: usize,
    /// Where they came from, in their order.
    #[serde(default)]
    pub sources: Vec<Provenance>,
    /// Phase by phase.
    pub phases: Vec<PhaseOutcome>,
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

/// What a phase did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseOutcome {
    /// Its name.
    pub name: String,
    /// How far it came.
    pub state: State,
    /// When it began.
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
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureOutcome {
    /// The phase.
    pub phase: String,
    /// The step, unless the phase could not even plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The cause in one line.
    pub cause: String,
    /// The end of what the program printed, secrets removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Outcome {
    /// A run that begins now.
    pub fn begin(version: &str, machine: String, mode: Mode, wanted: &Wanted, now: Timestamp) -> Self {
        let phase = |name: &str| PhaseOutcome {
            name: name.to_owned(),
            state: State::NotReached,
            started: None,
            seconds: 0.0,
            steps: Vec::new(),
            remarks: Vec::new(),
        };
        Self {
            api_version: API_VERSION.into(),
            kind: "Outcome".into(),
            version: version.to_owned(),
            machine,
            mode,
            state: State::Running,
            started: now,
            finished: None,
            documents: wanted.documents,
            sources: wanted.sources.clone(),
            phases: phases(mode).iter().map(|known| phase(known.name())).collect(),
            failure: None,
        }
    }

    /// Takes note of an event.
    pub fn note(&mut self, event: &Event<'_>, now: Timestamp) {
        if let Event::Phase(name) = event
            && let Some(phase) = self.phases.iter_mut().find(|phase| phase.name == *name)
        {
            (phase.state, phase.started) = (State::Running, Some(now));
        }
        let Some(phase) = self.phases.iter_mut().rfind(|phase| phase.state == State::Running) else { return };
        match event {
            Event::Phase(_) => {}
            Event::Planned(planned) => {
                let step = |step| StepOutcome {
                    what: Line::of(step).to_string(),
                    state: State::NotReached,
                    started: None,
                    seconds: 0.0,
                };
                phase.steps = planned.steps.iter().map(step).collect();
                phase.remarks = planned.remarks.iter().map(ToString::to_string).collect();
            }
            Event::Begins(_) => {
                if let Some(step) = phase.steps.iter_mut().find(|step| step.state == State::NotReached) {
                    (step.state, step.started) = (State::Running, Some(now));
                }
            }
            Event::Done(_) => phase.end_step(State::Succeeded, now),
            Event::Through => phase.end(State::Succeeded, now),
        }
    }

    /// The run is over; output and cause go through the redactor.
    pub fn end(&mut self, failure: Option<&Failure>, redactor: &Redactor, now: Timestamp) {
        self.finished = Some(now);
        self.state = if failure.is_some() { State::Failed } else { State::Succeeded };
        let Some(failure) = failure else { return };
        if let Some(phase) = self.phases.iter_mut().find(|phase| phase.state == State::Running) {
            phase.end_step(State::Failed, now);
            phase.end(State::Failed, now);
        }
        let host = match &failure.cause {
            PlanError::Look(error) => Some(error),
            _ => None,
        };
        let output = host.and_then(host::Error::output).map(|output| redactor.redact(output.expose()));
        let lines: Vec<String> = output.unwrap_or_default().lines().map(str::to_owned).collect();
        self.failure = Some(FailureOutcome {
            phase: failure.phase.to_owned(),
            step: failure.step.clone(),
            cause: redactor.redact(&chain(&failure.cause)),
            output: lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec(),
            advice: match &failure.cause {
                PlanError::Wrong(_) => {
                    Some("put the configuration right, and give it: machineadm bootstrap -f FILE".into())
                }
                _ => host.and_then(host::Error::advice),
            },
        });
    }

    /// The bytes to keep.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl PhaseOutcome {
    fn end(&mut self, state: State, now: Timestamp) {
        self.state = state;
        self.seconds = seconds(self.started, now);
    }

    fn end_step(&mut self, state: State, now: Timestamp) {
        if let Some(step) = self.steps.iter_mut().find(|step| step.state == State::Running) {
            step.state = state;
            step.seconds = seconds(step.started, now);
        }
    }
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
