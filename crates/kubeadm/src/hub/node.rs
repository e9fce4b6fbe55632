//! How a node registers, and where its API server listens.
use super::Arg;
use crate::{scalar::Time, shape::shape};

shape! {
    /// How a node registers.
    pub struct NodeRegistration {
        /// The node's name; by default the host's.
        pub name: Option<String>,
        /// The container runtime's socket.
        pub cri_socket: Option<String>,
        /// Unset: the control plane's default taint on its nodes. Empty: none. Otherwise these.
        pub taints: Option<Vec<Taint>>,
        /// Arguments of the kubelet.
        pub kubelet_extra_args: Vec<Arg>,
        /// Preflight checks whose failure is only a warning.
        pub ignore_preflight_errors: Vec<String>,
        /// When images are pulled: Always, IfNotPresent or Never.
        pub image_pull_policy: Option<String>,
        /// Whether images are pulled one after the other.
        pub image_pull_serial: Option<bool>,
    }

    /// A mark that keeps pods away.
    pub struct Taint {
        /// Its key.
        pub key: Option<String>,
        /// Its value.
        pub value: Option<String>,
        /// NoSchedule, PreferNoSchedule or NoExecute.
        pub effect: Option<String>,
        /// When it was put on.
        pub time_added: Option<Time>,
    }

    /// Where an API server listens.
    pub struct ApiEndpoint {
        /// Its address.
        pub advertise_address: Option<String>,
        /// Its port.
        pub bind_port: Option<i32>,
    }

    /// Patches of the components that kubeadm deploys.
    pub struct Patches {
        /// The directory in which they lie.
        pub directory: Option<String>,
    }
}
