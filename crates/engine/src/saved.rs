//! A reviewed plan: the configuration, and the fingerprint of every step that was shown.
use crate::{Mode, PlanError, Planned, Preview};
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
    /// Digests of what it points to, as it came then: what no phase could show yet must not become another thing.
    #[serde(default)]
    fetched: Vec<String>,
    phases: Vec<SavedPhase>,
}

/// What was shown for review, and of what.
#[derive(Debug)]
pub struct Reviewed<'a> {
    /// The mode.
    pub mode: Mode,
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
struct SavedPhase {
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
}

/// The file is not a plan of ours.
#[derive(Debug, thiserror::Error)]
#[error("is not a plan that `machineadm plan --out` wrote")]
pub struct Unreadable;

impl SavedPlan {
    /// Keeps a preview together with the configuration that it came from.
    pub fn new(reviewed: &Reviewed<'_>) -> Self {
        let Reviewed { mode, machine_id, machine, configuration, fetched, preview } = *reviewed;
        let step =
            |step: &crate::Step| SavedStep { what: crate::Line::of(step).to_string(), fingerprint: step.fingerprint() };
        let phase = |(name, planned): &(&'static str, Planned)| SavedPhase {
            name: (*name).to_owned(),
            known_after: planned.known_after.map(str::to_owned),
            steps: planned.steps.iter().map(step).collect(),
        };
        Self {
            api_version: API_VERSION.into(),
            kind: KIND.into(),
            machine_id: machine_id.to_owned(),
            machine: machine.to_owned(),
            mode,
            configuration: BASE64_STANDARD.encode(configuration),
            fetched: fetched.to_vec(),
            phases: preview.0.iter().map(phase).collect(),
        }
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

    /// Whether a phase's steps are those that were reviewed.
    pub fn allows(&self, phase: &str, planned: &Planned) -> Result<(), PlanError> {
        let Some(saved) = self.phases.iter().find(|saved| saved.name == phase) else {
            return Err(PlanError::Drifted(format!("the plan knows no phase {phase}")));
        };
        if saved.known_after.is_some() {
            return Ok(());
        }
        let now: Vec<_> =
            planned.steps.iter().map(|step| (crate::Line::of(step).to_string(), step.fingerprint())).collect();
        let is_new = |(_, print): &&(String, String)| !saved.steps.iter().any(|step| step.fingerprint == *print);
        if let Some((what, _)) = now.iter().find(is_new) {
            return Err(PlanError::Drifted(format!("{phase} now needs: {what}, or needs it for another reason")));
        }
        let is_gone = |step: &&SavedStep| !now.iter().any(|(_, print)| *print == step.fingerprint);
        if let Some(step) = saved.steps.iter().find(is_gone) {
            return Err(PlanError::Drifted(format!("{phase} no longer needs: {}", step.what)));
        }
        if !now.iter().map(|(_, print)| print).eq(saved.steps.iter().map(|step| &step.fingerprint)) {
            return Err(PlanError::Drifted(format!("{phase} would do the same in another order")));
        }
        Ok(())
    }
}
