//! Files and standard input for discovery.
use crate::{command_error::CommandError, context::input_file};
use discovery::{BootstrapToken, method::Files};
use host::linux::input::{self, Care};
use machine::outcome::chain;
use secret::Secret;

/// A kubeconfig with a bundle of roots is some tens of KB.
const LARGEST: u64 = 1 << 20;

pub(super) struct Places;

impl Files for Places {
    fn file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        read(path)
    }

    fn standard_input(&mut self) -> Result<Vec<u8>, String> {
        read("-")
    }
}

fn read(name: &str) -> Result<Vec<u8>, String> {
    // Whom a machine trusts is decided by this file: nobody else may have had a hand in it.
    let bytes = input::read(name, Care::Applying, LARGEST).map_err(|error| chain(&error))?;
    let shown = if name == "-" { "standard input" } else { name };
    if bytes.len() as u64 > LARGEST { Err(format!("{shown} is larger than 1 MiB")) } else { Ok(bytes.to_vec()) }
}

/// A token from a file.
pub(super) fn token(name: &str) -> Result<Secret<String>, CommandError> {
    let bytes = input_file(name, Care::Applying, 4096)?;
    let no_text = |_| CommandError::invalid(format!("--token-file {name} is not text"));
    let text = std::str::from_utf8(&bytes).map_err(no_text)?;
    let text = Secret::new(text.trim_end().to_owned());
    match text.expose().parse::<BootstrapToken>() {
        Ok(_) => Ok(text),
        Err(error) => Err(CommandError::invalid(format!("the content of --token-file {name} {error}"))),
    }
}
