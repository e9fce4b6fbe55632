//! InitConfiguration.
use super::{ApiEndpoint, BootstrapToken, NodeRegistration, Patches};
use crate::shape::shape;
use secret::Secret;

shape! {
    pub(crate) struct InitConfiguration {
        pub(crate) bootstrap_tokens: Vec<BootstrapToken>,
        pub(crate) node_registration: NodeRegistration,
        #[serde(rename = "localAPIEndpoint")]
        pub(crate) local_api_endpoint: ApiEndpoint,
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) certificate_key: Option<Secret<String>>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) patches: Option<Patches>,
    }
}
