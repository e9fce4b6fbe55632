//! Redirects: where to, and what goes along.
use crate::{Error, Result, shown};
use hyper::header::{HeaderMap, LOCATION};
use url::Url;

/// One URL on the way to the answer.
pub(crate) struct Hop {
    /// Where to.
    pub(crate) url: Url,
    /// Whether it still is the authority that was asked for, and never was another in between.
    pub(crate) is_known: bool,
    /// How many redirects led here.
    pub(crate) count: usize,
    /// Who redirected here.
    from: Option<String>,
}

impl Hop {
    /// The URL that was asked for.
    pub(crate) fn first(url: &Url) -> Self {
        Self { url: url.clone(), is_known: true, count: 0, from: None }
    }

    /// Whether a header of the request goes along: all to whom they were meant for, to others none that could be secret.
    /// Which part of a file is wanted is none, and the file may be elsewhere.
    pub(crate) fn carries(&self, header: &str) -> bool {
        self.is_known || ["accept", "range"].iter().any(|open| header.eq_ignore_ascii_case(open))
    }

    /// The next hop, if these headers of a redirecting answer name one.
    pub(crate) fn next(&self, headers: &HeaderMap, limit: usize) -> Result<Option<Self>> {
        let Some(location) = headers.get(LOCATION) else { return Ok(None) };
        let url = location.to_str().ok().and_then(|text| self.url.join(text).ok()).ok_or_else(|| self.unusable())?;
        if url.scheme() != "https" {
            return Err(Error::RedirectToHttp { url: shown(&self.url), to: shown(&url) });
        }
        if self.count >= limit {
            return Err(Error::TooManyRedirects { url: shown(&self.url), limit });
        }
        let stays = authority(&url) == authority(&self.url);
        // A relative redirect keeps our own user part; any other is a stranger's wish.
        let user_is_ours = stays && user(&url) == user(&self.url);
        if url.port() == Some(0) || !(user_is_ours || user(&url) == ("", None)) {
            return Err(self.unusable());
        }
        let is_known = self.is_known && stays;
        Ok(Some(Self { url, is_known, count: self.count + 1, from: Some(shown(&self.url)) }))
    }

    /// An error of this hop; a forbidden address behind a redirect has its own.
    pub(crate) fn explained(&self, error: Error) -> Error {
        match (error, &self.from) {
            (Error::Forbidden { url: to, address, what }, Some(from)) => {
                Error::RedirectForbidden { url: from.clone(), to, address, what }
            }
            (error, _) => error,
        }
    }

    fn unusable(&self) -> Error {
        Error::Malformed { url: shown(&self.url), what: "it redirects to no usable URL".to_owned() }
    }
}

fn user(url: &Url) -> (&str, Option<&str>) {
    (url.username(), url.password())
}

/// Host and port.
pub(crate) fn authority(url: &Url) -> (String, u16) {
    (url.host_str().unwrap_or_default().to_owned(), url.port_or_known_default().unwrap_or(443))
}
