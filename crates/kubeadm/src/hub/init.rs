//! What `kubeadm init` needs.
use super::{ApiEndpoint, NodeRegistration, Patches, Timeouts};
use crate::{
    scalar::{Duration, Time},
    shape::shape,
};
use secret::Secret;

shape! {
    /// What `kubeadm init` needs.
    pub struct InitConfiguration {
        /// Tokens to create, with which nodes may join.
        pub bootstrap_tokens: Vec<BootstrapToken>,
        /// Only show what would be done.
        pub dry_run: Option<bool>,
        /// How the node registers.
        pub node_registration: NodeRegistration,
        /// Where this node's API server listens.
        #[serde(rename = "localAPIEndpoint")]
        pub local_api_endpoint: ApiEndpoint,
        /// The key that encrypts the uploaded certificates.
        #[serde(serialize_with = "secret::exposed")]
        pub certificate_key: Option<Secret<String>>,
        /// Phases to leave out.
        pub skip_phases: Vec<String>,
        /// Patches of the components that kubeadm deploys.
        pub patches: Option<Patches>,
        /// How long to wait for what.
        pub timeouts: Option<Timeouts>,
    }

    /// A token with which nodes may join.
    pub struct BootstrapToken {
        /// The token, `id.secret`.
        #[serde(serialize_with = "secret::exposed")]
        pub token: Option<Secret<String>>,
        /// What it is for.
        pub description: Option<String>,
        /// How long it lives.
        pub ttl: Option<Duration>,
        /// When it ends; instead of `ttl`.
        pub expires: Option<Time>,
        /// `signing`, `authentication` or both.
        pub usages: Vec<String>,
        /// The groups of who authenticates with it.
        pub groups: Vec<String>,
    }
}
