//! JoinConfiguration.
use super::{Discovery, JoinControlPlane, NodeRegistration, Patches};
use crate::shape::shape;

shape! {
    pub(crate) struct JoinConfiguration {
        pub(crate) node_registration: NodeRegistration,
        pub(crate) ca_cert_path: Option<String>,
        pub(crate) discovery: Discovery,
        pub(crate) control_plane: Option<JoinControlPlane>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) patches: Option<Patches>,
    }
}
