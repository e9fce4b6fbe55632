//! What is run for its effect, and what the journal says of it.
use secret::Secret;
use std::{collections::BTreeMap, time::Duration};

/// A program that is run under guard: it ends with machineadm, and its time is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name for people and errors.
    pub name: String,
    /// What to run.
    pub call: Call,
    /// Variables for this program only.
    pub environment: BTreeMap<String, Secret<String>>,
    /// When to give up.
    pub within: Duration,
}

/// How a program is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A program and its arguments, without a shell. Every user of the machine can see arguments.
    Argv(Vec<String>),
    /// A script for `/bin/sh -e`; it may hold secrets, so it never becomes an argument.
    Script(Secret<String>),
}

/// What the journal says of an act, by the act's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// machineadm never started it.
    New,
    /// machineadm started it and was interrupted.
    Started,
    /// It ended by itself and failed; nothing of it is at work any more.
    Failed,
    /// It ended well.
    Ended,
}
