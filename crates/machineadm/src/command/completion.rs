//! `machineadm completion`: a script for a shell.
use crate::{Cli, cli::Completion, command_error::CommandError, show};
use clap::CommandFactory;
use host::contract::Exit;

pub(crate) fn run(asked: &Completion) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut Cli::command(), "machineadm", &mut script);
    show::print(script)?;
    Ok(Exit::Done)
}
