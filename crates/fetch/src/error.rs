//! Why there is no answer: one variant per cause, and nothing secret in any of them.
use crate::Place;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer. URLs in it are as [`shown`](crate::shown) shows them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not an https URL.
    #[error("{url} is not https: only https URLs are fetched")]
    NotHttps {
        /// The URL.
        url: String,
    },
    /// Not a URL that can be fetched.
    #[error("invalid URL: {reason}")]
    BadUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// A header that can't be sent; its value is not told.
    #[error("the request's header {name:?} has a name or value that HTTP does not allow")]
    BadHeader {
        /// Its name.
        name: String,
    },
    /// Certificates or keys that can't be used.
    #[error("{what}")]
    BadCredentials {
        /// What is wrong, and what to do.
        what: String,
    },
    /// No authority to check certificates with.
    #[error("no CA certificates to verify servers with: {why}")]
    NoRoots {
        /// Why there is none.
        why: String,
    },
    /// The name has no address.
    #[error("{host} cannot be resolved")]
    Unresolved {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// An address that this request may not go to.
    #[error("{url} leads to {address}, {what}, which this request may not reach")]
    Forbidden {
        /// The URL.
        url: String,
        /// The address.
        address: IpAddr,
        /// What it is.
        what: Place,
    },
    /// Nobody listens.
    #[error("connection refused by {address}")]
    Refused {
        /// The last address that was tried.
        address: SocketAddr,
    },
    /// No way there.
    #[error("{address} cannot be reached")]
    Unreachable {
        /// The last address that was tried.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Too slow.
    #[error("{url} took longer than {} while {stage}", seconds(.limit))]
    Timeout {
        /// The URL.
        url: String,
        /// What was going on.
        stage: Stage,
        /// How long it was given.
        limit: Duration,
    },
    /// The server's certificate is not good.
    #[error("the certificate of {url} is not trusted: {fault}")]
    Certificate {
        /// The URL.
        url: String,
        /// Why not.
        fault: CertificateFault,
    },
    /// TLS failed otherwise.
    #[error("the TLS handshake with {url} failed")]
    Tls {
        /// The URL.
        url: String,
        /// What rustls said.
        source: io::Error,
    },
    /// A redirect to something that is not https.
    #[error("{url} redirects to {to}, which is not https")]
    RedirectToHttp {
        /// The URL.
        url: String,
        /// Where it redirects to.
        to: String,
    },
    /// A redirect to an address that this request may not go to.
    #[error("{url} redirects to {to}, which leads to {address}, {what}, which this request may not reach")]
    RedirectForbidden {
        /// The URL.
        url: String,
        /// Where it redirects to.
        to: String,
        /// The address.
        address: IpAddr,
        /// What it is.
        what: Place,
    },
    /// Redirected too often.
    #[error("{url} {}", too_many(*.limit))]
    TooManyRedirects {
        /// The URL that redirected last.
        url: String,
        /// How many are followed.
        limit: usize,
    },
    /// The body is too large.
    #[error("the answer of {url} is larger than {limit} bytes")]
    TooLarge {
        /// The URL.
        url: String,
        /// How much is read.
        limit: usize,
    },
    /// The head is too large.
    #[error("the headers of {url} are larger than {limit} bytes, or too many")]
    HeadersTooLarge {
        /// The URL.
        url: String,
        /// How much is read.
        limit: usize,
    },
    /// The connection ended before the answer did.
    #[error("{url} closed the connection before its answer was complete")]
    EndedEarly {
        /// The URL.
        url: String,
    },
    /// The proxy is in the way.
    #[error("the proxy {proxy}: {fault}")]
    Proxy {
        /// Its host and port, or where its URL is set.
        proxy: String,
        /// What is wrong with it.
        fault: ProxyFault,
    },
    /// An answer that is not HTTP, or not what was asked for.
    #[error("{url} gave a malformed answer: {what}")]
    Malformed {
        /// The URL.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// The system gave no event loop.
    #[error("cannot start the event loop")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// Whether the same request may well succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unresolved { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::EndedEarly { .. } => true,
            Self::Tls { source, .. } => is_disconnection(source),
            Self::Proxy { fault, .. } => fault.is_transient(),
            _ => false,
        }
    }

    /// Whether the server may have got the request and acted on it, so that doing it again is not doing it once.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::Timeout { stage, .. } => matches!(stage, Stage::Headers | Stage::Body),
            Self::EndedEarly { .. } | Self::Malformed { .. } => true,
            Self::TooLarge { .. } | Self::HeadersTooLarge { .. } => true,
            Self::RedirectToHttp { .. } | Self::RedirectForbidden { .. } | Self::TooManyRedirects { .. } => true,
            _ => false,
        }
    }
}

