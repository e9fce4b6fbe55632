//! `machineadm completion`: a script for a shell.
use crate::{Cli, cli::Completion, show};
use clap::CommandFactory;
use host::contract::Exit;

pub(crate) fn run(asked: &Completion) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut Cli::command(), "machineadm", &mut script);
    show::print(&String::from_utf8_lossy(&script));
    Exit::Done
}
