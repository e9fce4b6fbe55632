//! `machineadm validate`: everything that is wrong, at once.
use crate::{
    cli::Validate,
    command_error::CommandError,
    context::{exit_of, identity, silent_machine, sources},
    provider::{self, Fetched, Waiting},
    show,
};
use documents::{ForeignKinds, Given};
use host::{contract::Exit, linux::input::Care};
use std::path::Path;

pub(crate) fn run(asked: &Validate, root: &Path) -> Result<Exit, CommandError> {
    let sources = sources(&asked.files, Care::Reading)?;
    let read = match asked.expand {
        false => documents::read(sources),
        true => match Given::read(sources, ForeignKinds::Noted) {
            Ok(given) => {
                provider::expand(given, identity(&silent_machine(root)?), &Fetched::default(), Waiting::AsConfigured)
            }
            Err(read) => read,
        },
    };
    match asked.output {
        Some(output) => show::machine_readable(&read.report, output),
        None if read.report.is_empty() => {
            let documents = show::count(read.documents.len(), "document");
            show::print_text(&format!("{}: {documents}, no problems\n", asked.files.join(", ")))
        }
        None => show::print_text(&read.report.to_string()),
    }?;
    Ok(exit_of(&read.report))
}