/// Whether an I/O error means that the other side went away.
pub(crate) fn is_disconnection(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof)
}

/// What was going on when time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The name was looked up.
    Resolving,
    /// The connection was made.
    Connecting,
    /// The proxy was asked.
    Proxy,
    /// The TLS handshake went on.
    Tls,
    /// The head of the answer was awaited.
    Headers,
    /// The body was read.
    Body,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolving => "resolving its name",
            Self::Connecting => "connecting",
            Self::Proxy => "connecting through the proxy",
            Self::Tls => "negotiating TLS",
            Self::Headers => "waiting for its answer",
            Self::Body => "reading its answer",
        })
    }
}

/// Why a certificate is not good.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// Nobody whom we trust has signed it.
    #[error("it is signed by an unknown authority")]
    UnknownIssuer,
    /// It is over.
    #[error("it has expired (check this machine's clock)")]
    Expired,
    /// It has not begun.
    #[error("it is not valid yet (check this machine's clock)")]
    NotYetValid,
    /// It has not begun, and this machine's clock can't be right.
    #[error(
        "this machine's clock is {days} days behind the build date of machineadm: set it (timedatectl), then run again"
    )]
    ClockBehind {
        /// How far, in whole days.
        days: u64,
    },
    /// It is for others.
    #[error("it is valid for {}, not for {wanted}", listed(.names))]
    WrongName {
        /// The name that was wanted.
        wanted: String,
        /// The names that it has, the first few.
        names: Vec<String>,
    },
    /// Something else.
    #[error("{0}")]
    Other(String),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "no name at all".to_owned() } else { names.join(", ") }
}

/// What is wrong with a proxy.
#[derive(Debug, thiserror::Error)]
pub enum ProxyFault {
    /// Its URL can't be used.
    #[error("{0}")]
    BadUrl(&'static str),
    /// It has no address.
    #[error("its name cannot be resolved")]
    Unresolved(#[source] io::Error),
    /// It can't be reached.
    #[error("it cannot be reached")]
    Unreachable(#[source] io::Error),
    /// It wants other credentials.
    #[error("it requires a user and password, or does not accept these")]
    Unauthorized,
    /// It refused to connect.
    #[error("it answered CONNECT with status {0}")]
    Refused(u16),
    /// It does not speak as a proxy does.
    #[error("it closed the connection or does not speak HTTP")]
    Malformed,
}

impl ProxyFault {
    fn is_transient(&self) -> bool {
        match self {
            Self::Unresolved(_) | Self::Unreachable(_) | Self::Malformed => true,
            Self::Refused(status) => *status >= 500,
            Self::BadUrl(_) | Self::Unauthorized => false,
        }
    }
}

fn too_many(redirects: usize) -> String {
    match redirects {
        0 => "redirects, which is not followed here".to_owned(),
        limit => format!("redirects once more after {limit} redirects"),
    }
}

fn seconds(limit: &Duration) -> String {
    // What is left of a deadline is never round.
    format!("{} s", (limit.as_secs_f64() * 10.0).round() / 10.0)
}
