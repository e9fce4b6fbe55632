//! The real program, as a test runs it.
use crate::support::run_output::RunOutput;
use std::{
    ffi::OsStr,
    process::{Command, Stdio},
};

/// The program with its arguments, not started yet.
pub(crate) fn command<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub(crate) fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> RunOutput {
    RunOutput::of(command(arguments).output().expect("the program that cargo has just built runs"))
}
