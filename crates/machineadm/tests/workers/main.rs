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
    pub(crate) mod cluster;
    pub(crate) mod forms;
    pub(crate) mod machines;
    pub(crate) mod ran;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod seed;
    pub(crate) mod spread;
    pub(crate) mod worker;
}
