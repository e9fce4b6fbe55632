//! A reviewed plan: the configuration, what was shown, and the fingerprint of every step.
//!
//! ```text
//!  Reviewed ──new──▶ SavedPlan ──file──▶ SavedPlan ──verified, by the machine's key──▶ ReviewedPlan
//!                                        (can be shown anywhere)                       (can be applied)
//! ```
use crate::{
    Act, Line, Manifests, Mode, PlanError, PlanKey, PlanView, Planned, Preview, Prune, Step, TurnId,
    fingerprint::act_fingerprint,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use documents::{Secret, v1alpha1::API_VERSION, v1alpha1::Repeat};
use serde::{Deserialize, Serialize};

const KIND: &str = "SavedPlan";

/// What `plan --out` writes and `apply` reads. It holds the configuration, so it is as secret as that.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedPlan {
    api_version: String,
    kind: String,
    /// Made with the key of the machine: a plan that was edited is no plan of ours.
    authentication: String,
    plan: Content,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    /// A random number, from which the key of this plan is derived.
    number: String,
    machine_id: String,
    prune: bool,
    force: bool,
    shown: PlanView,
    configuration: String,
    /// Keyed digests of what it points to, as it came then: what no turn could show yet must not become another thing.
    fetched: Vec<String>,
    turns: Vec<SavedTurn>,
}

/// A plan to save, and of what it is.
#[derive(Debug)]
pub struct Reviewed<'a> {
    /// Whether what no document names any more is removed.
    pub prune: Prune,
    /// What becomes of edits of others in a manifest.
    pub manifests: Manifests,
    /// The machine's identity.
    pub machine_id: &'a str,
    /// The configuration as it came.
    pub configuration: &'a [u8],
    /// The digest of each part that it fetched.
    pub fetched: &'a [String],
    /// What each turn said.
    pub preview: &'a Preview,
    /// What was shown of it.
    pub shown: PlanView,
    /// The machine's key.
    pub key: &'a PlanKey,
    /// A random number.
    pub number: String,
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
    fn of(step: &Step, key: &PlanKey) -> Self {
        let act = act_of(step).map(|act| act_fingerprint(act, key));
        Self { what: Line::of(step).to_string(), fingerprint: step.fingerprint(key), act }
    }
}

fn act_of(step: &Step) -> Option<&dyn Act> {
    match step {
        Step::Run(act) | Step::Redo(act) => Some(&**act),
        Step::Ensure(_) | Step::Close(_) | Step::Wait(..) => None,
    }
}

/// The file is not a plan of ours.
#[derive(Debug, thiserror::Error)]
#[error("is not a plan that `machineadm plan --out` wrote")]
pub struct Unreadable;

/// The plan does not verify: it was edited, or another machine made it.
#[derive(Debug, thiserror::Error)]
#[error("was edited since `machineadm plan --out` wrote it, or was written on another machine")]
pub struct Unverified;

impl SavedPlan {
    /// Stores a preview together with the configuration that it came from.
    pub fn new(reviewed: Reviewed<'_>) -> Self {
        let Reviewed { prune, manifests, machine_id, configuration, fetched, preview, shown, key, number } = reviewed;
        let key = key.of_plan(&number);
        let turn = |(label, planned): &(TurnId, Planned)| SavedTurn {
            name: label.to_string(),
            known_after: planned.known_after.as_ref().map(TurnId::to_string),
            steps: planned.steps.iter().map(|step| SavedStep::of(step, &key)).collect(),
        };
        let plan = Content {
            number,
            machine_id: machine_id.to_owned(),
            prune: prune == Prune::Restore,
            force: manifests == Manifests::Overwritten,
            shown,
            configuration: BASE64_STANDARD.encode(configuration),
            fetched: keyed(fetched, &key),
            turns: preview.0.iter().map(turn).collect(),
        };
        let authentication = key.authenticate(&plan.bytes());
        Self { api_version: API_VERSION.into(), kind: KIND.into(), authentication, plan }
    }

    /// The bytes to store; secret, as the configuration in them is.
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

    /// What it shows.
    pub const fn shown(&self) -> &PlanView {
        &self.plan.shown
    }

    /// The machine that it was made for.
    pub fn machine_id(&self) -> &str {
        &self.plan.machine_id
    }

    /// The plan as it was written on the machine that has this key.
    pub fn verified(self, key: &PlanKey) -> Result<ReviewedPlan, Unverified> {
        let Self { authentication, plan, .. } = self;
        let key = key.of_plan(&plan.number);
        match key.verifies(&plan.bytes(), &authentication) {
            true => Ok(ReviewedPlan { plan, key }),
            false => Err(Unverified),
        }
    }
}

