//! The plan: plain data, complete enough that applying it needs no decisions of its own.
use crate::look::{Manifests, Stage};
use crate::{
    Act, Checks, Cluster, ContainerRuntime, Effect, Facts, Failure, Fault, Look, Mode, Problem, Prune, TurnId, Wanted,
    acts, restarts, turns::turns,
};
use documents::v1alpha1::Repeat;
use host::{Change, Inspect, Progress};
use objects::Sha256Sum;
use std::{collections::BTreeSet, rc::Rc, time::Duration};

/// One step of a plan: make something so, run something for its effect, or wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make a part of the machine so.
    Ensure(Change),
    /// Run something for its effect.
    Run(Rc<dyn Act>),
    /// Undo what our own interrupted run left, then run it.
    Redo(Rc<dyn Act>),
    /// All of it is done; only the journal does not know yet.
    Close(Rc<dyn Act>),
    /// Wait for a condition, so long at most.
    Wait(Condition, Duration),
}

impl Step {
    /// Whether it changes the machine, as an operator would count.
    pub const fn is_change(&self) -> bool {
        matches!(self, Self::Ensure(_) | Self::Run(_) | Self::Redo(_))
    }

    /// Whether it runs something for its effect.
    pub const fn is_act(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Redo(_))
    }
}

/// Something to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The service runs.
    ServiceActive(String),
}

/// What a turn can say now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The steps still missing, as far as they are known.
    pub steps: Vec<Step>,
    /// The earlier turn that alone can tell the rest.
    pub known_after: Option<TurnId>,
    /// What an operator should know although there is nothing to do.
    pub remarks: Vec<Remark>,
    /// What this turn has found out for later ones.
    pub facts: Facts,
    /// Everything that this turn's document names, whether it needs a change or not.
    pub names: Vec<Named>,
    /// Ownership records that end with this turn.
    pub(crate) forgets: Vec<Named>,
}

impl Planned {
    /// Whether there may be something to do.
    pub fn is_open(&self) -> bool {
        let not_checked = self.remarks.iter().any(|remark| matches!(remark, Remark::NotChecked(_)));
        self.known_after.is_some() || not_checked || self.steps.iter().any(Step::is_change)
    }
}

/// A part of the machine that one document at most owns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A file, or a managed block of one.
    File {
        /// Absolute path.
        path: String,
        /// The block's name.
        block: Option<String>,
    },
    /// A kernel parameter, by its path below `/proc/sys`.
    Parameter(String),
    /// All files of an archive.
    Archive(Sha256Sum),
}

