//! How a node registers.
use super::Taint;
use crate::shape::shape;
use std::collections::BTreeMap;

shape! {
    pub(crate) struct NodeRegistration {
        pub(crate) name: Option<String>,
        pub(crate) cri_socket: Option<String>,
        pub(crate) taints: Option<Vec<Taint>>,
        pub(crate) kubelet_extra_args: BTreeMap<String, String>,
        pub(crate) ignore_preflight_errors: Vec<String>,
    }
}
