//! JoinConfiguration.
use super::{BootstrapTokenDiscovery, FileDiscovery, NodeRegistration, Patches, Timeouts};
use crate::{shape::shape, v1beta3::JoinControlPlane};
use secret::Secret;

shape! {
    pub(crate) struct JoinConfiguration<A> {
        pub(crate) dry_run: Option<bool>,
        pub(crate) node_registration: NodeRegistration<A>,
        pub(crate) ca_cert_path: Option<String>,
        pub(crate) discovery: Discovery,
        pub(crate) control_plane: Option<JoinControlPlane>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) patches: Option<Patches>,
        pub(crate) timeouts: Option<Timeouts>,
    }

    pub(crate) struct Discovery {
        pub(crate) bootstrap_token: Option<BootstrapTokenDiscovery>,
        pub(crate) file: Option<FileDiscovery>,
        #[serde(serialize_with = "secret::exposed")]
        pub(crate) tls_bootstrap_token: Option<Secret<String>>,
    }
}