/// Something to know although there is nothing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The command ran, but nothing shows its effect.
    Unverifiable(String),
    /// It ended well before, and some of its effect is missing now.
    Incomplete(String),
    /// Its `unless` was not executed, or did not end in time.
    NotChecked(String),
    /// Preflight has looked.
    Checks {
        /// How many checks.
        count: usize,
        /// How many problems were found and tolerated.
        tolerated: usize,
    },
    /// A preflight check has found a problem that the document tolerates.
    Tolerated {
        /// The check.
        check: &'static str,
        /// The problem.
        text: String,
    },
    /// A preflight check has found something that is no problem.
    Noticed {
        /// The check.
        check: &'static str,
        /// What it is.
        text: String,
    },
    /// Something could not be asked.
    Unasked {
        /// What it is about.
        what: String,
        /// Why not.
        why: String,
    },
    /// No service manager runs here: the service reads its files when it starts.
    AtServiceStart(String),
    /// systemd does not run here: the unit is neither started nor stopped.
    NoServiceManager(String),
    /// The root file system does not run: its kernel takes these up when it boots.
    AtBoot(&'static str),
    /// This is done only on the running machine.
    OnRunningMachine(&'static str),
    /// Reports of the run are sent.
    Reports {
        /// Where to, unless the document came encrypted.
        location: Option<String>,
    },
    /// An earlier document wrote this, and no document names it any more.
    Stale {
        /// What it is.
        what: String,
        /// The document that wrote it.
        document: String,
        /// What pruning would do, or why it leaves it alone.
        fate: &'static str,
    },
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
    /// The configuration of a run that goes on has turned out invalid.
    #[error("{0}")]
    Wrong(String),
    /// What a reviewed configuration points to is not what it was.
    #[error("a document that the configuration fetches has changed since the plan was made")]
    Exchanged,
    /// The machine or the cluster does not have what a step needs, and it is known what that is about.
    #[error("{error}")]
    Known {
        /// What it is about.
        fault: Fault,
        /// The thing, why, and what to do.
        error: host::Error,
    },
    /// The machine is not fit for what is asked; every problem at once.
    #[error("{}", joined(.0))]
    Unfit(Vec<Problem>),
    /// Unfinished work that machineadm did not start is in the way.
    #[error(
        "{0} was started outside machineadm and did not finish; run \"machineadm reset\", then run machineadm again"
    )]
    Foreign(String),
    /// Work that machineadm did not start, and whether it is finished could not be asked.
    #[error(
        "{act} was run outside machineadm, and whether it has finished could not be asked: {why}; start the API server, then run machineadm again"
    )]
    Unknown {
        /// What was run.
        act: String,
        /// Why it could not be asked.
        why: String,
    },
    /// Work that machineadm started, and that this configuration no longer has.
    #[error("{0}")]
    Abandoned(String),
    /// The manifest of the API server has edits that machineadm and kubeadm would not make.
    #[error(
        "/etc/kubernetes/manifests/kube-apiserver.yaml differs from what kubeadm renders from kubeadm-config; + lines are only in the file:\n{}\nAdd them to kubeadm-config or to a ControlPlaneConfig, or overwrite them with --force",
        .0.join("\n")
    )]
    ForeignManifest(Vec<String>),
    /// The machine is a node of another cluster.
    #[error(
        "this machine is a node of another cluster: the CA certificates in /etc/kubernetes/kubelet.conf match none of the CA pins; run \"machineadm reset\", then run machineadm again"
    )]
    OtherCluster,
    /// Undoing an act did not remove what it had left.
    #[error("{0} was undone, and some of its files are still there; run \"machineadm reset\" and check its output")]
    NotUndone(String),
    /// It was this turn's time and it still could not tell.
    #[error("{0} did not bring what this step needs")]
    StillUnknown(String),
    /// No phase handles documents of this kind.
    #[error("no plugin for {0} on this machine")]
    NoPlugin(String),
    /// The machine is not as it was when the plan was reviewed.
    #[error("the machine has changed since the plan was made: {}", .0.join("; "))]
    Drifted(Vec<String>),
}

fn joined(problems: &[Problem]) -> String {
    problems.iter().map(|problem| problem.text.as_str()).collect::<Vec<_>>().join("\n")
}

impl PlanError {
    /// One problem.
    pub(crate) fn unfit(problem: impl Into<Problem>) -> Self {
        Self::Unfit(vec![problem.into()])
    }

    /// The same for an error of the machine that is known to be about this.
    pub fn known(fault: Fault) -> impl FnOnce(host::Error) -> Self {
        |error| Self::Known { fault, error }
    }

