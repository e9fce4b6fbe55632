//! The verbs against a real API server, and against a fake one for what a real one can't be made to do.
extern crate machineadm_cluster as cluster;

mod certificates;
mod cluster_info;
mod fake_store;
mod faults;
mod live;
mod reported_etcd;
mod support;
