//! `machineadm config import` as a process.
use crate::support::run_output::RunOutput;
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Runs the command with a text on standard input.
pub(crate) fn import(words: &[&str], input: &str) -> RunOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "import"]).args(words).env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // A command that refuses its flags does not read.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    RunOutput::of(child.wait_with_output().expect("it ends"))
}
