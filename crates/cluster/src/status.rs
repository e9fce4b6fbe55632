//! What an answer that is not success means.
use crate::Error;
use fetch::Answer;
use objects::printable;
use serde::Deserialize;
use std::time::Duration;

/// How much of a server's message is shown.
const SHOWN: usize = 1000;

/// A `Status` of the API, as far as we read it.
#[derive(Deserialize, Default)]
struct Status {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Details,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(default)]
    retry_after_seconds: u64,
}

/// The error that an answer stands for.
pub(crate) fn error(answer: &Answer, server: &str) -> Error {
    let Status { reason, message, details } = serde_json::from_slice(&answer.body).unwrap_or_default();
    let message = if message.is_empty() { "no reason was given".to_owned() } else { printable(&message, SHOWN) };
    let asked = Some(details.retry_after_seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs);
    match answer.status {
        401 => Error::Unauthorized { server: server.to_owned() },
        403 => Error::Forbidden { message },
        code => Error::Status {
            code,
            reason: printable(&reason, SHOWN),
            message,
            retry_after: answer.retry_after.or(asked),
        },
    }
}
