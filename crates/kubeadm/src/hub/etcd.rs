//! Where the cluster's data is kept: an etcd beside the control plane, or one elsewhere.
use super::{Arg, EnvVar};
use crate::shape::shape;

shape! {
    /// Where the cluster's data is kept; one of these, by default the local one.
    pub struct Etcd {
        /// An etcd that kubeadm runs.
        pub local: Option<LocalEtcd>,
        /// An etcd that others run.
        pub external: Option<ExternalEtcd>,
    }

    /// An etcd that kubeadm runs.
    pub struct LocalEtcd {
        /// Its registry.
        pub image_repository: Option<String>,
        /// Its image's tag.
        pub image_tag: Option<String>,
        /// Where it keeps its data.
        pub data_dir: Option<String>,
        /// Arguments beyond kubeadm's own.
        pub extra_args: Vec<Arg>,
        /// Environment variables.
        pub extra_envs: Vec<EnvVar>,
        /// Further names and addresses in its certificate for clients.
        #[serde(rename = "serverCertSANs")]
        pub server_cert_sans: Vec<String>,
        /// Further names and addresses in its certificate for peers.
        #[serde(rename = "peerCertSANs")]
        pub peer_cert_sans: Vec<String>,
    }

    /// An etcd that others run.
    pub struct ExternalEtcd {
        /// Its members' addresses.
        pub endpoints: Vec<String>,
        /// Its members' addresses for metrics and health over HTTP, if they differ; since Kubernetes 1.35.
        pub http_endpoints: Vec<String>,
        /// Its certificate authority.
        pub ca_file: Option<String>,
        /// The certificate to show it.
        pub cert_file: Option<String>,
        /// That certificate's key.
        pub key_file: Option<String>,
    }
}
