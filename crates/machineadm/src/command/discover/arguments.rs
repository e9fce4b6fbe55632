//! What people type after `machineadm discover`.
use super::inputs;
use crate::{cli::RootOption, command_error::CommandError};
use clap::{ArgAction, Args, ValueEnum};
use discovery::method::{Flags, Purpose};
use secret::Secret;

/// Which cluster is discovered, and by what it is verified.
#[derive(Debug, Args)]
pub(crate) struct DiscoverySource {
    /// API servers, tried in turn: host:port, a bare host (port 6443), or the base of an https URL
    #[arg(value_name = "ENDPOINT")]
    pub(crate) endpoints: Vec<String>,
    /// The same as --discovery-token. Other users of this machine can see arguments; --token-file avoids that
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Read the token from a file or, with `-`, from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["token", "discovery_token"])]
    pub(crate) token_file: Option<String>,
    /// The bootstrap token that verifies the signature of cluster-info
    #[arg(long, value_name = "TOKEN")]
    pub(crate) discovery_token: Option<String>,
    /// CA pin: the public key hash of a CA certificate of the cluster, as sha256:HEX. May be repeated or a list with
    /// commas; one match is enough
    #[arg(long, value_name = "HASH", value_delimiter = ',')]
    pub(crate) discovery_token_ca_cert_hash: Vec<String>,
    /// Discover without a CA pin: anyone else who has the token can then pose as the cluster
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) discovery_token_unsafe_skip_ca_verification: bool,
    /// Read the cluster's kubeconfig from a file, an https URL or, with `-`, from standard input
    #[arg(long, value_name = "FILE|URL|-")]
    pub(crate) discovery_file: Option<String>,
    /// With --discovery-file: accept a kubeconfig without CA certificates although the system's CA certificates do not
    /// verify the API server
    #[arg(long)]
    pub(crate) accept_untrusted_certificate: bool,
}

impl DiscoverySource {
    /// The same for discovery; the token's file is read.
    pub(crate) fn flags(&self, purpose: Purpose) -> Result<Flags, CommandError> {
        let secret = |text: &Option<String>| text.clone().map(Secret::new);
        Ok(Flags {
            purpose,
            endpoints: self.endpoints.clone(),
            token: secret(&self.token),
            token_file: self.token_file.as_deref().map(inputs::token).transpose()?,
            discovery_token: secret(&self.discovery_token),
            pins: self.discovery_token_ca_cert_hash.clone(),
            skip_ca_verification: self.discovery_token_unsafe_skip_ca_verification,
            file: self.discovery_file.clone(),
            accept_untrusted_certificate: self.accept_untrusted_certificate,
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Discover {
    #[command(flatten)]
    pub(crate) source: DiscoverySource,
    /// Save the discovered cluster on this machine. A saved cluster is replaced only if the new one can be reached
    #[arg(long)]
    pub(crate) store: bool,
    /// Update the saved cluster: ask it whether its address or its CA certificates have changed
    #[arg(long, conflicts_with_all = ["endpoints", "token", "token_file", "discovery_token", "discovery_file", "store",
        "discovery_token_ca_cert_hash", "discovery_token_unsafe_skip_ca_verification", "accept_untrusted_certificate"])]
    pub(crate) refresh: bool,
    /// With --refresh or --store: accept CA certificates of which none is pinned
    #[arg(long)]
    pub(crate) accept_unpinned_roots: bool,
    /// Give up after this time, such as 5m, 90s or 500ms
    #[arg(long, value_name = "DURATION", default_value = "5m0s")]
    pub(crate) timeout: String,
    /// Output format. Default: text for people
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Form>,
    #[command(flatten)]
    pub(crate) root: RootOption,
}

/// Output for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// The kubeconfig itself, without credentials
    Kubeconfig,
}
