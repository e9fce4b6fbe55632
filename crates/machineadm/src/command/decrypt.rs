//! `machineadm decrypt`: opens sealed documents and prints them.
use crate::{
    cli::Decrypt,
    context::{fail, sources, usable},
    provider::Passphrases,
    show,
};
use documents::{AnyDocument, Source};
use host::{contract::Exit, linux::input::Care};
use std::io::IsTerminal;

pub(crate) fn run(asked: &Decrypt) -> Exit {
    decrypt(asked).map_or_else(|exit| exit, |()| Exit::Done)
}

fn decrypt(asked: &Decrypt) -> Result<(), Exit> {
    let read = documents::read(sources(&asked.files, Care::Reading)?);
    if !read.report.is_empty() {
        tell_on!("{}", read.report);
    }
    usable(&read.report)?;
    let mut passphrases = Passphrases::default();
    let mut opened = Vec::new();
    for document in &read.documents {
        let AnyDocument::Encrypted(encrypted) = &document.body else {
            passphrases.remember(&document.body);
            continue;
        };
        let name = format!("{} document {}", document.origin.source, document.origin.number);
        let bytes = documents::decrypt(&encrypted.sealed, &passphrases.of(encrypted)?).map_err(|error| {
            fail(&format!("{name} {error}"));
            Exit::Input
        })?;
        opened.push(Source { name, bytes });
    }
    if opened.is_empty() {
        return Err(super::wrong_use(&format!("{} holds no EncryptedConfig", asked.files.join(", "))));
    }
    if std::io::stdout().is_terminal() {
        tell!("warning: what follows is secret; a terminal keeps it in its history");
    }
    show::hand_over(&documents::joined(&opened))
}
