//! JoinConfiguration.
use super::{ApiEndpoint, Discovery, NodeRegistration};
use crate::shape::shape;
use secret::Secret;

shape! {
    pub(crate) struct JoinConfiguration {
        pub(crate) node_registration: NodeRegistration,
        pub(crate) ca_cert_path: Option<String>,
        pub(crate) discovery: Discovery,
        pub(crate) control_plane: Option<JoinControlPlane>,
    }

    pub(crate) struct JoinControlPlane {
        #[serde(rename = "localAPIEndpoint")]
        pub(crate) local_api_endpoint: ApiEndpoint,
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) certificate_key: Option<Secret<String>>,
    }
}
