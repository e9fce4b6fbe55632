//! What `kubeadm join` needs.
use super::{ApiEndpoint, NodeRegistration, Patches, Timeouts};
use crate::shape::shape;
use secret::Secret;

shape! {
    /// What `kubeadm join` needs.
    pub struct JoinConfiguration {
        /// Only show what would be done.
        pub dry_run: Option<bool>,
        /// How the node registers.
        pub node_registration: NodeRegistration,
        /// Where the cluster's certificate authority lies.
        pub ca_cert_path: Option<String>,
        /// How the cluster is found and trusted.
        pub discovery: Discovery,
        /// Set, even if empty: the node becomes part of the control plane.
        pub control_plane: Option<JoinControlPlane>,
        /// Phases to leave out.
        pub skip_phases: Vec<String>,
        /// Patches of the components that kubeadm deploys.
        pub patches: Option<Patches>,
        /// How long to wait for what.
        pub timeouts: Option<Timeouts>,
    }

    /// What a further node of the control plane needs.
    pub struct JoinControlPlane {
        /// Where its API server listens.
        #[serde(rename = "localAPIEndpoint")]
        pub local_api_endpoint: ApiEndpoint,
        /// The key that decrypts the uploaded certificates.
        #[serde(serialize_with = "secret::exposed")]
        pub certificate_key: Option<Secret<String>>,
    }

    /// How the cluster is found and trusted; one of token and file.
    pub struct Discovery {
        /// By a token.
        pub bootstrap_token: Option<BootstrapTokenDiscovery>,
        /// By a kubeconfig file.
        pub file: Option<FileDiscovery>,
        /// The token that authenticates the certificate request, if it is another one.
        #[serde(serialize_with = "secret::exposed")]
        pub tls_bootstrap_token: Option<Secret<String>>,
    }

    /// Discovery by a token.
    pub struct BootstrapTokenDiscovery {
        /// The token, `id.secret`.
        #[serde(serialize_with = "secret::exposed")]
        pub token: Option<Secret<String>>,
        /// The API server, `host:port`.
        pub api_server_endpoint: Option<String>,
        /// What the cluster's certificate authority must hash to.
        pub ca_cert_hashes: Vec<String>,
        /// Trust any certificate authority.
        #[serde(rename = "unsafeSkipCAVerification")]
        pub unsafe_skip_ca_verification: Option<bool>,
    }

    /// Discovery by a kubeconfig file.
    pub struct FileDiscovery {
        /// A path or an https address.
        pub kube_config_path: Option<String>,
    }
}
