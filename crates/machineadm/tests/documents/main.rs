//! Documents: what is valid, what a plan says, and what a run makes of a machine, whatever ends it early.

// Whole machines, control planes on loopback, real programs of others.
mod modules;
mod sealed_reboot;
mod services;

// On paper: machineadm alone.
mod attributes;
mod below_a_root;
mod cases;
mod commands;
mod crash_order;
mod delivered;
mod differential;
mod faults;
mod interrupted;
mod killed;
mod live;
mod own_files;
mod own_state;
mod paths;
mod reviewed_plan;
mod sealed;
mod sealed_https;
mod sealed_leaks;
mod sealed_resume;
mod units;
mod users;

#[path = "../support"]
mod support {
    pub(crate) mod binary;
    pub(crate) mod comparable_tree;
    pub(crate) mod differences;
    pub(crate) mod disk_model;
    pub(crate) mod documents;
    pub(crate) mod encodings;
    pub(crate) mod fake_storage;
    pub(crate) mod file_tree;
    pub(crate) mod machine_tree;
    pub(crate) mod paused_run;
    pub(crate) mod power_cut_guarantees;
    pub(crate) mod run_output;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod scratch_machine;
    pub(crate) mod shell;
    pub(crate) mod small_machine;
    pub(crate) mod strace;
    pub(crate) mod word_search;
}
