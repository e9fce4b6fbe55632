//! The time of a server that is not verified: good for a hint about this machine's clock, and for nothing else.
use crate::{api_server::http_date, network::settings};
use discovery::Endpoint;
use fetch::{Client, Request, Trust};
use jiff::Timestamp;
use std::time::Duration;

/// The time that a server tells with an answer, whatever that is; `None` where it tells none. Nothing secret is sent.
pub fn unverified_time(endpoint: &Endpoint, within: Duration) -> Option<Timestamp> {
    let mut settings = settings(Trust::Unverified, within);
    settings.limits.redirects = 0;
    let request = Request::get(&endpoint.url("/version")).ok()?;
    let answer = Client::new(settings).ok()?.send(&request).ok()?;
    answer.date.as_deref().and_then(http_date)
}
