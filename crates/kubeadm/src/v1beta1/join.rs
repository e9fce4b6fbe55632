//! JoinConfiguration.
use super::{ApiEndpoint, NodeRegistration};
use crate::{scalar::Duration, shape::shape};
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
    }

    pub(crate) struct Discovery {
        pub(crate) bootstrap_token: Option<BootstrapTokenDiscovery>,
        pub(crate) file: Option<FileDiscovery>,
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) tls_bootstrap_token: Option<Secret<String>>,
        pub(crate) timeout: Option<Duration>,
    }

    pub(crate) struct BootstrapTokenDiscovery {
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) token: Option<Secret<String>>,
        pub(crate) api_server_endpoint: Option<String>,
        pub(crate) ca_cert_hashes: Vec<String>,
        #[serde(rename = "unsafeSkipCAVerification")]
        pub(crate) unsafe_skip_ca_verification: Option<bool>,
    }

    pub(crate) struct FileDiscovery {
        pub(crate) kube_config_path: Option<String>,
    }
}
