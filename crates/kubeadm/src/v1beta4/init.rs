//! InitConfiguration.
use super::{ApiEndpoint, BootstrapToken, NodeRegistration, Patches, Timeouts};
use crate::shape::shape;
use secret::Secret;

shape! {
    pub(crate) struct InitConfiguration<A> {
        pub(crate) bootstrap_tokens: Vec<BootstrapToken>,
        pub(crate) dry_run: Option<bool>,
        pub(crate) node_registration: NodeRegistration<A>,
        #[serde(rename = "localAPIEndpoint")]
        pub(crate) local_api_endpoint: ApiEndpoint,
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) certificate_key: Option<Secret<String>>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) patches: Option<Patches>,
        pub(crate) timeouts: Option<Timeouts>,
    }
}
