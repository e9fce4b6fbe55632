//! The plan: plain data, complete enough that applying it needs no decisions of its own.
use crate::{Mode, Wanted, phases};
use documents::v1alpha1::Repeat;
use host::{Act, Change, Condition, Effect, Inspect, Progress};
use std::time::Duration;

/// One step of a plan: make something so, run something for its effect, or wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make a part of the machine so.
    Ensure(Change),
    /// Run something for its effect.
    Run(Act),
    /// Take back what our own interrupted run left, then run it.
    Redo(Act),
    /// All of it is done; only the journal does not know yet.
    Close(Act),
    /// Wait for a condition, so long at most.
    Wait(Condition, Duration),
}

impl Step {
    /// Whether it changes the machine, as a person would count.
    pub const fn is_change(&self) -> bool {
        matches!(self, Self::Ensure(_) | Self::Run(_) | Self::Redo(_))
    }
}

/// What a phase can say now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The steps still missing, as far as they are known.
    pub steps: Vec<Step>,
    /// The earlier phase that alone can tell the rest.
    pub known_after: Option<&'static str>,
    /// What a person should know although there is nothing to do.
    pub remarks: Vec<Remark>,
}

/// Something to know although there is nothing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The command ran, but nothing shows its effect.
    Unverifiable(String),
    /// No service manager runs here: the service reads its files when it starts.
    AtServiceStart(String),
    /// The tree does not run: its kernel takes these up at its boot.
    AtBoot(&'static str),
}

/// What a run knows that no look can tell; a preview knows nothing.
#[derive(Clone, Debug, Default)]
pub struct Known {
    through: Vec<&'static str>,
}

impl Known {
    /// Whether this run has already done what the phase had to do.
    pub fn is_through(&self, phase: &str) -> bool {
        self.through.contains(&phase)
    }

    /// A phase has done its part.
    pub(crate) fn note_through(&mut self, phase: &'static str) {
        self.through.push(phase);
    }
}

/// A part of the workflow; it looks and proposes, and changes nothing.
pub trait Phase: Sync {
    /// The name used on the command line, in reports and in the docs.
    fn name(&self) -> &'static str;
    /// What it does, in one line for the docs.
    fn summary(&self) -> &'static str;
    /// What is still missing on this machine.
    fn plan(&self, machine: &Wanted, known: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError>;
}

/// Planning stopped.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The machine could not be read, or can't do what is asked.
    #[error(transparent)]
    Look(#[from] host::Error),
    /// A part of the configuration could not be had.
    #[error("{0}")]
    Unavailable(String),
    /// The configuration of a run that goes on has turned out wrong.
    #[error("{0}")]
    Wrong(String),
    /// What a reviewed configuration points to is not what it was.
    #[error("what the configuration points to has changed since the plan was made")]
    Exchanged,
    /// The machine is not fit to become a node; everything that is wrong, at once.
    #[error("{}", .0.join("; "))]
    Unfit(Vec<String>),
    /// Somebody else's half-done work is in the way.
    #[error("{0} was begun by somebody else and not finished; take it back yourself (`kubeadm reset`), then run again")]
    Foreign(String),
    /// It was this phase's turn and it still could not tell.
    #[error("what {0} should have brought is still not there")]
    StillUnknown(&'static str),
    /// The machine is not as it was when the plan was reviewed.
    #[error("the machine has changed since the plan was made: {0}")]
    Drifted(String),
}

/// What an act needs, given what the machine shows and the journal says. The look outranks the journal.
pub fn steps_for(act: Act, repeat: Repeat, seen: &dyn Inspect) -> Result<Planned, PlanError> {
    let steps = match (seen.effect(&act)?, seen.progress(&act)?) {
        (Effect::Done, Progress::Began) => vec![Step::Close(act)],
        (Effect::Done, _) => Vec::new(),
        (Effect::Absent, _) => vec![Step::Run(act)],
        (Effect::Partial, Progress::Began) => vec![Step::Redo(act)],
        (Effect::Partial, _) => return Err(PlanError::Foreign(act.name().to_owned())),
        (Effect::Unseen, Progress::Ended) if repeat == Repeat::Once => {
            let remarks = vec![Remark::Unverifiable(act.name().to_owned())];
            return Ok(Planned { remarks, ..Planned::default() });
        }
        (Effect::Unseen, Progress::Began) => vec![Step::Redo(act)],
        (Effect::Unseen, _) => vec![Step::Run(act)],
    };
    Ok(Planned { steps, ..Planned::default() })
}

/// What each phase says now, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Preview(pub Vec<(&'static str, Planned)>);

impl Preview {
    /// How many changes are known.
    pub fn changes(&self) -> usize {
        self.0.iter().flat_map(|(_, planned)| &planned.steps).filter(|step| step.is_change()).count()
    }
}

/// Asks every phase now.
pub fn preview(mode: Mode, machine: &Wanted, seen: &dyn Inspect) -> Result<Preview, (&'static str, PlanError)> {
    let ask = |phase: &&dyn Phase| match phase.plan(machine, &Known::default(), seen) {
        Ok(planned) => Ok((phase.name(), planned)),
        Err(error) => Err((phase.name(), error)),
    };
    phases(mode).iter().map(ask).collect::<Result<_, _>>().map(Preview)
}
