//! Workers: how a machine joins a cluster, what keeps it from that, and how it leaves.

// Whole machines, control planes on loopback, real programs of others.
mod air_gap;
mod failures;
mod preflight;
mod preflight_real_kubeadm;
mod reset;
mod users_machine;
mod worker;
mod worker_versions;
mod worker_ways;

#[path = "../support"]
mod support {
    pub(crate) mod cloud_init_seed;
    pub(crate) mod cluster;
    pub(crate) mod encodings;
    pub(crate) mod machine_search;
    pub(crate) mod parallel_machines;
    pub(crate) mod run_output;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod worker;
}
