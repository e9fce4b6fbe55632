//! Small files that the command line names: at most 1 MiB, as text or bytes, with a warning where others read a secret.
use crate::{command_error::CommandError, context::input_file};
use host::linux::input::Care;
use objects::SMALL_FILE_LIMIT;
use std::{os::unix::fs::PermissionsExt, path::Path};
use zeroize::Zeroizing;

/// The content of a file; `-` is standard input. A larger one is refused with the limit, and never cut.
pub(super) fn bytes(name: &str, care: Care) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    bytes_within(name, care, SMALL_FILE_LIMIT)
}

/// The same with another limit, in whole KiB.
pub(super) fn bytes_within(name: &str, care: Care, limit: usize) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    // One byte more is read than is allowed.
    let bytes = input_file(name, care, limit as u64)?;
    match bytes.len() > limit {
        true => Err(CommandError::invalid(format!("{} is larger than {} KiB", shown(name), limit >> 10))),
        false => Ok(bytes),
    }
}

/// The text of a file.
pub(super) fn text(name: &str, care: Care) -> Result<Zeroizing<String>, CommandError> {
    let bytes = bytes(name, care)?;
    let text = std::str::from_utf8(&bytes).map(|text| Zeroizing::new(text.to_owned()));
    text.map_err(|_| CommandError::invalid(format!("{} is not UTF-8 text", shown(name))))
}

/// Warns if other users of this machine can read a file that holds this secret.
pub(super) fn warn_if_others_read(flag: &str, name: &str, secret: &str) {
    let metadata = Path::new(name).metadata().ok().filter(|metadata| name != "-" && metadata.is_file());
    let mode = metadata.map_or(0, |metadata| metadata.permissions().mode() & 0o7777);
    if mode & 0o044 != 0 {
        warn!("{flag} {name} has mode {mode:04o}: other users can read {secret}; run: chmod 0600 {name}");
    }
}

/// A file's name in messages.
fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// Standard input has one content: at most one of these options may name it.
pub(super) fn one_standard_input(options: &[(&str, &Option<String>)]) -> Result<(), CommandError> {
    let named = options.iter().filter(|(_, name)| name.as_deref() == Some("-"));
    let named: Vec<_> = named.map(|(flag, _)| *flag).collect();
    match named.len() > 1 {
        true => Err(CommandError::usage(format!("standard input can be read once: {} all name it", named.join(", ")))),
        false => Ok(()),
    }
}
