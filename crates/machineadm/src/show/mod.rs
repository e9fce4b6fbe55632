//! What people and programs see.
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod status;
pub(crate) mod tokens;
mod yaml;

use crate::{cli::Output, command_error::CommandError};
use machine::Provenance;
use serde::Serialize;
use std::io::{IsTerminal, Write};

/// Prints a result for programs.
pub(crate) fn machine_readable(value: &impl Serialize, output: Output) {
    let value = serde_json::to_value(value).unwrap_or_default();
    let text = match output {
        Output::Json => format!("{}\n", serde_json::to_string_pretty(&value).unwrap_or_default()),
        Output::Yaml => yaml::render(&value),
    };
    print(&text);
}

/// Tells people something, on standard error. That nobody listens any more, or that the disk of a log is full, must not
/// end a run in the middle.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints a result; a reader that went away is no failure of ours.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush());
}

/// Hands over a result that somebody keeps: what can't be written is a failure.
pub(crate) fn hand_over(bytes: &[u8]) -> Result<(), CommandError> {
    let written = std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush());
    written.map_err(|error| CommandError::failed(format!("cannot write the result: {}", error.kind())))
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
