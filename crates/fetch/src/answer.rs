//! What came back.
use crate::{Error, Result, shown};
use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER};
use std::fmt;
use std::time::Duration;
use url::Url;
use zeroize::Zeroizing;

/// An answer, whatever its status.
pub struct Answer {
    /// The status; what it means is the caller's business.
    pub status: u16,
    /// What the body is said to be.
    pub content_type: Option<String>,
    /// How long to wait before asking again, where it is given in seconds.
    pub retry_after: Option<Duration>,
    /// The server's time, as it writes it.
    pub date: Option<String>,
    /// The body.
    pub body: Zeroizing<Vec<u8>>,
    /// Where it came from in the end.
    pub url: Url,
}

impl Answer {
    /// Whether the status is 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}, {} bytes", self.status, shown(&self.url), self.body.len())
    }
}

/// What the head of an answer says about its body.
pub(crate) struct Head {
    pub(crate) content_type: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) date: Option<String>,
}

impl Head {
    /// Reads the head; a body that is compressed although we asked for none is refused.
    pub(crate) fn read(headers: &HeaderMap, url: &Url) -> Result<Self> {
        if headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            let what = "its body has a Content-Encoding, which was not asked for".to_owned();
            return Err(Error::Malformed { url: shown(url), what });
        }
        let text = |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
        let retry_after = text(RETRY_AFTER).and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let owned = |name| text(name).map(str::to_owned);
        Ok(Self { content_type: owned(CONTENT_TYPE), retry_after, date: owned(DATE) })
    }
}
