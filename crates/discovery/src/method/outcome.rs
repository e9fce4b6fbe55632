//! What discovery ends with: a cluster and its proof, or every place that was asked and why it isn't trusted.
use super::network::{Cause, Unreached};
use crate::{
    DiscoveryKubeconfig, Pin, TokenId,
    certificate::NoCertificates,
    cluster_info::{self, KUBECONFIG_KEY},
    jws::JwsError,
    proof::Proof,
};
use std::{fmt, time::Duration};

/// A cluster that can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// The kubeconfig: as it was signed, or, for a file, with the cluster alone.
    pub kubeconfig: DiscoveryKubeconfig,
    /// How it was proven.
    pub proof: Proof,
}

/// No cluster could be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTrusted {
    /// Every place that was asked, with its last refusal.
    pub attempts: Vec<Attempt>,
    /// How long it took.
    pub spent: Duration,
}

/// A place that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// An endpoint, a URL or a file.
    pub place: String,
    /// Why it isn't trusted.
    pub refusal: Refusal,
}

/// Why a place isn't trusted, one for each step that can fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There was no answer.
    #[error("{0}")]
    Unreached(Unreached),
    /// A kubeconfig could not be fetched from its URL.
    #[error("{0}")]
    NotFetched(Unreached),
    /// A file can't be read.
    #[error("{0}")]
    Unreadable(String),
    /// There is nothing to trust yet.
    #[error("cluster-info has no {KUBECONFIG_KEY}: the cluster is not set up for discovery yet")]
    NoKubeconfig,
    /// The token hasn't signed.
    #[error("cluster-info has no signature for token {0}: the token has expired or has no signing usage")]
    NotSigned(TokenId),
    /// The signature proves nothing.
    #[error("{error} (token {id})")]
    Signature {
        /// Whose signature was looked for.
        id: TokenId,
        /// What is wrong with it.
        error: JwsError,
    },
    /// The content forbids to trust it.
    #[error("the kubeconfig is refused: {}", list(.0))]
    Content(Vec<cluster_info::Problem>),
    /// A file of roots holds none.
    #[error("the file of CA certificates {0}")]
    Roots(NoCertificates),
    /// There is no root that a pin could be compared with.
    #[error("cluster-info has no CA certificates to compare with the CA pins")]
    NothingPinned,
    /// It is another cluster.
    #[error("another cluster: {} not among the CA pins", keys(.0))]
    NotPinned(Vec<Pin>),
    /// The server isn't the cluster's.
    #[error("the second fetch, over verified TLS, failed: {0}")]
    Unverified(Unreached),
    /// The server says something else to those who verify it.
    #[error(
        "the second fetch, over verified TLS, returned other content: cluster-info was changed in transit or between the two"
    )]
    Changed,
    /// The kubeconfig has no CA certificates, and the system's do not verify the server.
    #[error(
        "the kubeconfig has no CA certificates, and the system's CA certificates do not verify the API server: {0}"
    )]
    Untrusted(Unreached),
    /// The cluster isn't reached under what it says of itself.
    #[error("{}the cluster does not confirm it: {reason}", unless_named(server, reason))]
    Unconfirmed {
        /// The address that it says.
        server: String,
        /// Why it isn't reached there.
        reason: String,
    },
}

impl Refusal {
    /// Whether the reason is the kubeconfig that was brought, and nothing that a server did.
    pub const fn is_of_the_kubeconfig(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Content(_) | Self::Roots(_))
    }

    /// What somebody can do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Unreached(unreached) => of_cluster_info(unreached.cause),
            Self::NotFetched(unreached) => of_document(unreached.cause),
            Self::Unreadable(_) => {
                "pass an existing file that no other user can write with --discovery-file, or - for standard input"
            }
            Self::Content(_) | Self::Roots(_) => "correct the kubeconfig",
            Self::NoKubeconfig => NOT_PUBLISHED,
            Self::NotSigned(_) => "on the cluster: machineadm token create --print-join-command",
            Self::Signature { .. } => "compare the token with the cluster's: machineadm token list",
            Self::NothingPinned => {
                "on the cluster: machineadm discovery-objects --ca-file FILE publishes the CA certificates"
            }
            Self::NotPinned(_) => {
                "check the address, and compare the CA pin with the cluster's CA certificate (/etc/kubernetes/pki/ca.crt)"
            }
            Self::Unverified(Unreached { cause: Cause::UntrustedCertificate, .. }) => {
                "check the address: the server that answers there does not belong to the cluster of the CA pin"
            }
            Self::Unverified(unreached) => of_cluster_info(unreached.cause),
            Self::Unconfirmed { .. } => {
                "check that the API server runs at that address with those CA certificates, and that cluster-info has them"
            }
            Self::Untrusted(_) => {
                "add the cluster's CA certificates to the kubeconfig (certificate-authority-data), or accept the risk \
                 with --accept-untrusted-certificate"
            }
            Self::Changed => {
                "run again; if the answers still differ, check the network between this machine and the cluster"
            }
        }
    }
}

const NOT_PUBLISHED: &str = "on the cluster: machineadm discovery-objects, or kubeadm init phase bootstrap-token";

