//! What discovery needs from the world: two fetches, files, a clock that only goes forward, and somebody to tell.
use crate::{ClusterInfo, certificate::Certificate, endpoint::Endpoint};
use objects::ConfigMap;
use std::time::Duration;

/// What a server's certificate is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots<'a> {
    /// By nothing: the answer proves itself, or isn't trusted.
    Unverified,
    /// By the roots of this machine.
    System,
    /// By these and no others.
    Only(&'a [Certificate]),
}

impl<'a> Roots<'a> {
    /// These; those of the system where there are none.
    pub(crate) fn of(certificates: &'a [Certificate]) -> Self {
        if certificates.is_empty() { Self::System } else { Self::Only(certificates) }
    }

    /// What a cluster's own server is verified by.
    pub(crate) fn of_cluster(info: &'a ClusterInfo) -> Self {
        Self::of(info.roots().certificates())
    }
}

/// The network and the clock.
pub trait Network {
    /// GET of cluster-info ([`crate::cluster_info::path`]) without any credentials. Ok is the ConfigMap of a 200.
    /// The certificate must be for [`Endpoint::server_name`]. It takes no longer than `within`.
    fn cluster_info(&mut self, endpoint: &Endpoint, roots: Roots<'_>, within: Duration)
    -> Result<ConfigMap, Unreached>;

    /// The body of an https URL (status 200 only), verified by the system's roots. It takes no longer than `within`.
    fn document(&mut self, url: &str, within: Duration) -> Result<Vec<u8>, Unreached>;

    /// Time since some start, which never goes back.
    fn elapsed(&self) -> Duration;

    /// Waits.
    fn pause(&mut self, time: Duration);

    /// Progress: what is tried, what failed, when again.
    fn tell(&mut self, event: Event<'_>);
}

/// Files of this machine.
pub trait Files {
    /// The content of a file, or why there is none.
    fn file(&mut self, path: &str) -> Result<Vec<u8>, String>;

    /// All of standard input, or why there is none.
    fn standard_input(&mut self) -> Result<Vec<u8>, String>;
}

/// There is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Unreached {
    /// Why, in words for people.
    pub text: String,
    /// The cause, as far as advice depends on it.
    pub cause: Cause,
}

/// The causes that call for different advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The host name has no address.
    Unresolved,
    /// Nothing listens at the address.
    Refused,
    /// The CA certificates do not verify the server's certificate.
    UntrustedCertificate,
    /// The server answered with another status than 200.
    Status(u16),
    /// The API server did not return cluster-info, and reports that its etcd does not answer. Nothing verifies the
    /// report: it decides a text, and nothing else.
    EtcdUnavailable,
    /// Anything else, such as a timeout.
    Other,
}

impl Unreached {
    /// Whether the server answered that anonymous clients may not read it.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.cause, Cause::Status(401 | 403))
    }
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// An endpoint or URL is asked.
    Trying {
        /// Which.
        place: &'a str,
    },
    /// It isn't trusted, or not yet, for another reason than the last time.
    Refused {
        /// Which.
        place: &'a str,
        /// Why.
        text: &'a str,
        /// What somebody can do about it.
        next_step: &'static str,
    },
    /// Everything is asked again.
    Again {
        /// After this time.
        after: Duration,
    },
}

/// How long is asked again and again, for a machine that boots before its control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The time between two rounds.
    pub every: Duration,
    /// The time after which everything ends.
    pub total: Duration,
}

impl Patience {
    /// Asks as often as kubeadm, but several times however little time there is.
    pub fn within(total: Duration) -> Self {
        Self { every: (total / 5).min(Duration::from_secs(5)), total }
    }

    /// What is left of it after this time.
    pub(crate) fn after(self, spent: Duration) -> Self {
        Self { total: self.total.saturating_sub(spent), ..self }
    }
}

/// As kubeadm.
impl Default for Patience {
    fn default() -> Self {
        Self::within(Duration::from_secs(300))
    }
}
