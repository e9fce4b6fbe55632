//! Finding a cluster that one can trust: bootstrap tokens, cluster-info and its signatures, pins and discovery methods.
//!
//! ```text
//! Flags ──choose──▶ Method ──discover──▶ Discovered ──Search──▶ Cached ──refresh──▶ Cached
//!                              │  ▲
//!                    Network, Files  (ports that a program connects)
//!
//! Secrets, cluster-info, now ──bootstrap_signer::decide──▶ Signing     Secrets, now ──token_cleaner::decide──▶ Cleaning
//! ```
//!
//! - [`ClusterInfo`] is where a cluster is and which [CA certificates](certificate::CaBundle) it has. It is made from
//!   text once, by [`cluster_info::read`]; afterwards its address and its certificates are values.
//! - [`DiscoveryKubeconfig`] is the kubeconfig that says so, byte for byte: what a token signs, and what is saved.
//! - [`Method`] is how a cluster is found: by a token that signed its cluster-info, or by a kubeconfig that somebody
//!   brought. Both end in a connection that the found certificates verify, or in a [`method::Refusal`] for each place.
//! - [`cache::Cached`] is what a machine keeps, with the [`Pin`]s and the [`Proof`] that it is known by. Something newer
//!   takes its place only over a connection that it verifies ([`method::follow`]).
//! - A token's Secret is judged in one place, [`usable`], for signing, authentication, lists and cleaning.
//!
//! Nothing here reads a clock, a file or the network: time, randomness and answers come in as arguments.
pub mod bootstrap_signer;
pub mod cache;
pub mod certificate;
pub mod cluster_info;
mod constant_time;
pub mod endpoint;
pub mod expiry;
pub mod given_tokens;
pub mod jws;
pub mod lifetime;
pub mod method;
pub mod moment;
pub mod pin;
pub mod proof;
pub mod rbac;
pub mod token;
pub mod token_cleaner;
pub mod token_secret;
pub mod usable;
pub mod usage;

pub use cluster_info::{ClusterInfo, DiscoveryKubeconfig};
pub use endpoint::Endpoint;
pub use expiry::{Expiry, Remaining};
pub use lifetime::Lifetime;
pub use method::{Discovered, Method, NotTrusted, discover};
pub use moment::Moment;
pub use pin::Pin;
pub use proof::Proof;
pub use token::{BootstrapToken, TokenId, TokenSecret};
pub use token_secret::TokenSettings;
pub use usage::Usage;
