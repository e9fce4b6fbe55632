//! `machineadm decrypt`: decrypts documents and prints them.
use crate::{
    command_error::CommandError,
    context::{sources, without_errors},
    provider::Passphrases,
    show,
};
use clap::Args;
use documents::{AnyDocument, Source};
use host::{contract::Exit, linux::input::Care};
use std::io::IsTerminal;

#[derive(Debug, Args)]
pub(crate) struct Decrypt {
    /// File with an EncryptedConfig; may be repeated; `-` is standard input. A TrustBundleConfig or ProxyConfig before it
    /// applies to the request for its passphrase
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}

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
        warn!("the output is secret; terminals save it in their history");
    }
    show::print(documents::joined(&opened))?;
    Ok(Exit::Done)
}
