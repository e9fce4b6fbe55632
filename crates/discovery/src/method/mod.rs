//! Discovery methods: how a machine that knows little finds out whom to trust.
mod confirm;
mod file;
mod flags;
mod follow;
mod https;
mod network;
mod outcome;
mod published;
mod rounds;
mod token;

use crate::{BootstrapToken, Endpoint, Pin};
use std::fmt;

pub(crate) use confirm::{Demand, confirm};
pub(crate) use flags::given_token;
pub use flags::{Flags, Problem, Purpose, choose, source};
pub(crate) use follow::objection;
pub use follow::{Answer, Consent, Decision, Kept, Newer, Refused, follow};
pub use network::{Cause, Event, Files, Network, Patience, Roots, Unreached};
pub use outcome::{Attempt, Discovered, NotTrusted, Refusal};
pub(crate) use rounds::{Until, rounds};

/// How a cluster is discovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// By a token that signed its cluster-info.
    Token {
        /// Where to ask, in turn.
        endpoints: Vec<Endpoint>,
        /// The token.
        token: BootstrapToken,
        /// What else it is known by.
        pinning: Pinning,
    },
    /// By a kubeconfig from a location that is trusted already.
    File {
        /// Where the kubeconfig is.
        source: Source,
        /// What a kubeconfig without CA certificates needs.
        verification: Verification,
    },
}

/// Whether the system's CA certificates must verify the API server when a kubeconfig has no CA certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// A certificate that they do not verify ends the discovery.
    #[default]
    Required,
    /// The user accepts it: the kubeconfig is used as it is.
    Waived,
}

/// Whether a cluster's roots are known beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// At least one root must have one of these keys.
    Pins(Vec<Pin>),
    /// Somebody has decided to go without: whoever else holds the token can pose as the cluster.
    Without,
}

/// Where a kubeconfig lies.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// In a file of this machine.
    Path(String),
    /// At an https URL. Its query may be a secret and is never shown.
    Url(String),
    /// On standard input.
    StandardInput,
}

impl Source {
    /// The source in words that may be shown.
    pub fn shown(&self) -> &str {
        match self {
            Self::Path(path) => path,
            Self::Url(url) => url.split(['?', '#']).next().unwrap_or_default(),
            Self::StandardInput => "standard input",
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown())
    }
}

/// Discovers a cluster. Nothing secret is sent; whoever isn't proven isn't trusted.
pub fn discover(
    method: &Method,
    files: &mut dyn Files,
    net: &mut dyn Network,
    patience: Patience,
) -> Result<Discovered, NotTrusted> {
    match method {
        Method::Token { endpoints, token, pinning } => token::discover(endpoints, token, pinning, net, patience),
        Method::File { source, verification } => file::discover(source, *verification, files, net, patience),
    }
}
