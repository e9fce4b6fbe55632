//! What holds for the whole cluster.
use super::{ApiServer, ControlPlaneComponent, Etcd};
use crate::{scalar::Duration, shape::shape};
use std::collections::BTreeMap;

shape! {
    /// What holds for the whole cluster.
    pub struct ClusterConfiguration {
        /// Where the cluster's data is kept.
        pub etcd: Etcd,
        /// Address ranges and the DNS domain.
        pub networking: Networking,
        /// The control plane's version, such as `v1.36.4`.
        pub kubernetes_version: Option<String>,
        /// A stable address of the control plane, `host:port`.
        pub control_plane_endpoint: Option<String>,
        /// The API server.
        pub api_server: ApiServer,
        /// The controller manager.
        pub controller_manager: ControlPlaneComponent,
        /// The scheduler.
        pub scheduler: ControlPlaneComponent,
        /// The DNS addon.
        pub dns: Dns,
        /// The kube-proxy addon.
        pub proxy: Proxy,
        /// Where certificates and keys lie.
        pub certificates_dir: Option<String>,
        /// The registry of all images that have none of their own.
        pub image_repository: Option<String>,
        /// kubeadm's feature gates.
        pub feature_gates: BTreeMap<String, bool>,
        /// The cluster's name.
        pub cluster_name: Option<String>,
        /// The algorithm of keys and certificates: RSA-2048, RSA-3072, RSA-4096, ECDSA-P256 or ECDSA-P384.
        pub encryption_algorithm: Option<String>,
        /// How long certificates are valid.
        pub certificate_validity_period: Option<Duration>,
        /// How long certificate authorities are valid.
        pub ca_certificate_validity_period: Option<Duration>,
        /// One image for all components; up to Kubernetes 1.21.
        pub use_hyper_kube_image: Option<bool>,
    }

    /// Address ranges and the DNS domain.
    pub struct Networking {
        /// Addresses of services; two for dual stack, with a comma.
        pub service_subnet: Option<String>,
        /// Addresses of pods; two for dual stack, with a comma.
        pub pod_subnet: Option<String>,
        /// The DNS domain of services.
        pub dns_domain: Option<String>,
    }

    /// The DNS addon.
    pub struct Dns {
        /// `CoreDNS` or, up to Kubernetes 1.20, `kube-dns`; later versions have only CoreDNS and no such word.
        #[serde(rename = "type")]
        pub kind: Option<String>,
        /// Its registry.
        pub image_repository: Option<String>,
        /// Its image's tag.
        pub image_tag: Option<String>,
        /// Do without it.
        pub disabled: Option<bool>,
    }

    /// The kube-proxy addon.
    pub struct Proxy {
        /// Do without it.
        pub disabled: Option<bool>,
    }
}
