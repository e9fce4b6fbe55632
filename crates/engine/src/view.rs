//! A plan as people and programs see it; what may be secret is never in it.
use crate::{
    Line, Mode, Planned, Preview, Provenance, Remark, TurnId, Wanted, acts::CHECK_IN_PLAN, line::INTERRUPTED, restarts,
};
use documents::v1alpha1::API_VERSION;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A plan to show.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    api_version: Cow<'static, str>,
    kind: Cow<'static, str>,
    /// The machine's name.
    pub machine: String,
    /// The mode.
    pub mode: Mode,
    /// How many documents asked for it.
    pub documents: usize,
    /// Where they came from, in their order.
    pub sources: Vec<Provenance>,
    /// What the configuration as a whole probably does not mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How many changes are known.
    pub changes: usize,
    /// Whether there may be something to do.
    #[serde(skip)]
    pub is_open: bool,
    /// How many commands were not checked, so that nobody knows whether they would run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_checked: usize,
    /// Who works on the machine while this is shown, so that it may change any moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<String>,
    /// Turn by turn: documents in their order, and what the engine adds.
    pub phases: Vec<TurnView>,
}

/// A turn of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    /// Its name: a document's kind and name, or what the engine adds.
    pub name: String,
    /// The document's place in the stream after expansion, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// The turn that alone can tell the rest, as in `document 2 (KernelModulesConfig network)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_after: Option<String>,
    /// The steps.
    pub steps: Vec<Line>,
    /// What to know although there is nothing to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl PlanView {
    /// What to show of a preview of what is wanted.
    pub fn new(machine: String, mode: Mode, wanted: &Wanted, preview: &Preview) -> Self {
        let merged = restarts::merged(&preview.0);
        let turn = |(turn, (label, planned)): (usize, &(TurnId, Planned))| TurnView {
            name: label.to_string(),
            document: label.number(),
            known_after: planned.known_after.as_ref().map(TurnId::reference),
            steps: (planned.steps.iter().enumerate())
                .filter(|(at, _)| !merged.contains(&(turn, *at)))
                .map(|(_, step)| Line::of(step))
                .collect(),
            remarks: planned.remarks.iter().map(Remark::to_string).collect(),
        };
        Self {
            api_version: API_VERSION.into(),
            kind: "Plan".into(),
            machine,
            mode,
            documents: wanted.documents.len(),
            sources: wanted.sources.clone(),
            warnings: wanted.warnings(mode),
            changes: preview.changes(),
            is_open: preview.is_open(),
            not_checked: preview.not_checked(),
            in_progress: None,
            phases: preview.0.iter().enumerate().map(turn).collect(),
        }
    }
}

impl PlanView {
    /// The same while another process works on the machine: what it has started is not interrupted.
    pub fn during(mut self, holder: String) -> Self {
        for line in self.phases.iter_mut().flat_map(|turn| &mut turn.steps) {
            line.detail = line.detail.replace(INTERRUPTED, "a run is in progress");
        }
        self.in_progress = Some(holder);
        self
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unverifiable(act) => write!(f, "{act} ran before; nothing shows its effect now"),
            Self::Incomplete(act) => write!(f, "{act} ended well before, and some of its files are missing now"),
            Self::NotChecked(act) => {
                write!(f, "{act}: not checked (its `unless` was not executed, or did not end within {CHECK_IN_PLAN:?})")
            }
            Self::Checks { count: 1, tolerated: 0 } => f.write_str("1 check passes"),
            Self::Checks { count, tolerated: 0 } => write!(f, "{count} checks, all pass"),
            Self::Checks { count, tolerated: 1 } => write!(f, "{count} checks, 1 problem tolerated"),
            Self::Checks { count, tolerated } => write!(f, "{count} checks, {tolerated} problems tolerated"),
            Self::Tolerated { check, text } => write!(f, "{check}, tolerated: {text}"),
            Self::Noticed { check, text } => write!(f, "{check}: {text}"),
            Self::Unasked { what, why } => write!(f, "{what}: could not ask the cluster: {why}"),
            Self::AtServiceStart(service) => write!(f, "{service} reads it when it starts"),
            Self::NoServiceManager(unit) => {
                write!(f, "{unit} is neither started nor stopped: systemd does not run here")
            }
            Self::AtBoot(what) => write!(f, "{what} take effect when this root file system boots"),
            Self::OnRunningMachine(what) => write!(f, "{what} by a run on the running machine, not below --root"),
            Self::Reports { location: Some(location) } => write!(f, "reports of the run are sent to {location}"),
            Self::Reports { location: None } => {
                f.write_str("reports of the run are sent to the URI in the encrypted document")
            }
            Self::Stale { what, document, fate } => {
                write!(f, "{what} was written by {document}, and no document names it any more; {fate}")
            }
        }
    }
}
