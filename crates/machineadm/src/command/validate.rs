//! `machineadm validate`: every problem of a configuration at once, and the form in which both validators print problems.
use super::config::with_directories;
use crate::{
    cli::{Output, Validate},
    command_error::CommandError,
    context::{exit_of, identity, silent_machine, sources},
    provider::{self, Fetched, Waiting},
    show,
};
use documents::{ForeignKinds, Given, Report};
use host::{contract::Exit, linux::input::Care};
use std::path::Path;

pub(crate) fn run(asked: &Validate, root: &Path) -> Result<Exit, CommandError> {
    let sources = sources(&with_directories(&asked.files)?, Care::Reading)?;
    let read = match asked.expand {
        false => documents::read(sources),
        true => match Given::read(sources, ForeignKinds::Noted) {
            Ok(given) => {
                provider::expand(given, identity(&silent_machine(root)?), &Fetched::default(), Waiting::AsConfigured)
            }
            Err(read) => read,
        },
    };
    print(&read.report, &Checked { files: &asked.files, documents: read.documents.len() }, asked.output)
}

/// What a validator has checked.
pub(super) struct Checked<'a> {
    /// The files as they were named.
    pub(super) files: &'a [String],
    /// How many documents they hold.
    pub(super) documents: usize,
}

/// Prints a report, or that there are no problems, and returns its exit code.
pub(super) fn print(report: &Report, checked: &Checked<'_>, output: Option<Output>) -> Result<Exit, CommandError> {
    match output {
        Some(output) => show::machine_readable(report, output),
        None if report.is_empty() => {
            let documents = show::count(checked.documents, "document");
            show::print_text(&format!("{}: {documents}, no problems\n", checked.files.join(", ")))
        }
        None => show::print_text(&report.to_string()),
    }?;
    Ok(exit_of(report))
}
