//! First boots, from user data to a node, and the programs that a machine brings for that.

// Whole machines, control planes on loopback, real programs of others.
mod bare_image;
mod chaos;
mod first_boot;
mod getting_started;
mod modes;
mod walking_skeleton;

// On paper: machineadm alone.
mod downloads;

#[path = "../support"]
mod support {
    pub(crate) mod binary;
    pub(crate) mod cluster;
    pub(crate) mod documents;
    pub(crate) mod example_user_data;
    pub(crate) mod first_boot;
    pub(crate) mod parallel_machines;
    pub(crate) mod run_output;
    pub(crate) mod scratch;
    pub(crate) mod scratch_machine;
    pub(crate) mod worker;
}
