//! One command per file.
mod api;
pub(crate) mod apply;
pub(crate) mod bootstrap;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod decrypt;
pub(crate) mod discover;
pub(crate) mod discovery_objects;
pub(crate) mod encrypt;
pub(crate) mod explain;
pub(crate) mod plan;
mod run;
mod small_file;
pub(crate) mod status;
pub(crate) mod token;
pub(crate) mod validate;
pub(crate) mod version;

use crate::{Cli, command_error::CommandError, show};
use clap::CommandFactory;
use host::contract::Exit;

/// Without a command: what there is.
pub(crate) fn help() -> Result<Exit, CommandError> {
    show::print(Cli::command().render_help().to_string())?;
    Ok(Exit::Input)
}

/// What the parser answers instead of a command: `--help` and `--version` are results, the rest is invalid use.
pub(crate) fn parser_answer(answer: &clap::Error) -> Result<Exit, CommandError> {
    if answer.use_stderr() {
        return Err(CommandError::report(Exit::Input, answer.to_string()));
    }
    show::print(answer.to_string())?;
    Ok(Exit::Done)
}
