//! Files and standard input for discovery.
use crate::{command::small_file, command_error::CommandError};
use discovery::method::Files;
use engine::outcome::chain;
use host::linux::input::{self, Care};
use objects::SMALL_FILE_LIMIT;
use secret::Secret;

pub(super) struct Inputs;

impl Files for Inputs {
    fn file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        read(path)
    }

    fn standard_input(&mut self) -> Result<Vec<u8>, String> {
        read("-")
    }
}

fn read(name: &str) -> Result<Vec<u8>, String> {
    // Whom a machine trusts is decided by this file: nobody else may have had a hand in it.
    let bytes = input::read(name, Care::Applying, SMALL_FILE_LIMIT as u64).map_err(|error| chain(&error))?;
    let shown = if name == "-" { "standard input" } else { name };
    if bytes.len() > SMALL_FILE_LIMIT { Err(format!("{shown} is larger than 1 MiB")) } else { Ok(bytes.to_vec()) }
}

/// The content of a file that should be a token; a warning if other users can read it.
pub(super) fn token(name: &str) -> Result<Secret<String>, CommandError> {
    let text = small_file::text(name, Care::Applying)?;
    small_file::warn_if_others_read("--token-file", name, "the token");
    Ok(Secret::new(text.trim_end().to_owned()))
}
