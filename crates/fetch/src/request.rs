//! What is asked for.
use crate::proxy::literal;
use crate::reach::place;
use crate::{Error, Place, Result, shown};
use secret::Secret;
use std::fmt;
use url::Url;
use zeroize::Zeroizing;

/// A request. Its URL is https, or that of a metadata service; userinfo in it becomes basic authorization.
#[derive(Clone)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// With what.
    pub url: Url,
    /// Names and values; those of `Host`, `User-Agent`, `Accept-Encoding`, `Content-Length` and `Content-Type` are set
    /// by the client. A redirect to another authority keeps `Accept` only, and no body.
    pub headers: Vec<(String, Secret<String>)>,
    /// What is sent along.
    pub body: Option<Body>,
    transport: Transport,
}

/// What a request's URL may be.
#[derive(Clone, Copy)]
enum Transport {
    Https,
    /// https, or plain HTTP to an address that is not further away than the link.
    Metadata,
}

impl Request {
    /// A GET of an https URL.
    pub fn get(url: &str) -> Result<Self> {
        Self::new(Method::Get, url)
    }

    /// A request without headers and body.
    pub fn new(method: Method, url: &str) -> Result<Self> {
        Self::checked(method, url, Transport::Https)
    }

    /// A request to a cloud's metadata service, which speaks plain HTTP at a link-local address. The URL names an address
    /// of this machine or its link: nothing goes unencrypted to where a router could lead it.
    pub fn to_metadata(method: Method, url: &str) -> Result<Self> {
        Self::checked(method, url, Transport::Metadata)
    }

    fn checked(method: Method, url: &str, transport: Transport) -> Result<Self> {
        // The URL's reader would skip them, or take them for slashes, and see another host than a person does.
        if url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control()) {
            return Err(Error::BadUrl { reason: "it has a backslash, white space or control characters".to_owned() });
        }
        let url = Url::parse(url).map_err(|error| Error::BadUrl { reason: error.to_string() })?;
        let request = Self { method, url, headers: Vec::new(), body: None, transport };
        request.check().map(|()| request)
    }

    /// Whether its URL can be fetched at all.
    pub(crate) fn check(&self) -> Result<()> {
        let url = &self.url;
        let is_near =
            || matches!(literal(url).and_then(place), Some(Place::Loopback | Place::LinkLocal | Place::Metadata));
        let is_allowed = match self.transport {
            Transport::Https => url.scheme() == "https",
            Transport::Metadata => url.scheme() == "https" || url.scheme() == "http" && is_near(),
        };
        if !is_allowed {
            return Err(Error::NotHttps { url: shown(url) });
        }
        if url.host_str().is_none_or(str::is_empty) || url.port() == Some(0) {
            return Err(Error::BadUrl { reason: "it has no host, or port 0".to_owned() });
        }
        Ok(())
    }

    /// The request with one more header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: Secret<String>) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }

    /// The request with a body.
    #[must_use]
    pub fn with_body(mut self, content_type: &str, bytes: Vec<u8>) -> Self {
        self.body = Some(Body { content_type: content_type.to_owned(), bytes: Zeroizing::new(bytes) });
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        let Self { method, url, body, .. } = self;
        let mut shape = f.debug_struct("Request");
        shape.field("method", method).field("url", &shown(url)).field("headers", &names).field("body", body).finish()
    }
}

/// The methods that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes something new.
    Post,
    /// Replaces.
    Put,
    /// Changes a part.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// As HTTP has it.
    pub(crate) const fn http(self) -> hyper::Method {
        match self {
            Self::Get => hyper::Method::GET,
            Self::Post => hyper::Method::POST,
            Self::Put => hyper::Method::PUT,
            Self::Patch => hyper::Method::PATCH,
            Self::Delete => hyper::Method::DELETE,
        }
    }
}

/// What is sent along with a request.
#[derive(Clone)]
pub struct Body {
    /// What it is.
    pub content_type: String,
    /// Its bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {}", self.bytes.len(), self.content_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_is_asked_for() {
        assert!(matches!(Request::get("http://h/x?key=s3cret"), Err(Error::NotHttps { url }) if url == "http://h/x"));
        assert!(matches!(Request::get("file:///etc/passwd"), Err(Error::NotHttps { .. })));
        assert!(matches!(Request::get("https://"), Err(Error::BadUrl { .. })));
        assert!(matches!(Request::get("https://h:0/"), Err(Error::BadUrl { .. })));
        for url in [
            "https://127.0.0.1\\@h/",
            "https://h/\\x",
            "https://h/\tx",
            " https://h/",
            "https://h/\u{7f}",
            "https://a\nb/",
        ] {
            assert!(matches!(Request::get(url), Err(Error::BadUrl { .. })), "{url:?}");
        }
        assert!(matches!(Request::get("h:443/s3cret"), Err(Error::NotHttps { .. } | Error::BadUrl { .. })));
    }

    #[test]
    fn plain_http_goes_to_this_machine_and_its_link_alone() {
        for url in ["http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://127.0.0.1:8080/", "https://h/"]
        {
            assert!(Request::to_metadata(Method::Put, url).is_ok(), "{url}");
        }
        for url in ["http://10.0.0.1/", "http://localhost/", "http://metadata.example/", "ftp://169.254.169.254/"] {
            assert!(matches!(Request::to_metadata(Method::Put, url), Err(Error::NotHttps { .. })), "{url}");
        }
        assert!(matches!(Request::get("http://169.254.169.254/"), Err(Error::NotHttps { .. })));
    }

    #[test]
    fn a_request_shows_nothing_secret() {
        let request = Request::get("https://jo:s3cret@h/x?key=s3cret").expect("a request");
        let request = request.with_header("Authorization", Secret::new("Bearer s3cret".to_owned()));
        let shown = format!("{:?}", request.with_body("text/plain", b"s3cret".to_vec()));
        assert!(shown.contains("https://h/x") && shown.contains("Authorization"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
