//! ClusterConfiguration.
use super::{ApiServer, ControlPlaneComponent, EnvVar, Networking};
use crate::{scalar::Duration, shape::shape};
use std::collections::BTreeMap;

shape! {
    pub(crate) struct ClusterConfiguration<A> {
        pub(crate) etcd: Etcd<A>,
        pub(crate) networking: Networking,
        pub(crate) kubernetes_version: Option<String>,
        pub(crate) control_plane_endpoint: Option<String>,
        pub(crate) api_server: ApiServer<A>,
        pub(crate) controller_manager: ControlPlaneComponent<A>,
        pub(crate) scheduler: ControlPlaneComponent<A>,
        pub(crate) dns: Dns,
        pub(crate) proxy: Proxy,
        pub(crate) certificates_dir: Option<String>,
        pub(crate) image_repository: Option<String>,
        pub(crate) feature_gates: BTreeMap<String, bool>,
        pub(crate) cluster_name: Option<String>,
        pub(crate) encryption_algorithm: Option<String>,
        pub(crate) certificate_validity_period: Option<Duration>,
        pub(crate) ca_certificate_validity_period: Option<Duration>,
    }

    pub(crate) struct Etcd<A> {
        pub(crate) local: Option<LocalEtcd<A>>,
        pub(crate) external: Option<ExternalEtcd>,
    }

    pub(crate) struct LocalEtcd<A> {
        pub(crate) image_repository: Option<String>,
        pub(crate) image_tag: Option<String>,
        pub(crate) data_dir: Option<String>,
        pub(crate) extra_args: Vec<A>,
        pub(crate) extra_envs: Vec<EnvVar>,
        #[serde(rename = "serverCertSANs")]
        pub(crate) server_cert_sans: Vec<String>,
        #[serde(rename = "peerCertSANs")]
        pub(crate) peer_cert_sans: Vec<String>,
    }

    pub(crate) struct ExternalEtcd {
        pub(crate) endpoints: Vec<String>,
        pub(crate) http_endpoints: Vec<String>,
        pub(crate) ca_file: Option<String>,
        pub(crate) cert_file: Option<String>,
        pub(crate) key_file: Option<String>,
    }

    pub(crate) struct Dns {
        pub(crate) image_repository: Option<String>,
        pub(crate) image_tag: Option<String>,
        pub(crate) disabled: Option<bool>,
    }

    pub(crate) struct Proxy {
        pub(crate) disabled: Option<bool>,
    }
}
