//! What people and programs see.
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod status;
pub(crate) mod tokens;

use crate::{cli::Output, command_error::CommandError};
use engine::{Provenance, outcome::chain};
use objects::yaml;
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints a result for programs.
pub(crate) fn machine_readable(value: &impl Serialize, output: Output) -> Result<(), CommandError> {
    let no_json = |error| CommandError::failed(format!("cannot write the result as JSON: {error}"));
    let value = serde_json::to_value(value).map_err(no_json)?;
    print(match output {
        Output::Json => format!("{value:#}\n"),
        Output::Yaml => yaml::write(&value),
    })
}

/// Tells people something, on standard error. That nobody listens any more, or that the disk of a log is full, must not
/// end a run in the middle.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints a result, or a part of one; nothing else writes to standard output. A result that cannot be written, for
/// example because a disk is full, is a failure. A reader that has gone away, such as `head`, wanted no more of it.
pub(crate) fn print(result: impl AsRef<[u8]>) -> Result<(), CommandError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(result.as_ref()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::failed(format!("cannot write the result to standard output: {}", chain(&error))))
        }
        _ => Ok(()),
    }
}

/// Where documents came from, unless all stood in one file that was given.
pub(crate) fn sources(sources: &[Provenance]) -> String {
    let one = |source: &Provenance| format!("{} ({})", source.name, source.documents);
    match sources {
        [] => String::new(),
        [one] if !one.name.contains(" > ") => String::new(),
        some => format!("documents from {}\n", some.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

/// Whether standard error is a terminal that wants colours and moving lines.
pub(crate) fn lively() -> bool {
    std::io::stderr().is_terminal() && wants_colour()
}

/// A sign in its colour, where standard output is a terminal.
pub(crate) fn sign(sign: &str) -> String {
    if !(std::io::stdout().is_terminal() && wants_colour()) {
        return sign.to_owned();
    }
    let colour = match sign {
        "+" | "✔" => 32,
        "-" | "✘" => 31,
        "~" | "↻" => 33,
        "▸" => 36,
        _ => return sign.to_owned(),
    };
    format!("\x1b[{colour}m{sign}\x1b[0m")
}

fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// `1 change`, `2 changes`.
pub(crate) fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Pads by characters, not bytes.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}
