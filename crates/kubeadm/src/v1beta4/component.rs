//! The control plane's programs.
use super::{EnvVar, HostPathMount};
use crate::shape::shape;
use serde::{Deserialize, Serialize};

shape! {
    pub(crate) struct ApiServer<A> {
        pub(crate) extra_args: Vec<A>,
        pub(crate) extra_volumes: Vec<HostPathMount>,
        pub(crate) extra_envs: Vec<EnvVar>,
        #[serde(rename = "certSANs")]
        pub(crate) cert_sans: Vec<String>,
    }

    pub(crate) struct ControlPlaneComponent<A> {
        pub(crate) extra_args: Vec<A>,
        pub(crate) extra_volumes: Vec<HostPathMount>,
        pub(crate) extra_envs: Vec<EnvVar>,
    }
}

/// An empty value is a value, so both are always written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Arg {
    pub(crate) name: String,
    pub(crate) value: String,
}
