//! A reviewed plan: the configuration, and the fingerprint of every step that was shown.
use crate::{Label, Line, Mode, PlanError, Planned, Preview, Prune, Step, fingerprint::act_fingerprint};
use base64::{Engine, prelude::BASE64_STANDARD};
use documents::{Secret, v1alpha1::API_VERSION};
use serde::{Deserialize, Serialize};

const KIND: &str = "SavedPlan";

/// What `plan --out` writes and `apply` reads. It holds the configuration, so it is as secret as that.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedPlan {
    api_version: String,
    kind: String,
    /// The machine that it was made for.
    pub machine_id: String,
    /// Its name, for people.
    pub machine: String,
    /// The mode that it was made for.
    pub mode: Mode,
    configuration: String,
    /// Digests of what it points to, as it came then: what no turn could show yet must not become another thing.
    #[serde(default)]
    fetched: Vec<String>,
    /// Whether it removes what no document names any more.
    #[serde(default, skip_serializing_if = "is_false")]
    prune: bool,
    turns: Vec<SavedTurn>,
}

/// What was shown for review, and of what.
#[derive(Debug)]
pub struct Reviewed<'a> {
    /// The mode.
    pub mode: Mode,
    /// Whether what no document names any more is removed.
    pub prune: Prune,
    /// The machine's identity.
    pub machine_id: &'a str,
    /// The machine's name.
    pub machine: &'a str,
    /// The configuration as it came.
    pub configuration: &'a [u8],
    /// The digest of each part that it fetched.
    pub fetched: &'a [String],
    /// What was shown.
    pub preview: &'a Preview,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedTurn {
    /// Its document's kind and name; where it stands is its place in the list.
    name: String,
    /// The rest was not known then, so it can't be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    known_after: Option<String>,
    steps: Vec<SavedStep>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedStep {
    what: String,
    fingerprint: String,
    /// Of the act alone, whether it was to be run, or undone and run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    act: Option<String>,
}

impl SavedStep {
    fn of(step: &Step) -> Self {
        let act = match step {
            Step::Run(act) | Step::Redo(act) => Some(act_fingerprint(&**act)),
            Step::Ensure(_) | Step::Close(_) | Step::Wait(..) => None,
        };
        Self { what: Line::of(step).to_string(), fingerprint: step.fingerprint(), act }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_false(prune: &bool) -> bool {
    !*prune
}

/// The file is not a plan of ours.
#[derive(Debug, thiserror::Error)]
#[error("is not a plan that `machineadm plan --out` wrote")]
pub struct Unreadable;

impl SavedPlan {
    /// Stores a preview together with the configuration that it came from.
    pub fn new(reviewed: &Reviewed<'_>) -> Self {
        let Reviewed { mode, prune, machine_id, machine, configuration, fetched, preview } = *reviewed;
        let turn = |(label, planned): &(Label, Planned)| SavedTurn {
            name: label.to_string(),
            known_after: planned.known_after.as_ref().map(Label::to_string),
            steps: planned.steps.iter().map(SavedStep::of).collect(),
        };
        Self {
            api_version: API_VERSION.into(),
            kind: KIND.into(),
            machine_id: machine_id.to_owned(),
            machine: machine.to_owned(),
            mode,
            configuration: BASE64_STANDARD.encode(configuration),
            fetched: fetched.to_vec(),
            prune: prune == Prune::Restore,
            turns: preview.0.iter().map(turn).collect(),
        }
    }

    /// Whether it removes what no document names any more.
    pub const fn prune(&self) -> Prune {
        if self.prune { Prune::Restore } else { Prune::List }
    }

    /// The bytes to keep; secret, as the configuration in them is.
    pub fn bytes(&self) -> Secret<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        Secret::new(bytes)
    }

    /// Reads a plan back.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let plan: Self = serde_json::from_slice(bytes).map_err(|_| Unreadable)?;
        let ours = plan.api_version == API_VERSION && plan.kind == KIND;
        ours.then_some(plan).ok_or(Unreadable)
    }

    /// The configuration.
    pub fn configuration(&self) -> Result<Secret<Vec<u8>>, Unreadable> {
        BASE64_STANDARD.decode(&self.configuration).map(Secret::new).map_err(|_| Unreadable)
    }

    /// Whether what the configuration points to is what it was.
    pub fn allows_parts(&self, fetched: &[String]) -> Result<(), PlanError> {
        match self.fetched == fetched {
            true => Ok(()),
            false => Err(PlanError::Exchanged),
        }
    }

    /// Whether the turns are those that were reviewed, in that order.
    pub fn allows_turns<'a>(&self, turns: impl Iterator<Item = &'a Label>) -> Result<(), PlanError> {
        match turns.map(Label::to_string).eq(self.turns.iter().map(|turn| turn.name.clone())) {
            true => Ok(()),
            false => Err(PlanError::Drifted("the documents are others, or in another order".into())),
        }
    }

    /// Whether the steps of a turn, counted from 0, are those that were reviewed.
    pub fn allows(&self, turn: usize, label: &Label, planned: &Planned) -> Result<(), PlanError> {
        let saved = self.turn(turn, label)?;
        if saved.known_after.is_some() {
            return Ok(());
        }
        let now: Vec<SavedStep> = planned.steps.iter().map(SavedStep::of).collect();
        let is_in = |steps: &[SavedStep], one: &SavedStep| steps.iter().any(|step| step.fingerprint == one.fingerprint);
        if let Some(step) = now.iter().find(|step| !is_in(&saved.steps, step)) {
            let what = format!("{label} now needs: {}, or needs it for another reason", step.what);
            return Err(PlanError::Drifted(what));
        }
        if let Some(step) = saved.steps.iter().find(|step| !is_in(&now, step)) {
            return Err(PlanError::Drifted(format!("{label} no longer needs: {}", step.what)));
        }
        let print = |step: &SavedStep| step.fingerprint.clone();
        if !now.iter().map(print).eq(saved.steps.iter().map(print)) {
            return Err(PlanError::Drifted(format!("{label} would do the same in another order")));
        }
        Ok(())
    }

    /// Whether a turn runs only what was reviewed, after an undo: that may have removed what documents had made, which is
    /// made so again, but nothing else may be run.
    pub(crate) fn allows_acts(&self, turn: usize, label: &Label, planned: &Planned) -> Result<(), PlanError> {
        let saved = self.turn(turn, label)?;
        if saved.known_after.is_some() {
            return Ok(());
        }
        let now = planned.steps.iter().map(SavedStep::of);
        let mut unknown =
            now.filter(|step| step.act.is_some() && !saved.steps.iter().any(|known| known.act == step.act));
        match unknown.next() {
            None => Ok(()),
            Some(step) => Err(PlanError::Drifted(format!("after the undo {label} needs: {}", step.what))),
        }
    }

    /// By its place: documents of one kind without a name are called the same.
    fn turn(&self, turn: usize, label: &Label) -> Result<&SavedTurn, PlanError> {
        let found = self.turns.get(turn).filter(|saved| saved.name == label.to_string());
        found.ok_or_else(|| PlanError::Drifted(format!("the plan has no {label} there")))
    }
}
