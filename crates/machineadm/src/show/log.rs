//! What standard error carries beside errors: how much of it, and in which form.
use super::terminal;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use objects::visible;
use serde::Serialize;
use serde_json::{Map, Value};
use std::{ffi::OsString, sync::OnceLock};

/// How much is printed to standard error, and in which form.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Settings {
    /// Print every document and step, also those with nothing to do
    #[arg(short, long, global = true, help_heading = "Global options", conflicts_with = "quiet")]
    verbose: bool,
    /// Print no progress, only warnings and errors
    #[arg(short, long, global = true, help_heading = "Global options")]
    quiet: bool,
    /// Form of progress, warnings and errors on standard error; json is one object per line
    #[arg(long, global = true, help_heading = "Global options", value_enum, value_name = "FORMAT", default_value_t)]
    log_format: LogFormat,
}

/// The form of what goes to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    #[default]
    Text,
    Json,
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Only with `--verbose`.
    Debug,
    /// Progress and notes.
    Info,
    /// A risk, or something that was left out.
    Warning,
    /// Why the command did not do what it was asked for.
    Error,
}

/// One line of a log in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    time: Timestamp,
    level: Level,
    message: String,
    #[serde(flatten)]
    members: Map<String, Value>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Takes the settings of the command line, once.
pub(crate) fn set(settings: Settings) {
    // A second time there is nothing to set: a process has one command line.
    let _ = SETTINGS.set(settings);
}

/// Takes the form of a command line that could not be parsed: its errors are for the same reader.
pub(crate) fn set_for_errors(arguments: &[OsString]) {
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    let is_json = arguments.iter().any(|word| word == "--log-format=json")
        || pairs.into_iter().any(|(option, value)| option == "--log-format" && value == "json");
    if is_json {
        set(Settings { log_format: LogFormat::Json, ..Settings::default() });
    }
}

pub(super) fn settings() -> Settings {
    SETTINGS.get().copied().unwrap_or_default()
}

impl Settings {
    /// Whether a line may move on a terminal.
    pub(super) fn shows_moving_line(self) -> bool {
        !self.quiet && self.log_format == LogFormat::Text
    }

    fn shows(self, level: Level) -> bool {
        match level {
            Level::Debug => self.verbose,
            Level::Info => !self.quiet,
            Level::Warning | Level::Error => true,
        }
    }
}

/// Prints a text that is already in its final form, such as a report with headings of its own.
pub(crate) fn print(level: Level, text: &str) {
    print_with(level, text, Map::new());
}

/// The same; the members stand in the JSON form only.
pub(crate) fn print_with(level: Level, text: &str, members: Map<String, Value>) {
    // Colours stand in no note or warning: a mark in one came from somebody else.
    print_coloured(level, &visible(text), members);
}

/// The same for a text that may name colours.
pub(crate) fn print_coloured(level: Level, text: &str, members: Map<String, Value>) {
    let settings = settings();
    if !settings.shows(level) || text.is_empty() {
        return;
    }
    match settings.log_format {
        LogFormat::Text => terminal::error_text(text),
        LogFormat::Json => {
            let message = text.trim_end().trim_start_matches('\n').to_owned();
            terminal::error_record(&Record { time: Timestamp::now(), level, message, members });
        }
    }
}