impl Content {
    /// What is authenticated.
    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn keyed(digests: &[String], key: &PlanKey) -> Vec<String> {
    digests.iter().map(|digest| key.authenticate(digest.as_bytes())).collect()
}

/// A saved plan that this machine made and nobody edited.
pub struct ReviewedPlan {
    plan: Content,
    key: PlanKey,
}

impl ReviewedPlan {
    /// The mode that it was made for.
    pub const fn mode(&self) -> Mode {
        self.plan.shown.mode
    }

    /// Whether it removes what no document names any more.
    pub const fn prune(&self) -> Prune {
        if self.plan.prune { Prune::Restore } else { Prune::List }
    }

    /// What becomes of edits of others in a manifest.
    pub const fn manifests(&self) -> Manifests {
        if self.plan.force { Manifests::Overwritten } else { Manifests::Respected }
    }

    /// The configuration.
    pub fn configuration(&self) -> Result<Secret<Vec<u8>>, Unreadable> {
        BASE64_STANDARD.decode(&self.plan.configuration).map(Secret::new).map_err(|_| Unreadable)
    }

    /// Whether what the configuration points to is what it was.
    pub fn allows_parts(&self, fetched: &[String]) -> Result<(), PlanError> {
        match self.plan.fetched == keyed(fetched, &self.key) {
            true => Ok(()),
            false => Err(PlanError::Exchanged),
        }
    }

    /// Whether the turns are those that were reviewed, in that order.
    pub fn allows_turns<'a>(&self, turns: impl Iterator<Item = &'a TurnId>) -> Result<(), PlanError> {
        match turns.map(TurnId::to_string).eq(self.plan.turns.iter().map(|turn| turn.name.clone())) {
            true => Ok(()),
            false => Err(PlanError::Drifted(vec!["the documents are others, or in another order".into()])),
        }
    }

    /// Whether the steps of a turn, counted from 0, are those that were reviewed; if not, every difference.
    pub fn allows(&self, turn: usize, label: &TurnId, planned: &Planned) -> Result<(), PlanError> {
        let saved = self.turn(turn, label)?;
        if saved.known_after.is_some() {
            return Ok(());
        }
        let now: Vec<SavedStep> = planned.steps.iter().map(|step| SavedStep::of(step, &self.key)).collect();
        let is_in = |steps: &[SavedStep], one: &SavedStep| steps.iter().any(|step| step.fingerprint == one.fingerprint);
        let new = now.iter().filter(|step| !is_in(&saved.steps, step));
        let mut drift: Vec<String> =
            new.map(|step| format!("{label} now needs: {} (new, or different from the plan)", step.what)).collect();
        let gone = saved.steps.iter().filter(|step| !is_in(&now, step));
        drift.extend(gone.map(|step| format!("{label} no longer needs: {}", step.what)));
        let print = |step: &SavedStep| step.fingerprint.clone();
        if drift.is_empty() && !now.iter().map(print).eq(saved.steps.iter().map(print)) {
            drift.push(format!("{label} would do the same in another order"));
        }
        drift_of(drift)
    }

    /// Whether a turn runs only what was reviewed, after an undo: that may have removed what documents had made, which is
    /// made so again, but nothing else may be run.
    pub(crate) fn allows_acts(&self, turn: usize, label: &TurnId, planned: &Planned) -> Result<(), PlanError> {
        let saved = self.turn(turn, label)?;
        if saved.known_after.is_some() {
            return Ok(());
        }
        let now = planned.steps.iter().map(|step| SavedStep::of(step, &self.key));
        let unknown = now.filter(|step| step.act.is_some() && !saved.steps.iter().any(|known| known.act == step.act));
        drift_of(unknown.map(|step| format!("after the undo {label} needs: {}", step.what)).collect())
    }

    /// By its place: documents of one kind without a name are called the same.
    fn turn(&self, turn: usize, label: &TurnId) -> Result<&SavedTurn, PlanError> {
        let found = self.plan.turns.get(turn).filter(|saved| saved.name == label.to_string());
        found.ok_or_else(|| PlanError::Drifted(vec![format!("the plan has no {label} there")]))
    }
}

fn drift_of(differences: Vec<String>) -> Result<(), PlanError> {
    if differences.is_empty() { Ok(()) } else { Err(PlanError::Drifted(differences)) }
}

/// Whether everything that a plan asks for is done: what is left is known now, and runs at every run.
pub fn is_done(preview: &Preview) -> bool {
    let always = |step: &Step| act_of(step).is_some_and(|act| act.repeat() == Repeat::Always);
    let rests = |planned: &Planned| {
        planned.known_after.is_none() && planned.steps.iter().all(|step| !step.is_change() || always(step))
    };
    preview.0.iter().all(|(_, planned)| rests(planned))
}
