//! How a cluster was proven to be the right one.
use crate::{Moment, Pin};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a cluster was proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Proof {
    /// By a token's signature; the second, verified answer was the same.
    Token {
        /// The token's public half.
        token_id: String,
        /// The pins that fitted; none, if somebody decided to go without.
        pins: Vec<Pin>,
    },
    /// By a file of this machine.
    File {
        /// The file.
        path: String,
        /// Whether the cluster itself confirmed or updated it.
        refreshed: Refreshed,
    },
    /// By what came on standard input.
    StandardInput {
        /// Whether the cluster itself confirmed or updated it.
        refreshed: Refreshed,
    },
    /// By an https URL, which the system's roots vouch for.
    Url {
        /// The URL without its query.
        url: String,
        /// Whether the cluster itself confirmed or updated it.
        refreshed: Refreshed,
    },
    /// By somebody's word: the cluster that was kept named roots that were not pinned, and somebody agreed to them.
    Agreed {
        /// The address of the cluster as it was kept, which its roots verified.
        from: String,
        /// When.
        on: Moment,
        /// The keys that were agreed to; none, if the system's roots were.
        pins: Vec<Pin>,
    },
}

/// What the cluster itself said to a kubeconfig that was brought, over a connection that its roots verify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Refreshed {
    /// The same.
    Same,
    /// Something newer, which counts.
    Updated,
    /// Nothing that could be used, for this reason. What was brought counts.
    Not(String),
    /// Nothing: no CA certificate verifies the server, for this reason. The user accepted that.
    Untrusted(String),
}

impl Proof {
    /// What the proof leaves open.
    pub fn risk(&self) -> Option<&'static str> {
        match self {
            Self::Token { pins, .. } if pins.is_empty() => {
                Some("no CA pin was given: anyone else who has the token could pose as the cluster")
            }
            Self::File { refreshed, .. } | Self::Url { refreshed, .. } | Self::StandardInput { refreshed }
                if matches!(refreshed, Refreshed::Untrusted(_)) =>
            {
                Some("no CA certificate verifies the API server: another server may answer at its address")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token { token_id, pins } if pins.is_empty() => {
                write!(
                    f,
                    "by token {token_id} alone, without a CA pin; the second fetch, over verified TLS, returned the same content"
                )
            }
            Self::Token { token_id, pins } => {
                write!(
                    f,
                    "by token {token_id} and by the CA pin {}; the second fetch, over verified TLS, returned the same content",
                    keys(pins)
                )
            }
            Self::File { path, refreshed } => write!(f, "by the file {path}; {refreshed}"),
            Self::StandardInput { refreshed } => write!(f, "by the kubeconfig on standard input; {refreshed}"),
            Self::Url { url, refreshed } => {
                write!(f, "by {url}, verified by the system's CA certificates; {refreshed}")
            }
            Self::Agreed { from, on, pins } => {
                let to = if pins.is_empty() {
                    "the system's CA certificates".to_owned()
                } else {
                    format!("the key {}", keys(pins))
                };
                write!(f, "followed from {from} on {}; a user accepted {to}", on.date())
            }
        }
    }
}

fn keys(pins: &[Pin]) -> String {
    pins.iter().map(Pin::to_string).collect::<Vec<_>>().join(" and ")
}

impl fmt::Display for Refreshed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("the cluster confirmed it"),
            Self::Updated => f.write_str("updated by the cluster, over a connection that these CA certificates verify"),
            Self::Untrusted(reason) => write!(f, "accepted although its server is not verified: {reason}"),
            Self::Not(reason) => write!(f, "not confirmed by the cluster: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_says_whether_a_pin_was_part_of_it_and_what_it_leaves_open() {
        let token = |pins: &[Pin]| Proof::Token { token_id: "abcdef".to_owned(), pins: pins.to_vec() };
        let pin: Pin = format!("sha256:{}", "0a".repeat(32)).parse().unwrap();
        let alone =
            "by token abcdef alone, without a CA pin; the second fetch, over verified TLS, returned the same content";
        assert_eq!(token(&[]).to_string(), alone);
        let pinned = format!(
            "by token abcdef and by the CA pin {pin}; the second fetch, over verified TLS, returned the same content"
        );
        assert_eq!(token(&[pin]).to_string(), pinned);
        assert!(token(&[]).risk().is_some() && token(&[pin]).risk().is_none());
    }
}
