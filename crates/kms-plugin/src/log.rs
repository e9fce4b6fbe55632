//! Structured logs: one JSON object per line on standard error, never with key material or plaintext.
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Map, Value, json};
use std::io::{StderrLock, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Lines that were not written since the last one that was.
static UNWRITTEN: AtomicU64 = AtomicU64::new(0);

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

/// Writes one line: the time, the level, the message, then the further members. Where nobody reads the log, and all is full
/// that lies between, the line is counted and not written: all keys would wait for it.
pub(crate) fn line(level: Level, message: &str, members: Value) {
    let mut object = Map::new();
    object.insert("time".to_owned(), json!(jiff::Timestamp::now().to_string()));
    object.insert("level".to_owned(), json!(level.word()));
    object.insert("message".to_owned(), json!(message));
    if let Value::Object(members) = members {
        object.extend(members);
    }
    let mut stream = std::io::stderr().lock();
    if !takes_a_line(&stream) {
        UNWRITTEN.fetch_add(1, Ordering::Relaxed);
        return;
    }
    let unwritten = UNWRITTEN.swap(0, Ordering::Relaxed);
    if unwritten > 0 {
        object.insert("unwritten".to_owned(), json!(unwritten));
    }
    // Nobody can be told that nobody listens.
    let _ = stream.write_all(format!("{}\n", Value::Object(object)).as_bytes());
}

/// Whether a line can be written without waiting. A pipe that says so has room for 4 KiB.
fn takes_a_line(stream: &StderrLock<'_>) -> bool {
    let mut asked = [PollFd::new(stream, PollFlags::OUT)];
    // What cannot be asked is written to as ever.
    !matches!(poll(&mut asked, Some(&Timespec::default())), Ok(0))
}
