//! `machineadm decrypt`: opens sealed documents and prints them.
use crate::{
    cli::Decrypt,
    command_error::CommandError,
    context::{sources, without_errors},
    provider::Passphrases,
    show,
};
use documents::{AnyDocument, Source};
use host::{contract::Exit, linux::input::Care};
use std::io::IsTerminal;

pub(crate) fn run(asked: &Decrypt) -> Result<Exit, CommandError> {
    let read = without_errors(documents::read(sources(&asked.files, Care::Reading)?))?;
    let mut passphrases = Passphrases::default();
    let mut opened = Vec::new();
    for document in &read.documents {
        let AnyDocument::Encrypted(encrypted) = &document.body else {
            passphrases.remember(&document.body);
            continue;
        };
        let name = format!("{} document {}", document.origin.source, document.origin.number);
        let bytes = documents::decrypt(&encrypted.sealed, &passphrases.of(encrypted)?)
            .map_err(|error| CommandError::invalid(format!("{name} {error}")))?;
        opened.push(Source { name, bytes });
    }
    if opened.is_empty() {
        return Err(CommandError::usage(format!("{} has no EncryptedConfig", asked.files.join(", "))));
    }
    if std::io::stdout().is_terminal() {
        tell!("warning: the output is secret; terminals save it in their history");
    }
    show::print(documents::joined(&opened))?;
    Ok(Exit::Done)
}
