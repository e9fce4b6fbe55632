//! What people and programs see.
pub(crate) mod cleanup_wait;
pub(crate) mod log;
pub(crate) mod moving_line;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod reset;
pub(crate) mod status;
mod terminal;
pub(crate) mod tokens;

use crate::{cli::Output, command_error::CommandError};
use engine::{Provenance, outcome::chain};
use objects::{one_line, yaml};
use serde::Serialize;
use std::{
    io::{ErrorKind, Write},
    time::Duration,
};
use terminal::Mark;

/// Prints a result for programs.
pub(crate) fn machine_readable(value: &impl Serialize, output: Output) -> Result<(), CommandError> {
    let no_json = |error| CommandError::failed(format!("cannot write the result as JSON: {error}"));
    let value = serde_json::to_value(value).map_err(no_json)?;
    print(match output {
        Output::Json => format!("{value:#}\n"),
        Output::Yaml => yaml::write(&value),
    })
}

/// Prints text for people to standard output: what others wrote into it can't control a terminal.
pub(crate) fn print_text(text: &str) -> Result<(), CommandError> {
    print(terminal::text_for(&std::io::stdout(), text))
}

/// The same for a text that is lost if its reader has gone away.
pub(crate) fn print_text_whole(text: &str) -> Result<(), CommandError> {
    if text.is_empty() { Ok(()) } else { print_whole(terminal::text_for(&std::io::stdout(), text)) }
}

/// A text for people as a file has it: without colours, and printable.
pub(crate) fn plain(text: &str) -> String {
    terminal::plain(text)
}

/// Prints a result, or a part of one; nothing else writes to standard output. A result that cannot be written, for
/// example because a disk is full, is a failure. A reader that has gone away, such as `head`, wanted no more of it.
pub(crate) fn print(result: impl AsRef<[u8]>) -> Result<(), CommandError> {
    match write(result.as_ref()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(not_written(&error)),
        _ => Ok(()),
    }
}

/// The same for a result that is lost if its reader has gone away.
pub(crate) fn print_whole(result: impl AsRef<[u8]>) -> Result<(), CommandError> {
    write(result.as_ref()).map_err(|error| not_written(&error))
}

fn write(result: &[u8]) -> std::io::Result<()> {
    terminal::above(|| {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(result).and_then(|()| stdout.flush())
    })
}

fn not_written(error: &std::io::Error) -> CommandError {
    CommandError::failed(format!("cannot write the result to standard output: {}", chain(error)))
}

/// Where documents came from, unless all stood in one file that was given.
pub(crate) fn sources(sources: &[Provenance]) -> String {
    let one = |source: &Provenance| format!("{} ({})", one_line(&source.name), source.documents);
    match sources {
        [] => String::new(),
        [one] if !one.name.contains(" > ") => String::new(),
        some => format!("documents from {}\n", some.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

/// A sign in its colour.
pub(crate) fn sign(sign: &str) -> String {
    let mark = match sign {
        "+" | "✔" => Mark::Green,
        "-" | "✘" => Mark::Red,
        "~" | "↻" => Mark::Yellow,
        "▸" => Mark::Cyan,
        _ => return sign.to_owned(),
    };
    format!("{}{sign}{}", mark.character(), Mark::Plain.character())
}

/// A span of time for people: `0.3s`, `12s`, `3m20s`.
pub(crate) fn span(span: Duration) -> String {
    match span.as_secs() {
        0..10 => format!("{:.1}s", span.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds}s"),
        seconds => format!("{}m{:02}s", seconds / 60, seconds % 60),
    }
}

/// `1 change`, `2 changes`.
pub(crate) fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Pads by characters, not bytes.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}
