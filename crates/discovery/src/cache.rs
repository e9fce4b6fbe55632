//! ClusterInfo kept on a machine, and when something newer may take its place.
use crate::{
    ClusterInfo, Moment, Pin,
    cluster_info::{self, Origin},
    method::{Refusal, Unreached, config_map, kubeconfig},
    proof::Proof,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// ClusterInfo as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cached {
    /// The kubeconfig.
    pub kubeconfig: String,
    /// The pins by which its roots are known; none, if they never were.
    pub pins: Vec<Pin>,
    /// How it was proven at first.
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

/// What asking for something newer brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The body of cluster-info, over a connection that the present roots verify.
    Verified(&'a [u8]),
    /// The body of cluster-info, over any other connection.
    Unverified(&'a [u8]),
    /// Nothing.
    None(&'a Unreached),
}

/// Whether somebody agrees to roots that aren't pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Nobody does.
    Withheld,
    /// Somebody does, this once.
    Given,
}

/// What becomes of what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision<T> {
    /// It stays: there is nothing newer.
    Keep(Kept),
    /// This takes its place.
    Replace(T),
    /// It stays: there is something else, but it may not take its place.
    Refuse(Refused),
}

/// Something newer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newer {
    /// What it says.
    pub info: ClusterInfo,
    /// The kubeconfig that says it.
    pub kubeconfig: String,
}

/// Why it stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kept {
    /// The cluster says the same.
    #[error("the cluster says the same")]
    Same,
    /// Nobody answered.
    #[error("{0}")]
    Unreached(Unreached),
}

/// Why something else may not take its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Anybody could have said it.
    #[error("the answer came over a connection that the present roots do not verify")]
    Unverified,
    /// It isn't to be trusted as it is.
    #[error("{0}")]
    Unusable(Refusal),
    /// None of its roots is pinned.
    #[error("none of the new roots is pinned: agree to them, or discover the cluster anew with their pins")]
    NotPinned(Vec<Pin>),
    /// It would have every public authority vouch for a cluster that had its own.
    #[error("the answer names no roots, where the present ones are the cluster's own: agree to trust the system's")]
    RootsDropped,
}

/// Whether an answer takes the place of what is known.
pub fn follow(present: &ClusterInfo, pins: &[Pin], answer: Answer<'_>, consent: Consent) -> Decision<Newer> {
    let body = match answer {
        Answer::None(unreached) => return Decision::Keep(Kept::Unreached(unreached.clone())),
        Answer::Unverified(_) => return Decision::Refuse(Refused::Unverified),
        Answer::Verified(body) => body,
    };
    let newer = match newer(body) {
        Ok(newer) => newer,
        Err(refusal) => return Decision::Refuse(Refused::Unusable(refusal)),
    };
    if newer.info == *present {
        return Decision::Keep(Kept::Same);
    }
    match objection(present, pins, &newer.info) {
        Some(refused) if consent == Consent::Withheld => Decision::Refuse(refused),
        _ => Decision::Replace(newer),
    }
}

fn newer(body: &[u8]) -> Result<Newer, Refusal> {
    let config_map = config_map(body)?;
    let bytes = kubeconfig(&config_map)?;
    let info = cluster_info::read(bytes, Origin::Signed).map_err(Refusal::Content)?.info;
    Ok(Newer { info, kubeconfig: String::from_utf8_lossy(bytes).into_owned() })
}

/// What speaks against new roots, unless somebody agrees to them.
fn objection(present: &ClusterInfo, pins: &[Pin], info: &ClusterInfo) -> Option<Refused> {
    let certificates = info.certificates().unwrap_or_default();
    if certificates.is_empty() && !present.roots.is_empty() {
        return Some(Refused::RootsDropped);
    }
    let unpinned = !pins.is_empty() && Pin::matching(pins, &certificates).is_empty();
    unpinned.then(|| Refused::NotPinned(certificates.iter().map(Pin::of).collect()))
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

    /// What becomes of it. Whoever agrees to roots that aren't pinned pins them.
    pub fn update(&self, answer: Answer<'_>, consent: Consent, now: Timestamp) -> Result<Decision<Self>, NoCache> {
        let present = self.info()?;
        Ok(match follow(&present, &self.pins, answer, consent) {
            Decision::Keep(kept) => Decision::Keep(kept),
            Decision::Refuse(refused) => Decision::Refuse(refused),
            Decision::Replace(newer) => Decision::Replace(Self {
                pins: self.pins_for(&newer.info),
                kubeconfig: newer.kubeconfig,
                proof: self.proof.clone(),
                updated: now.into(),
            }),
        })
    }

    fn pins_for(&self, info: &ClusterInfo) -> Vec<Pin> {
        let certificates = info.certificates().unwrap_or_default();
        let still_fit = self.pins.is_empty() || !Pin::matching(&self.pins, &certificates).is_empty();
        if still_fit { self.pins.clone() } else { certificates.iter().map(Pin::of).collect() }
    }
}
