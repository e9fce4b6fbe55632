//! The control plane's programs: their arguments, environment and volumes.
use super::EnvVar;
use crate::{scalar::Duration, shape::shape};
use serde::{Deserialize, Serialize};

shape! {
    /// The API server.
    pub struct ApiServer {
        /// Arguments beyond kubeadm's own.
        pub extra_args: Vec<Arg>,
        /// Directories and files of the host that it sees.
        pub extra_volumes: Vec<HostPathMount>,
        /// Environment variables.
        pub extra_envs: Vec<EnvVar>,
        /// Further names and addresses in its certificate.
        #[serde(rename = "certSANs")]
        pub cert_sans: Vec<String>,
        /// How long init waits for the control plane, where no InitConfiguration can say it
        /// (`timeouts.controlPlaneComponentHealthCheck`); up to v1beta3 it stands here.
        pub timeout_for_control_plane: Option<Duration>,
    }

    /// The controller manager or the scheduler.
    pub struct ControlPlaneComponent {
        /// Arguments beyond kubeadm's own.
        pub extra_args: Vec<Arg>,
        /// Directories and files of the host that it sees.
        pub extra_volumes: Vec<HostPathMount>,
        /// Environment variables.
        pub extra_envs: Vec<EnvVar>,
    }

    /// A directory or file of the host inside a component.
    pub struct HostPathMount {
        /// The volume's name.
        pub name: Option<String>,
        /// Where it lies on the host.
        pub host_path: Option<String>,
        /// Where the component sees it.
        pub mount_path: Option<String>,
        /// Whether the component may not write to it.
        pub read_only: Option<bool>,
        /// What it is on the host: Directory, File, DirectoryOrCreate ..
        pub path_type: Option<String>,
    }
}

/// One argument, without its leading dashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Arg {
    /// Its name.
    pub name: String,
    /// Its value; empty is a value too.
    pub value: String,
    /// Whether it is appended or prepended to kubeadm's own value instead of replacing it; only v1 knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_method: Option<String>,
}
