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
    pub(crate) mod differences;
    pub(crate) mod disk;
    pub(crate) mod documents;
    pub(crate) mod fake_storage;
    pub(crate) mod forms;
    pub(crate) mod held;
    pub(crate) mod keeper;
    pub(crate) mod machines_own;
    pub(crate) mod meaning;
    pub(crate) mod promises;
    pub(crate) mod ran;
    pub(crate) mod rich;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod search;
    pub(crate) mod shell;
    pub(crate) mod strace;
    pub(crate) mod tree;
}
