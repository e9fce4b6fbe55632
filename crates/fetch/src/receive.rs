//! A body that is passed on as it comes: for files that are too large for memory.
use crate::answer::Head;
use crate::{Client, Error, Request, Result, Stage, connection, shown};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_RANGE, HeaderMap};
use std::time::Duration;

/// Gets an answer piece by piece.
pub trait Receiver {
    /// The answer has begun. Its body follows if the receiver wants it.
    fn opens(&mut self, opening: &Opening) -> Wish;
    /// The next bytes of the body.
    fn takes(&mut self, data: &[u8]) -> Wish;
}

/// Whether a receiver wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Go on.
    More,
    /// The rest is not wanted.
    Enough,
}

/// What the head of an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The status.
    pub status: u16,
    /// How many bytes follow, if that is known.
    pub length: Option<u64>,
    /// Which part of the whole follows, if it is a part.
    pub range: Option<ContentRange>,
    /// How long to wait before asking again.
    pub retry_after: Option<Duration>,
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRange {
    /// The position of its first byte.
    pub first: u64,
    /// The size of the whole, if that is known.
    pub total: Option<u64>,
}

/// How long an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// For everything.
    pub total: Duration,
    /// Without a single byte.
    pub stall: Duration,
}

impl Client {
    /// Sends a GET and passes its answer on as it comes, whatever its status. Redirects are followed. A body that ends
    /// early is an error.
    pub fn receive(&self, request: &Request, pace: Pace, receiver: &mut dyn Receiver) -> Result<()> {
        self.within(request, pace.total, async |progress| {
            let (answer, sender, hop) = self.open(request, progress).await?;
            progress.enter(Stage::Body);
            let (parts, mut body) = answer.into_parts();
            let opening = opening(parts.status.as_u16(), &parts.headers, &body, &Head::read(&parts.headers, &hop.url)?);
            let mut wish = receiver.opens(&opening);
            while wish == Wish::More {
                let late = |_| Error::Timeout { url: shown(&hop.url), stage: Stage::Body, limit: pace.stall };
                let Some(frame) = tokio::time::timeout(pace.stall, body.frame()).await.map_err(late)? else {
                    self.keep(&hop, sender);
                    break;
                };
                if let Ok(data) = frame.map_err(|error| connection::failure(&hop.url, &error))?.into_data() {
                    wish = receiver.takes(&data);
                }
            }
            Ok(())
        })
    }
}

fn opening(status: u16, headers: &HeaderMap, body: &Incoming, head: &Head) -> Opening {
    let range = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).and_then(content_range);
    Opening { status, length: body.size_hint().exact(), range, retry_after: head.retry_after }
}

/// The value of `Content-Range`, as in `bytes 100-199/200`.
fn content_range(text: &str) -> Option<ContentRange> {
    let (part, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = part.split_once('-')?;
    Some(ContentRange { first: first.trim().parse().ok()?, total: total.trim().parse().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_whole_is_read() {
        assert_eq!(content_range("bytes 100-199/200"), Some(ContentRange { first: 100, total: Some(200) }));
        assert_eq!(content_range("bytes 0-1/*"), Some(ContentRange { first: 0, total: None }));
        for text in ["bytes */200", "100-199/200", "bytes a-b/c", "bytes 1-2", ""] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }
}
