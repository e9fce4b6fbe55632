//! machineadm's command line: what people type, and what they see.
#![deny(clippy::print_stderr, clippy::print_stdout)]

/// Prints a line of progress or a warning, on standard error. Errors are values: [`command_error::CommandError`].
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::show::tell(&(format!($($words)*) + "\n"))
    };
}

/// The same without a line end.
macro_rules! tell_on {
    ($($words:tt)*) => {
        $crate::show::tell(&format!($($words)*))
    };
}

mod api_servers;
mod cli;
mod command;
mod command_error;
mod context;
mod provider;
mod show;

pub use cli::Cli;

use clap::Parser;
use cli::Command;
use command_error::CommandError;
use host::contract::Exit;
use std::ffi::OsString;

/// Runs what the command line, the program's name first, asks for. The one place that prints errors.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let ended = Cli::try_parse_from(arguments).map_or_else(|answer| command::parser_answer(&answer), command);
    ended.unwrap_or_else(|error| {
        show::tell(&error.to_string());
        error.exit()
    })
}

fn command(cli: Cli) -> Result<Exit, CommandError> {
    let Cli { bootstrap, path, root, mode, command } = cli;
    match command {
        None if bootstrap => {
            command::bootstrap::run(&cli::Bootstrap { files: path, ..cli::Bootstrap::default() }, mode, &root)
        }
        None => command::help(),
        Some(_) if bootstrap => {
            Err(CommandError::usage("--bootstrap and a command exclude each other: give one of them"))
        }
        Some(Command::Bootstrap(asked)) => command::bootstrap::run(&asked, mode, &root),
        Some(Command::Plan(asked)) => command::plan::run(&asked, mode, &root),
        Some(Command::Apply(asked)) => command::apply::run(&asked, &root),
        Some(Command::Validate(asked)) => command::validate::run(&asked, &root),
        Some(Command::Encrypt(asked)) => command::encrypt::run(&asked),
        Some(Command::Decrypt(asked)) => command::decrypt::run(&asked),
        Some(Command::Status(asked)) => command::status::run(&asked, &root),
        Some(Command::Explain(asked)) => command::explain::run(&asked),
        Some(Command::Config(asked)) => command::config::run(&asked),
        Some(Command::Token(asked)) => command::token::run(&asked),
        Some(Command::Discover(asked)) => command::discover::run(&asked, &root),
        Some(Command::DiscoveryObjects(asked)) => command::discovery_objects::run(&asked),
        Some(Command::Version(asked)) => command::version::run(&asked),
        Some(Command::Completion(asked)) => command::completion::run(&asked),
    }
}
