//! Why a key service did not do what it was asked, in the words that Status, logs, metrics and docs share.
use std::fmt;

/// What a failure means for the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// The service does not answer, or not in time.
    Unreachable,
    /// The service answers that there were too many requests.
    Throttled,
    /// The credentials are missing, expired or not allowed to use the key.
    AccessDenied,
    /// The key exists and is switched off.
    Disabled,
    /// The key is going to be deleted.
    PendingDeletion,
    /// There is no such key, or not the version that is asked for.
    Missing,
    /// The key still decrypts and no longer encrypts.
    DecryptsOnly,
    /// The request itself can't be done: a ciphertext of another key, damaged, or too large. Says nothing of the key.
    InvalidRequest,
}

impl FailureKind {
    /// Every kind, in the order of the docs.
    pub const ALL: &[Self] = &[
        Self::Unreachable,
        Self::Throttled,
        Self::AccessDenied,
        Self::Disabled,
        Self::PendingDeletion,
        Self::Missing,
        Self::DecryptsOnly,
        Self::InvalidRequest,
    ];

    /// The word for logs and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Throttled => "throttled",
            Self::AccessDenied => "access-denied",
            Self::Disabled => "disabled",
            Self::PendingDeletion => "pending-deletion",
            Self::Missing => "missing",
            Self::DecryptsOnly => "decrypts-only",
            Self::InvalidRequest => "invalid-request",
        }
    }

    /// Whether the same request may succeed a moment later.
    pub const fn is_worth_a_retry(self) -> bool {
        matches!(self, Self::Unreachable | Self::Throttled)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// A failure: its kind, and one line that names the thing, the cause and the next step, and no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Failure {
    /// What it means for the key.
    pub kind: FailureKind,
    /// The line.
    pub message: String,
}

impl Failure {
    /// A failure with its line. Control characters in what others said become escapes.
    pub fn new(kind: FailureKind, message: impl AsRef<str>) -> Self {
        Self { kind, message: objects::one_line(message.as_ref()) }
    }

    /// A request that can't be done.
    pub fn invalid(message: impl AsRef<str>) -> Self {
        Self::new(FailureKind::InvalidRequest, message)
    }
}
