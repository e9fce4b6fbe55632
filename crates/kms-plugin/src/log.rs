//! Structured logs: one JSON object per line on standard error, never with key material or plaintext.
use serde_json::{Map, Value, json};
use std::io::Write;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Something happened as it should.
    Info,
    /// Something needs an operator's attention.
    Warning,
    /// Something failed.
    Error,
}

impl Level {
    const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Writes one line: the time, the level, the message, then the further members.
pub(crate) fn line(level: Level, message: &str, members: Value) {
    let mut object = Map::new();
    object.insert("time".to_owned(), json!(jiff::Timestamp::now().to_string()));
    object.insert("level".to_owned(), json!(level.word()));
    object.insert("message".to_owned(), json!(message));
    if let Value::Object(members) = members {
        object.extend(members);
    }
    // Nobody can be told that nobody listens.
    let _ = writeln!(std::io::stderr().lock(), "{}", Value::Object(object));
}