    /// The error of the machine, if it is one.
    pub const fn of_host(&self) -> Option<&host::Error> {
        match self {
            Self::Look(error) | Self::Known { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Whether only an operator can go on.
    pub const fn needs_operator(&self) -> bool {
        match self {
            Self::Look(error) | Self::Known { error, .. } => error.needs_operator(),
            Self::Foreign(_)
            | Self::Unknown { .. }
            | Self::Abandoned(_)
            | Self::NotUndone(_)
            | Self::ForeignManifest(_)
            | Self::OtherCluster => true,
            _ => false,
        }
    }
}

/// What an act needs, given what the machine shows and the journal says. The look outranks the journal.
pub fn steps_for(act: Rc<dyn Act>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let name = act.name().to_owned();
    let mut planned = Planned::default();
    let step = match (act.effect(look)?, look.host.progress(&act.id())?) {
        (Effect::Done, Progress::Started | Progress::Failed) => Some(Step::Close(act)),
        (Effect::Done, Progress::New | Progress::Ended) => None,
        (Effect::Absent, _) => Some(Step::Run(act)),
        (Effect::Partial, Progress::Started | Progress::Failed) => Some(Step::Redo(act)),
        (Effect::Partial, Progress::New) => return Err(PlanError::Foreign(name)),
        (Effect::Partial, Progress::Ended) => {
            planned.remarks.push(Remark::Incomplete(name));
            None
        }
        (Effect::Unanswered(why), progress) => {
            let step = match progress {
                Progress::Ended => None,
                Progress::Started | Progress::Failed => Some(Step::Redo(act)),
                Progress::New => return Err(PlanError::Unknown { act: name, why }),
            };
            planned.remarks.push(Remark::Unasked { what: name, why });
            step
        }
        (Effect::NotChecked, _) => {
            planned.remarks.push(Remark::NotChecked(name));
            None
        }
        (Effect::Unseen, Progress::Ended) if act.repeat() == Repeat::Once => {
            planned.remarks.push(Remark::Unverifiable(name));
            None
        }
        (Effect::Unseen, Progress::Started) => Some(Step::Redo(act)),
        (Effect::Unseen, _) => Some(Step::Run(act)),
    };
    planned.steps.extend(step);
    Ok(planned)
}

/// What each turn says now, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Preview(pub Vec<(TurnId, Planned)>);

impl Preview {
    /// How many changes are known; a service that several turns restart is restarted once.
    pub fn changes(&self) -> usize {
        let steps = self.0.iter().flat_map(|(_, planned)| &planned.steps);
        steps.filter(|step| step.is_change()).count() - restarts::merged(&self.0).len()
    }

    /// How many commands were not checked.
    pub fn not_checked(&self) -> usize {
        let remarks = self.0.iter().flat_map(|(_, planned)| &planned.remarks);
        remarks.filter(|remark| matches!(remark, Remark::NotChecked(_))).count()
    }

    /// Whether there may be something to do.
    pub fn is_open(&self) -> bool {
        self.0.iter().any(|(_, planned)| planned.is_open())
    }
}

/// What a plan is asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The mode.
    pub mode: Mode,
    /// The documents.
    pub wanted: &'a Wanted,
    /// Whether what no document names any more is removed.
    pub prune: Prune,
    /// What becomes of edits of others in a manifest.
    pub manifests: Manifests,
    /// Whether a user's `unless` is executed.
    pub checks: Checks,
    /// How long to wait for a server that does not answer.
    pub patience: Duration,
}

/// Asks every turn now.
pub fn preview(
    ask: &Ask<'_>,
    host: &dyn Inspect,
    cluster: &dyn Cluster,
    runtime: &dyn ContainerRuntime,
) -> Result<Preview, Failure> {
    let Ask { mode, wanted, prune, manifests, checks, patience } = *ask;
    let (mut facts, mut pending, mut named) = (Facts::default(), Vec::new(), BTreeSet::new());
    acts::check_unfinished(wanted, &[], host, cluster)
        .map_err(|error| Failure::at(TurnId::from(outcome::Stage::Start), error))?;
    for turn in turns(mode, wanted, prune) {
        let look = Look {
            wanted,
            host,
            cluster,
            runtime,
            facts: &facts,
            manifests,
            checks,
            patience,
            stage: Stage::Preview,
            pending: &pending,
            named: &named,
        };
        let planned = turn.plan(&look).map_err(|error| Failure::at(turn.id.clone(), error))?;
        facts.learn(&planned.facts);
        named.extend(planned.names.iter().cloned());
        pending.push((turn.id, planned));
    }
    Ok(Preview(pending))
}