/// What to do when an API server did not return cluster-info.
const fn of_cluster_info(cause: Cause) -> &'static str {
    match cause {
        Cause::Unresolved => "check the host name, and the DNS servers of this machine",
        Cause::Refused => "check the address and the port, and that the API server runs there",
        Cause::UntrustedCertificate => "check the address, and the CA certificates that the API server is verified by",
        Cause::Status(401) => {
            "on the cluster: enable anonymous authentication (--anonymous-auth of kube-apiserver, or its \
             AuthenticationConfiguration), or use --discovery-file"
        }
        Cause::Status(403) => {
            "on the cluster: create the RoleBinding kubeadm:bootstrap-signer-clusterinfo in kube-public \
             (machineadm discovery-objects), or use --discovery-file"
        }
        Cause::Status(404) => NOT_PUBLISHED,
        Cause::EtcdUnavailable => {
            "on a control plane node: machineadm control-plane list shows the etcd members; start those that are down, or \
             remove a lost one with machineadm control-plane remove"
        }
        Cause::Status(_) => "check the state of the API server",
        Cause::Other => "check the address, and the network between this machine and the API server",
    }
}

/// What to do when a server did not return a kubeconfig.
const fn of_document(cause: Cause) -> &'static str {
    match cause {
        Cause::Unresolved => "check the host name in the URL, and the DNS servers of this machine",
        Cause::Refused => "check the host and the port in the URL, and that the server runs there",
        Cause::UntrustedCertificate => {
            "check the URL; if a private CA signed the server's certificate, add that CA to this machine's trust store"
        }
        Cause::Status(_) => "check the URL and the access rights of the file",
        Cause::EtcdUnavailable | Cause::Other => "check the URL, and the network between this machine and the server",
    }
}

/// How many problems are told of a document that may be all problems.
const TOLD: usize = 20;

fn list(problems: &[cluster_info::Problem]) -> String {
    let told = problems.iter().take(TOLD).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    match problems.len().saturating_sub(TOLD) {
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

fn keys(pins: &[Pin]) -> String {
    match pins {
        [pin] => format!("its CA key {pin} is"),
        pins => format!("its CA keys {} are", pins.iter().map(Pin::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Where it was asked, unless the reason says so already.
fn unless_named(server: &str, reason: &str) -> String {
    let place = server.trim_start_matches("https://").trim_end_matches('/');
    if reason.contains(place) { String::new() } else { format!("at {server} ") }
}

impl fmt::Display for NotTrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [Attempt { place, refusal }] = &self.attempts[..] {
            return write!(f, "cannot discover the cluster from {place}: {refusal}");
        }
        write!(f, "cannot discover the cluster from any of {} locations:", self.attempts.len())?;
        let width = self.attempts.iter().map(|attempt| attempt.place.len()).max().unwrap_or_default();
        self.attempts.iter().try_for_each(|Attempt { place, refusal }| write!(f, "\n  {place:width$}   {refusal}"))
    }
}

impl std::error::Error for NotTrusted {}

impl NotTrusted {
    /// Why the last place isn't trusted.
    pub(crate) fn last(self) -> Option<Refusal> {
        self.attempts.into_iter().next_back().map(|attempt| attempt.refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreached(cause: Cause) -> Unreached {
        Unreached { text: "no answer".to_owned(), cause }
    }

    #[test]
    fn each_cause_has_its_own_next_step_for_an_api_server_and_for_a_url() {
        for (cause, of_server, of_url) in [
            (Cause::Unresolved, "check the host name, and the DNS", "check the host name in the URL"),
            (Cause::Refused, "that the API server runs there", "that the server runs there"),
            (Cause::UntrustedCertificate, "the CA certificates that the API server", "this machine's trust store"),
            (Cause::Status(401), "enable anonymous authentication", "access rights of the file"),
            (Cause::Status(403), "create the RoleBinding kubeadm:bootstrap-signer-clusterinfo", "access rights"),
            (Cause::Status(404), "kubeadm init phase bootstrap-token", "check the URL and the access rights"),
            (Cause::Status(500), "check the state of the API server", "check the URL and the access rights"),
            (Cause::EtcdUnavailable, "on a control plane node: machineadm control-plane list", "check the URL"),
            (Cause::Other, "between this machine and the API server", "between this machine and the server"),
        ] {
            let [server, url] = [Refusal::Unreached(unreached(cause)), Refusal::NotFetched(unreached(cause))];
            assert!(server.next_step().contains(of_server), "{cause:?}: {}", server.next_step());
            assert!(url.next_step().contains(of_url), "{cause:?}: {}", url.next_step());
        }
    }

    #[test]
    fn only_what_is_wrong_with_the_kubeconfig_itself_is_the_kubeconfigs() {
        let of_the_kubeconfig = [Refusal::Unreadable("not there".to_owned()), Refusal::Content(Vec::new())];
        assert!(of_the_kubeconfig.iter().all(Refusal::is_of_the_kubeconfig));
        let of_a_server = [Refusal::NoKubeconfig, Refusal::Changed, Refusal::NotFetched(unreached(Cause::Refused))];
        assert!(!of_a_server.iter().any(Refusal::is_of_the_kubeconfig));
    }
}
