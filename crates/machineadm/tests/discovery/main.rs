//! Discovery and bootstrap tokens at real API servers, and how commands reach those.

// Whole machines, control planes on loopback, real programs of others.
mod api_access_live;
mod bootstrap_identity_live;
mod discover_live;
mod token_faults;
mod token_rules_live;
mod tokens_live;

// On paper: machineadm alone.
mod exec_plugins;

#[path = "../support"]
mod support {
    pub(crate) mod binary;
    pub(crate) mod partial_run;
    pub(crate) mod run_output;
}
