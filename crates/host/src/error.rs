//! Faults of a machine: the thing, the cause, and the next step.
use secret::Secret;
use std::io;

/// A result of looking at or changing a machine.
pub type Result<T> = std::result::Result<T, Error>;

/// A machine fault.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {doing}")]
    System {
        /// What was tried, as a verb and its object.
        doing: String,
        /// The system's reason.
        source: io::Error,
    },
    /// We refuse: going on would not be safe.
    #[error("{what}: {why}")]
    Refused {
        /// The thing.
        what: String,
        /// Why it is not safe.
        why: String,
    },
    /// Other users could have written a file whose content decides something.
    #[error("{what} {why}")]
    Untrusted {
        /// The file.
        what: String,
        /// Who else has access to it.
        why: String,
        /// What to do.
        advice: String,
    },
    /// The machine is not what the step needs.
    #[error("{what}: {why}")]
    Unfit {
        /// The thing.
        what: String,
        /// Why it does not fit.
        why: String,
        /// What to do.
        advice: String,
    },
    /// A record of our own is damaged, or cannot be used on this machine: to continue without it would repeat or lose
    /// something, which only the operator can decide.
    #[error("{what}: {why}")]
    Record {
        /// Its file.
        what: String,
        /// Why it cannot be used.
        why: String,
        /// What to do.
        advice: String,
    },
    /// A program did not do what it was run for.
    #[error("{program} {how}")]
    Program {
        /// Its name.
        program: String,
        /// How it ended.
        how: String,
        /// The end of what it printed; may hold secrets, so whoever shows it redacts it.
        output: Secret<String>,
    },
    /// Power failed; only [`crate::Memory`] says so.
    #[error("power failed")]
    PowerFailed,
}

impl Error {
    /// Wraps a system error with what was tried.
    pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        let doing = doing.into();
        move |errno| Self::System { doing, source: errno.into() }
    }

    /// The same for the standard library's errors.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::System { doing, source }
    }

    /// What an operator can do about it.
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::System { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => Some("free some space on that file system, then run again".into()),
                io::ErrorKind::QuotaExceeded => Some("raise the quota or free some space, then run again".into()),
                io::ErrorKind::ReadOnlyFilesystem => {
                    Some("mount that file system writable, or choose a path on one that is, then run again".into())
                }
                io::ErrorKind::PermissionDenied => Some("run as root".into()),
                _ => None,
            },
            Self::Unfit { advice, .. } | Self::Untrusted { advice, .. } | Self::Record { advice, .. } => {
                Some(advice.clone())
            }
            Self::Refused { .. } | Self::Program { .. } | Self::PowerFailed => None,
        }
    }

    /// Whether there was no space left to write to.
    pub fn is_out_of_space(&self) -> bool {
        let is_full =
            |source: &io::Error| matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        matches!(self, Self::System { source, .. } if is_full(source))
    }

    /// Whether only an operator can continue.
    pub const fn needs_operator(&self) -> bool {
        matches!(self, Self::Record { .. })
    }

    /// The end of a program's output, unredacted.
    pub const fn output(&self) -> Option<&Secret<String>> {
        match self {
            Self::Program { output, .. } => Some(output),
            _ => None,
        }
    }
}
