//! Control planes: created, joined, changed, upgraded, killed, lost and removed.

// Whole machines, control planes on loopback, real programs of others.
mod conformance;
mod control_plane_change;
mod control_plane_files;
mod control_plane_join;
mod control_plane_kills;
mod control_plane_lost;
mod control_plane_remove;
mod control_plane_versions;
mod control_plane_ways;
mod init_command;
mod upgrade;

#[path = "../support"]
mod support {
    pub(crate) mod binary;
    pub(crate) mod cloud_init_seed;
    pub(crate) mod cluster;
    pub(crate) mod control_plane;
    pub(crate) mod encodings;
    pub(crate) mod first_node;
    pub(crate) mod further_node;
    pub(crate) mod killed_join;
    pub(crate) mod machine_search;
    pub(crate) mod parallel_machines;
    pub(crate) mod run_output;
    pub(crate) mod token_webhook;
}
