//! The static pod of an API server, as the cluster shows it: what the kubelet runs is told by its mirror pod.
use crate::Patience;

/// The annotation of a mirror pod that tells which manifest the kubelet runs.
pub const CONFIG_HASH: &str = "kubernetes.io/config.hash";

/// A mirror pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiServerPod {
    /// Its [`CONFIG_HASH`].
    pub hash: String,
    /// Whether its containers are ready.
    pub is_ready: bool,
}

/// Which manifest is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedHash<'a> {
    /// This one.
    Is(&'a str),
    /// Any but these.
    NoneOf(&'a [String]),
}

impl WantedHash<'_> {
    /// Whether a hash is what is waited for.
    pub fn accepts(&self, hash: &str) -> bool {
        match self {
            Self::Is(wanted) => hash == *wanted,
            Self::NoneOf(old) => !old.iter().any(|old| old == hash),
        }
    }
}

/// A wait until an API server runs by a manifest, and is ready.
pub struct ApiServerWait<'a> {
    /// Its address and port, by which its mirror pod is known.
    pub advertised: &'a str,
    /// The manifest.
    pub hash: WantedHash<'a>,
    /// How long.
    pub patience: Patience<'a>,
}

impl std::fmt::Debug for ApiServerWait<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiServerWait").field("advertised", &self.advertised).field("hash", &self.hash).finish()
    }
}

/// What became of an object that was written in the place of one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// It is there now.
    Done,
    /// Another client has changed or deleted the object since.
    Conflict,
}
