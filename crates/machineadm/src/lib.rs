//! machineadm's command line: what people type, and what they see.
#![deny(clippy::print_stderr, clippy::print_stdout)]

/// Prints a line of progress or a note, on standard error. Errors are values: [`command_error::CommandError`].
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::show::log::print($crate::show::log::Level::Info, &(format!($($words)*) + "\n"))
    };
}

/// Prints a warning, on standard error.
macro_rules! warn {
    ($($words:tt)*) => {
        $crate::show::log::print($crate::show::log::Level::Warning, &format!("warning: {}\n", format_args!($($words)*)))
    };
}

/// Prints a report of warnings that has line ends and headings of its own, on standard error.
macro_rules! warn_report {
    ($($words:tt)*) => {
        $crate::show::log::print($crate::show::log::Level::Warning, &format!($($words)*))
    };
}

mod api_server_pods;
mod api_servers;
mod cli;
mod command;
mod command_error;
mod context;
mod downloads;
mod interrupt;
mod provider;
mod reporter;
mod runtimes;
mod show;

pub use cli::Cli;

use clap::Parser;
use cli::{Command, ModeArgument};
use command_error::CommandError;
use host::contract::Exit;
use show::log::Level;
use std::{ffi::OsString, path::Path};

/// Runs what the command line, the program's name first, asks for. The one place that prints errors.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let ended = Cli::try_parse_from(&arguments).map_or_else(
        |answer| {
            show::log::set_for_errors(&arguments);
            command::help::parser_answer(&answer)
        },
        command,
    );
    ended.unwrap_or_else(|error| {
        show::log::print_coloured(Level::Error, &error.to_string(), error.members());
        error.exit()
    })
}

fn command(cli: Cli) -> Result<Exit, CommandError> {
    let Cli { bootstrap, path, log, root, mode, command } = cli;
    show::log::set(log);
    let before = Before { root, mode };
    let Some(command) = command else {
        if !bootstrap {
            return command::help::all();
        }
        let mode = before.mode(&cli::ModeOption::default())?;
        let asked = cli::Bootstrap { files: path, ..cli::Bootstrap::default() };
        return before.on_root(&asked.root, |root| command::bootstrap::run(&asked, mode, root));
    };
    if bootstrap {
        return Err(CommandError::usage("--bootstrap and a command exclude each other: give one of them"));
    }
    before.check(&command)?;
    match command {
        Command::Bootstrap(asked) => {
            let mode = before.mode(&asked.mode)?;
            before.on_root(&asked.root, |root| command::bootstrap::run(&asked, mode, root))
        }
        Command::Plan(asked) => {
            let mode = before.mode(&asked.mode)?;
            before.on_root(&asked.root, |root| command::plan::run(&asked, mode, root))
        }
        Command::Apply(asked) => before.on_root(&asked.root, |root| command::apply::run(&asked, root)),
        Command::Validate(asked) => before.on_root(&asked.root, |root| command::validate::run(&asked, root)),
        Command::Status(asked) => before.on_root(&asked.root, |root| command::status::run(&asked, root)),
        Command::Discover(asked) => before.on_root(&asked.root, |root| command::discover::run(&asked, root)),
        Command::Certs(asked) => {
            let root = asked.root().cloned().unwrap_or_default();
            before.on_root(&root, |root| command::certs::run(&asked, root))
        }
        Command::Init(asked) => before.on_root(&asked.root(), |root| command::init::run(&asked, root)),
        Command::Join(asked) => before.on_root(&asked.root, |root| command::join::run(&asked, root)),
        Command::Reset(asked) => command::reset::run(&asked),
        Command::Encrypt(asked) => command::encrypt::run(&asked),
        Command::Decrypt(asked) => command::decrypt::run(&asked),
        Command::Explain(asked) => command::explain::run(&asked),
        Command::Config(asked) => command::config::run(&asked),
        Command::ControlPlane(asked) => command::control_plane::run(&asked),
        Command::Token(asked) => command::token::run(&asked),
        Command::DiscoveryObjects(asked) => command::discovery_objects::run(&asked),
        Command::Generate(asked) => command::generate::run(&asked),
        Command::Help(asked) => command::help::run(&asked),
        Command::Version(asked) => command::version::run(&asked),
        Command::Completion(asked) => command::completion::run(&asked),
    }
}

/// Options that were given before the command: only those that the command has may stand there.
struct Before {
    root: cli::RootOption,
    mode: cli::ModeOption,
}

impl Before {
    /// Runs a command on the machine that is asked for.
    fn on_root(
        &self,
        behind: &cli::RootOption,
        run: impl FnOnce(&Path) -> Result<Exit, CommandError>,
    ) -> Result<Exit, CommandError> {
        let root = one_of("--root", self.root.root.clone(), behind.root.clone())?.unwrap_or_else(|| "/".into());
        run(&root).map_err(|error| error.below(&root))
    }

    fn mode(&self, behind: &cli::ModeOption) -> Result<ModeArgument, CommandError> {
        one_of("--mode", self.mode.mode, behind.mode).map(Option::unwrap_or_default)
    }

    fn check(&self, command: &Command) -> Result<(), CommandError> {
        let (takes_root, takes_mode) = match command {
            Command::Plan(plan) if plan.command.is_some() => (true, false),
            Command::Bootstrap(_) | Command::Plan(_) => (true, true),
            Command::Certs(certs) => (certs.root().is_some(), false),
            Command::Apply(_)
            | Command::Validate(_)
            | Command::Status(_)
            | Command::Discover(_)
            | Command::Init(_)
            | Command::Join(_) => (true, false),
            _ => (false, false),
        };
        let unused =
            [("--root", self.root.root.is_some() && !takes_root), ("--mode", self.mode.mode.is_some() && !takes_mode)];
        match unused.iter().find(|(_, is_unused)| *is_unused) {
            Some((option, _)) => Err(CommandError::usage(format!("this command has no option {option}"))),
            None => Ok(()),
        }
    }
}

fn one_of<T>(option: &str, before: Option<T>, behind: Option<T>) -> Result<Option<T>, CommandError> {
    match before.is_some() && behind.is_some() {
        true => Err(CommandError::usage(format!("{option} is given twice"))),
        false => Ok(before.or(behind)),
    }
}
