//! What an answer of the cluster may change about what is known of it.
use super::{Refusal, Unreached, config_map, kubeconfig};
use crate::{
    ClusterInfo, Pin,
    cluster_info::{self, Origin},
};

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
    /// What spoke against it, had somebody not agreed.
    pub despite: Option<Refused>,
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
    #[error(
        "none of the new roots is pinned, {}: agree to them, or discover the cluster anew with their pins",
        keys(.0)
    )]
    NotPinned(Vec<Pin>),
    /// It would have every public authority vouch for a cluster that had its own.
    #[error("the answer names no roots, where the present ones are the cluster's own: agree to trust the system's")]
    RootsDropped,
    /// It was found, but can't be kept.
    #[error("what was found could not be read back once it is kept: its roots are too large, or do not fit its pins")]
    NotReadBack,
}

impl Refused {
    /// The keys that somebody has to compare with the cluster's own before agreeing.
    pub fn keys(&self) -> &[Pin] {
        match self {
            Self::NotPinned(keys) => keys,
            Self::Unverified | Self::Unusable(_) | Self::RootsDropped | Self::NotReadBack => &[],
        }
    }
}

fn keys(pins: &[Pin]) -> String {
    let keys = pins.iter().map(Pin::to_string).collect::<Vec<_>>().join(", ");
    if pins.len() == 1 { format!("whose key is {keys}") } else { format!("whose keys are {keys}") }
}

/// Whether an answer may take the place of what is known. It does once the cluster has been reached under it.
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
        despite => Decision::Replace(Newer { despite, ..newer }),
    }
}

fn newer(body: &[u8]) -> Result<Newer, Refusal> {
    let config_map = config_map(body)?;
    let bytes = kubeconfig(&config_map)?;
    let info = cluster_info::read(bytes, Origin::Signed).map_err(Refusal::Content)?.info;
    Ok(Newer { info, kubeconfig: String::from_utf8_lossy(bytes).into_owned(), despite: None })
}

/// What speaks against new roots, unless somebody agrees to them.
pub(crate) fn objection(present: &ClusterInfo, pins: &[Pin], info: &ClusterInfo) -> Option<Refused> {
    let certificates = info.certificates().unwrap_or_default();
    if certificates.is_empty() && !present.roots.is_empty() {
        return Some(Refused::RootsDropped);
    }
    let unpinned = !pins.is_empty() && Pin::matching(pins, &certificates).is_empty();
    unpinned.then(|| Refused::NotPinned(certificates.iter().map(Pin::of).collect()))
}
