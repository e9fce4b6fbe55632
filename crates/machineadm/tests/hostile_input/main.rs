//! Hostile input: servers, files and outputs of others, against which a machine keeps its own and its secrets.

// On paper: machineadm alone.
mod containment;
mod forged_output;
mod hostile_discovery;
mod hostile_storage;
mod leaks;

#[path = "../support"]
mod support {
    pub(crate) mod binary;
    pub(crate) mod cage;
    pub(crate) mod canaries;
    pub(crate) mod differences;
    pub(crate) mod documents;
    pub(crate) mod heard;
    pub(crate) mod keeper;
    pub(crate) mod machines_own;
    pub(crate) mod ran;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod shell;
    pub(crate) mod tree;
    pub(crate) mod victim;
    pub(crate) mod yaml;
}
