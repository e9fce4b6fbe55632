//! Finding a cluster that one can trust: bootstrap tokens, cluster-info and its signatures, pins and discovery methods.
pub mod certificate;
pub mod clean;
pub mod cluster_info;
mod constant_time;
pub mod endpoint;
pub mod expiry;
pub mod jws;
pub mod lifetime;
pub mod moment;
pub mod pin;
pub mod rbac;
pub mod sign;
pub mod token;
pub mod token_secret;
pub mod usable;
pub mod usage;

pub use cluster_info::ClusterInfo;
pub use endpoint::Endpoint;
pub use expiry::{Expiry, Remaining};
pub use lifetime::Lifetime;
pub use moment::Moment;
pub use pin::Pin;
pub use token::{BootstrapToken, TokenId, TokenSecret};
pub use token_secret::TokenSettings;
pub use usage::Usage;
