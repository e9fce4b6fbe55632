//! ClusterConfiguration and ClusterStatus.
use super::ApiEndpoint;
use crate::{scalar::Duration, shape::shape};
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
        pub(crate) use_hyper_kube_image: Option<bool>,
        pub(crate) feature_gates: BTreeMap<String, bool>,
        pub(crate) cluster_name: Option<String>,
    }

    pub(crate) struct Etcd {
        pub(crate) local: Option<LocalEtcd>,
        pub(crate) external: Option<ExternalEtcd>,
    }

    pub(crate) struct LocalEtcd {
        pub(crate) image_repository: Option<String>,
        pub(crate) image_tag: Option<String>,
        pub(crate) data_dir: Option<String>,
        pub(crate) extra_args: BTreeMap<String, String>,
        #[serde(rename = "serverCertSANs")]
        pub(crate) server_cert_sans: Vec<String>,
        #[serde(rename = "peerCertSANs")]
        pub(crate) peer_cert_sans: Vec<String>,
    }

    pub(crate) struct ExternalEtcd {
        pub(crate) endpoints: Vec<String>,
        pub(crate) ca_file: Option<String>,
        pub(crate) cert_file: Option<String>,
        pub(crate) key_file: Option<String>,
    }

    pub(crate) struct Networking {
        pub(crate) service_subnet: Option<String>,
        pub(crate) pod_subnet: Option<String>,
        pub(crate) dns_domain: Option<String>,
    }

    pub(crate) struct ApiServer {
        pub(crate) extra_args: BTreeMap<String, String>,
        pub(crate) extra_volumes: Vec<HostPathMount>,
        #[serde(rename = "certSANs")]
        pub(crate) cert_sans: Vec<String>,
        pub(crate) timeout_for_control_plane: Option<Duration>,
    }

    pub(crate) struct ControlPlaneComponent {
        pub(crate) extra_args: BTreeMap<String, String>,
        pub(crate) extra_volumes: Vec<HostPathMount>,
    }

    pub(crate) struct HostPathMount {
        pub(crate) name: Option<String>,
        pub(crate) host_path: Option<String>,
        pub(crate) mount_path: Option<String>,
        pub(crate) read_only: Option<bool>,
        pub(crate) path_type: Option<String>,
    }

    pub(crate) struct Dns {
        #[serde(rename = "type")]
        pub(crate) kind: Option<String>,
        pub(crate) image_repository: Option<String>,
        pub(crate) image_tag: Option<String>,
    }

    pub(crate) struct ClusterStatus {
        pub(crate) api_endpoints: BTreeMap<String, ApiEndpoint>,
    }
}
