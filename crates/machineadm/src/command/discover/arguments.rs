//! What people type after `machineadm discover`.
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Discover {
    /// API servers, tried in turn: host:port, a bare host (port 6443), or the base of an https URL
    #[arg(value_name = "ENDPOINT")]
    pub(crate) endpoints: Vec<String>,
    /// The token that cluster-info is signed with; counts as --discovery-token. Other users of this machine can see
    /// arguments: --token-file hides it
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// The same, read from a file or, with `-`, from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["token", "discovery_token"])]
    pub(crate) token_file: Option<String>,
    /// The token that cluster-info is signed with
    #[arg(long, value_name = "TOKEN")]
    pub(crate) discovery_token: Option<String>,
    /// A key that the cluster's roots must hold, as sha256:HEX; may be repeated or a list with commas, one that fits is
    /// enough
    #[arg(long, value_name = "HASH", value_delimiter = ',')]
    pub(crate) discovery_token_ca_cert_hash: Vec<String>,
    /// Go without a pin: whoever else holds the token can then pose as the cluster
    #[arg(long)]
    pub(crate) discovery_token_unsafe_skip_ca_verification: bool,
    /// Take the cluster's kubeconfig from a file, an https URL or, with `-`, from standard input
    #[arg(long, value_name = "FILE|URL|-")]
    pub(crate) discovery_file: Option<String>,
    /// Keep what was found on this machine; what is kept there already goes only if this is reached
    #[arg(long)]
    pub(crate) store: bool,
    /// Ask the cluster that is kept on this machine whether its address or its roots have changed, and follow them
    #[arg(long, conflicts_with_all = ["endpoints", "token", "token_file", "discovery_token", "discovery_file", "store",
        "discovery_token_ca_cert_hash", "discovery_token_unsafe_skip_ca_verification"])]
    pub(crate) refresh: bool,
    /// With --discovery-file: accept a kubeconfig without CA certificates although the system's CA certificates do not
    /// verify the API server
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) accept_untrusted_certificate: bool,
    /// With --refresh or --store: agree to roots of which none is pinned
    #[arg(long)]
    pub(crate) accept_unpinned_roots: bool,
    /// How long to try in all, such as 5m, 90s or 500ms
    #[arg(long, value_name = "DURATION", default_value = "5m0s")]
    pub(crate) timeout: String,
    /// How to print it
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Form>,
}

/// For programs; without it, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// The kubeconfig itself, without credentials
    Kubeconfig,
}
