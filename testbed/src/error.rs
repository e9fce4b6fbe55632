//! What can go wrong: one line that a person can act on, the cause behind it as `source`.
use std::path::PathBuf;
use std::time::Duration;

/// Everything that a call of the test bed can answer with instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host lacks something; the remedy is part of the line.
    #[error("{what} is missing; remedy: {remedy}")]
    Missing {
        /// What is not there: a program, a capability, a registry.
        what: String,
        /// What brings it.
        remedy: String,
    },
    /// A program ended otherwise than hoped.
    #[error("`{command}` ended with {status}: {output}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// The end of what it printed.
        output: String,
    },
    /// A condition did not come about in time.
    #[error("{what}: not within {limit:?}; last seen: {seen}")]
    TooLate {
        /// What was waited for.
        what: String,
        /// How long.
        limit: Duration,
        /// What the last look showed.
        seen: String,
    },
    /// A file or directory could not be read, written or removed.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried, as a verb.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot start `{command}`")]
    Start {
        /// The command line.
        command: String,
        /// Why not.
        source: std::io::Error,
    },
    /// An answer was not of the expected form.
    #[error("cannot read {what}: {found}")]
    Unreadable {
        /// What was read.
        what: String,
        /// What it says instead.
        found: String,
    },
    /// The caller asked for something that makes no sense now.
    #[error("{0}")]
    Misused(String),
}

/// A result of the test bed.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Turns an I/O error into [`Error::File`]: `fs::read(&p).map_err(file("read", &p))`.
pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    move |source| Error::File { action, path, source }
}
