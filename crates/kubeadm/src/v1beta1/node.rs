//! How a node registers.
use crate::{scalar::Time, shape::shape};
use std::collections::BTreeMap;

shape! {
    pub(crate) struct NodeRegistration {
        pub(crate) name: Option<String>,
        pub(crate) cri_socket: Option<String>,
        pub(crate) taints: Option<Vec<Taint>>,
        pub(crate) kubelet_extra_args: BTreeMap<String, String>,
    }

    pub(crate) struct Taint {
        pub(crate) key: Option<String>,
        pub(crate) value: Option<String>,
        pub(crate) effect: Option<String>,
        pub(crate) time_added: Option<Time>,
    }

    pub(crate) struct ApiEndpoint {
        pub(crate) advertise_address: Option<String>,
        pub(crate) bind_port: Option<i32>,
    }
}
