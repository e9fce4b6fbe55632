//! ClusterInfo kept on a machine, and when something newer may take its place.
mod refresh;
mod search;
mod succession;

use crate::{
    ClusterInfo, Moment, Pin,
    cluster_info::{self, Origin},
    proof::Proof,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use crate::method::{Answer, Consent, Decision, Kept, Newer, Refused, follow};
pub use search::{NotFound, Search};

/// ClusterInfo as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cached {
    /// The kubeconfig.
    pub kubeconfig: String,
    /// The pins by which its roots are known; none, if they never were.
    pub pins: Vec<Pin>,
    /// How it was proven at first, or who agreed to what it became.
    pub proof: Proof,
    /// When it was last confirmed or replaced.
    pub updated: Moment,
}

/// What is kept can't be used. It isn't quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCache {
    /// It isn't what we write.
    #[error("the kept cluster-info is damaged: discover the cluster anew")]
    Damaged,
    /// Its roots aren't those that are pinned.
    #[error("the kept cluster-info does not fit its own pins: discover the cluster anew")]
    NotPinned,
}

impl Cached {
    /// What it says.
    pub fn info(&self) -> Result<ClusterInfo, NoCache> {
        let read = cluster_info::read(self.kubeconfig.as_bytes(), Origin::Signed).map_err(|_| NoCache::Damaged)?;
        let certificates = read.info.certificates().unwrap_or_default();
        let fits = self.pins.is_empty() || !Pin::matching(&self.pins, &certificates).is_empty();
        if fits { Ok(read.info) } else { Err(NoCache::NotPinned) }
    }

    /// Reads what [`Cached::bytes`] wrote, and makes sure that it can be used.
    pub fn read(bytes: &[u8]) -> Result<Self, NoCache> {
        let cached: Self = serde_json::from_slice(bytes).map_err(|_| NoCache::Damaged)?;
        cached.info().map(|_| cached)
    }

    /// The bytes to keep.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The same, which the cluster has confirmed.
    pub fn confirmed(self, now: Timestamp) -> Self {
        Self { updated: now.into(), ..self }
    }

    /// What is kept when something newer takes its place. Whoever agrees to roots that aren't pinned pins them, and is
    /// then what they are known by.
    fn followed(&self, newer: Newer, from: &ClusterInfo, now: Timestamp) -> Self {
        let pins = self.pins_for(&newer.info);
        let proof = match newer.despite {
            None => self.proof.clone(),
            Some(_) => Proof::Agreed { from: from.server.clone(), on: now.into(), pins: pins.clone() },
        };
        Self { pins, kubeconfig: newer.kubeconfig, proof, updated: now.into() }
    }

    fn pins_for(&self, info: &ClusterInfo) -> Vec<Pin> {
        let certificates = info.certificates().unwrap_or_default();
        let still_fit = self.pins.is_empty() || !Pin::matching(&self.pins, &certificates).is_empty();
        if still_fit { self.pins.clone() } else { certificates.iter().map(Pin::of).collect() }
    }
}
