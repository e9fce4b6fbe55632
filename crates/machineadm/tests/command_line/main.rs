//! Texts and commands: help, docs, errors, reports, and what flags and kubeadm's files become; real kubeadms judge.

// Whole machines, control planes on loopback, real programs of others.
mod component_configs;
mod config_live_map;
mod config_real_kubeadm;
mod import_cluster;
mod import_real_kubeadm;
mod init_real_kubeadm;

// On paper: machineadm alone.
mod bundle;
mod config_commands;
mod documentation;
mod errors_are_values;
mod golden_texts;
mod help;
mod import_command;
mod import_round_trip;
mod init_files;
mod init_flags;
mod join_command;
mod kubeadm_insulation;
mod lost_output;
mod nobody_listens;
mod on_a_terminal;
mod reports;
mod reset_flags;
mod validators;

#[path = "../support"]
mod support {
    pub(crate) mod binary;
    pub(crate) mod documents;
    pub(crate) mod example_user_data;
    pub(crate) mod file_tree;
    pub(crate) mod import;
    pub(crate) mod init;
    pub(crate) mod kubeadm_fields;
    pub(crate) mod kubeadm_judge;
    pub(crate) mod kubeadm_normal_form;
    pub(crate) mod round_trip;
    pub(crate) mod run_output;
    pub(crate) mod sandbox;
    pub(crate) mod scratch;
    pub(crate) mod scratch_machine;
    pub(crate) mod shell;
}
