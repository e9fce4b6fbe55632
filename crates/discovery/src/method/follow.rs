//! What an answer of the cluster may change about what is known of it.
use super::{Refusal, Unreached, published::said};
use crate::{ClusterInfo, DiscoveryKubeconfig, Pin};
use objects::ConfigMap;

/// What asking for something newer brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<'a> {
    /// cluster-info, over a connection that the present roots verify.
    Verified(&'a ConfigMap),
    /// cluster-info, over any other connection.
    Unverified(&'a ConfigMap),
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
    /// The kubeconfig that says it.
    pub kubeconfig: DiscoveryKubeconfig,
    /// What spoke against it, had somebody not agreed.
    pub despite: Option<Refused>,
}

/// Why it stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kept {
    /// The cluster says the same.
    #[error("the cluster confirmed it")]
    Same,
    /// Nobody answered.
    #[error("{0}")]
    Unreached(Unreached),
}

/// Why something else may not take its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Anybody could have said it.
    #[error("the answer came over a connection that the saved CA certificates do not verify")]
    Unverified,
    /// It isn't to be trusted as it is.
    #[error("{0}")]
    Unusable(Refusal),
    /// None of its roots is pinned.
    #[error(
        "none of the new CA certificates is pinned, {}: accept them, or discover the cluster again with their CA pins",
        keys(.0)
    )]
    NotPinned(Vec<Pin>),
    /// It would have every public authority vouch for a cluster that had its own.
    #[error(
        "the answer has no CA certificates, but the saved cluster has its own: accept the system's CA certificates instead"
    )]
    RootsDropped,
}

impl Refused {
    /// The keys that somebody has to compare with the cluster's own before agreeing.
    pub fn keys(&self) -> &[Pin] {
        match self {
            Self::NotPinned(keys) => keys,
            Self::Unverified | Self::Unusable(_) | Self::RootsDropped => &[],
        }
    }
}

fn keys(pins: &[Pin]) -> String {
    let keys = pins.iter().map(Pin::to_string).collect::<Vec<_>>().join(", ");
    if pins.len() == 1 { format!("whose key is {keys}") } else { format!("whose keys are {keys}") }
}

/// Whether an answer may take the place of what is known. It does once the cluster has been reached under it.
pub fn follow(present: &ClusterInfo, pins: &[Pin], answer: Answer<'_>, consent: Consent) -> Decision<Newer> {
    let config_map = match answer {
        Answer::None(unreached) => return Decision::Keep(Kept::Unreached(unreached.clone())),
        Answer::Unverified(_) => return Decision::Refuse(Refused::Unverified),
        Answer::Verified(config_map) => config_map,
    };
    let kubeconfig = match said(config_map) {
        Ok(kubeconfig) => kubeconfig,
        Err(refusal) => return Decision::Refuse(Refused::Unusable(refusal)),
    };
    if kubeconfig.info() == present {
        return Decision::Keep(Kept::Same);
    }
    match objection(present, pins, kubeconfig.info()) {
        Some(refused) if consent == Consent::Withheld => Decision::Refuse(refused),
        despite => Decision::Replace(Newer { kubeconfig, despite }),
    }
}

/// What speaks against new roots, unless somebody agrees to them.
pub(crate) fn objection(present: &ClusterInfo, pins: &[Pin], info: &ClusterInfo) -> Option<Refused> {
    let roots = info.roots().certificates();
    if roots.is_empty() && !present.roots().is_empty() {
        return Some(Refused::RootsDropped);
    }
    let unpinned = !pins.is_empty() && Pin::matching(pins, roots).is_empty();
    unpinned.then(|| Refused::NotPinned(roots.iter().map(Pin::of).collect()))
}
