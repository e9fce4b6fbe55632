//! ClusterInfo kept on a machine, and when something newer may take its place.
mod refresh;
mod search;
mod succession;

use crate::{ClusterInfo, DiscoveryKubeconfig, Moment, Pin, proof::Proof};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use crate::method::{Answer, Consent, Decision, Kept, Newer, Refused, follow};
pub use search::{NotFound, Search};

/// ClusterInfo as it is kept. Its kubeconfig can be used, and fits its pins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cached {
    kubeconfig: DiscoveryKubeconfig,
    pins: Vec<Pin>,
    proof: Proof,
    updated: Moment,
}

/// What is kept can't be used. It isn't quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCache {
    /// It isn't what we write.
    #[error("the saved cluster is damaged: discover the cluster again")]
    Damaged,
    /// Its roots aren't those that are pinned.
    #[error("the saved cluster does not match its own CA pins: discover the cluster again")]
    NotPinned,
}

impl Cached {
    /// A cluster that is known by these pins, if it is.
    pub fn new(
        kubeconfig: DiscoveryKubeconfig,
        pins: Vec<Pin>,
        proof: Proof,
        updated: Moment,
    ) -> Result<Self, NoCache> {
        let fits = fits(&pins, kubeconfig.info());
        if fits { Ok(Self { kubeconfig, pins, proof, updated }) } else { Err(NoCache::NotPinned) }
    }

    /// Reads what [`Cached::bytes`] wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, NoCache> {
        let Self { kubeconfig, pins, proof, updated } = serde_json::from_slice(bytes).map_err(|_| NoCache::Damaged)?;
        Self::new(kubeconfig, pins, proof, updated)
    }

    /// The bytes to keep.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The kubeconfig.
    pub fn kubeconfig(&self) -> &str {
        self.kubeconfig.text()
    }

    /// What it says.
    pub fn info(&self) -> &ClusterInfo {
        self.kubeconfig.info()
    }

    /// The pins by which its roots are known; none, if they never were.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// How it was proven at first, or who agreed to what it became.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// When it was last confirmed or replaced.
    pub fn updated(&self) -> Moment {
        self.updated
    }

    /// The same, which the cluster has confirmed.
    pub fn confirmed(self, now: Timestamp) -> Self {
        Self { updated: now.into(), ..self }
    }

    /// What is kept when something newer takes its place. Whoever agrees to roots that aren't pinned pins them, and is
    /// then what they are known by.
    fn followed(&self, newer: Newer, now: Timestamp) -> Self {
        let pins = self.pins_for(newer.kubeconfig.info());
        let proof = match newer.despite {
            None => self.proof.clone(),
            Some(_) => Proof::Agreed { from: self.info().server().to_owned(), on: now.into(), pins: pins.clone() },
        };
        Self { pins, kubeconfig: newer.kubeconfig, proof, updated: now.into() }
    }

    /// The pins of what takes its place: the same where they fit, else those of the new roots.
    fn pins_for(&self, info: &ClusterInfo) -> Vec<Pin> {
        match fits(&self.pins, info) {
            true => self.pins.clone(),
            false => info.roots().certificates().iter().map(Pin::of).collect(),
        }
    }
}

/// Whether one of a cluster's roots is pinned, or none needs to be.
fn fits(pins: &[Pin], info: &ClusterInfo) -> bool {
    pins.is_empty() || !Pin::matching(pins, info.roots().certificates()).is_empty()
}
