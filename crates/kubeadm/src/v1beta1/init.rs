//! InitConfiguration.
use super::{ApiEndpoint, NodeRegistration};
use crate::{
    scalar::{Duration, Time},
    shape::shape,
};
use secret::Secret;

shape! {
    pub(crate) struct InitConfiguration {
        pub(crate) bootstrap_tokens: Vec<BootstrapToken>,
        pub(crate) node_registration: NodeRegistration,
        #[serde(rename = "localAPIEndpoint")]
        pub(crate) local_api_endpoint: ApiEndpoint,
    }

    pub(crate) struct BootstrapToken {
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) token: Option<Secret<String>>,
        pub(crate) description: Option<String>,
        pub(crate) ttl: Option<Duration>,
        pub(crate) expires: Option<Time>,
        pub(crate) usages: Vec<String>,
        pub(crate) groups: Vec<String>,
    }
}
