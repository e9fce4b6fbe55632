//! InitConfiguration.
use super::{ApiEndpoint, BootstrapToken, NodeRegistration};
use crate::{scalar::Secret, shape::shape};

shape! {
    pub(crate) struct InitConfiguration {
        pub(crate) bootstrap_tokens: Vec<BootstrapToken>,
        pub(crate) node_registration: NodeRegistration,
        #[serde(rename = "localAPIEndpoint")]
        pub(crate) local_api_endpoint: ApiEndpoint,
        pub(crate) certificate_key: Option<Secret>,
    }
}
