//! ClusterConfiguration.
use super::{ApiServer, ControlPlaneComponent, Etcd, Networking};
use crate::shape::shape;
use std::collections::BTreeMap;

shape! {
    pub(crate) struct ClusterConfiguration {
        pub(crate) etcd: Etcd,
        pub(crate) networking: Networking,
        pub(crate) kubernetes_version: Option<String>,
        pub(crate) control_plane_endpoint: Option<String>,
        pub(crate) api_server: ApiServer,
        pub(crate) controller_manager: ControlPlaneComponent,
        pub(crate) scheduler: ControlPlaneComponent,
        pub(crate) dns: Dns,
        pub(crate) certificates_dir: Option<String>,
        pub(crate) image_repository: Option<String>,
        pub(crate) feature_gates: BTreeMap<String, bool>,
        pub(crate) cluster_name: Option<String>,
    }

    pub(crate) struct Dns {
        pub(crate) image_repository: Option<String>,
        pub(crate) image_tag: Option<String>,
    }
}
