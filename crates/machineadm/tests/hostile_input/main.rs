//! Hostile input: servers, files and outputs of others, against which a machine keeps its own and its secrets.

// On paper: machineadm alone.
mod containment;
mod forged_output;
mod hostile_discovery;
mod hostile_storage;
mod leaks;

#[path = "../support"]
mod support {
    pub(crate) mod attacked_machine;
    pub(crate) mod binary;
    pub(crate) mod canaries;
    pub(crate) mod differences;
    pub(crate) mod documents;
    pub(crate) mod file_tree;
    pub(crate) mod guarded_root;
    pub(crate) mod machine_tree;
    pub(crate) mod partial_run;
    pub(crate) mod run_output;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod scratch_machine;
    pub(crate) mod shell;
    pub(crate) mod yaml;
}
