//! CommandsConfig: what else has to be run, and how to see that it has been.
use crate::Secret;
use std::{collections::BTreeMap, time::Duration};

/// A command of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// `<document>/<command>`, or the command's name alone where the document has none; unique in a configuration.
    pub name: String,
    /// What to run.
    pub program: Program,
    /// Before or after the machine becomes a node.
    pub when: When,
    /// Once, or at every run.
    pub repeat: Repeat,
    /// The command is done when this path exists.
    pub creates: Option<String>,
    /// The command is done when this shell command succeeds.
    pub unless: Option<Secret<String>>,
    /// Variables for this command only.
    pub environment: BTreeMap<String, Secret<String>>,
    /// When to give up.
    pub timeout: Duration,
}

/// What a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments, no shell between.
    Argv(Vec<String>),
    /// A script for `/bin/sh -e`; it may hold secrets, so it never becomes an argument.
    Shell(Secret<String>),
}

/// When a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the machine becomes a node.
    Before,
    /// After it has become one.
    After,
}

/// How often a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Until it has succeeded once.
    Once,
    /// At every run, unless its effect is there.
    Always,
}
