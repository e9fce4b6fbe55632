//! Https places: fetched with retries under one deadline, within what the asking document may reach.
use super::{patience::Patience, without_line_end};
use documents::{
    Fault, PassphraseProvider, ProviderError, RemoteProvider, Request, Rights, Secret,
    v1alpha1::{Certificate, Proxy},
};
use engine::outcome::chain;
use fetch::{
    Bypass, CertificateDer, Client, Limits, Place, Reach, Settings, Trust,
    retry::{Backoff, GaveUp, RealClock, Retry, Transient, Waiting, retrying},
};
use std::time::Duration;
use zeroize::Zeroizing;

/// One attempt; a server that trickles must not use up the time of all attempts.
const ATTEMPT: Duration = Duration::from_secs(60);

/// Fetches over https.
pub(super) struct Https {
    /// How long a fetch may take with all its retries, whatever its document says; an operator who only looks does not
    /// wait for a server that does not answer.
    pub(super) longest: Duration,
}

impl Https {
    /// As long as the documents say.
    pub(super) const PATIENT: Self = Self { longest: Duration::MAX };

    fn get(&self, request: &Request<'_>, limit: usize) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        get(&Request { timeout: request.timeout.min(self.longest), ..*request }, limit)
    }
}

impl RemoteProvider for Https {
    fn fetch(&self, request: &Request<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        self.get(request, request.limit)
    }
}

impl PassphraseProvider for Https {
    fn passphrase(&self, request: &Request<'_>) -> Result<Secret<Vec<u8>>, ProviderError> {
        // A line end may stand behind the longest.
        self.get(request, request.limit + 2).map(without_line_end)
    }
}

/// Why there is nothing.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error(transparent)]
    Fetch(#[from] fetch::Error),
    #[error("{url} answered with status {status}{}", meaning(*.status))]
    Status { url: String, status: u16, wait: Option<Duration> },
}

impl Transient for NoAnswer {
    fn is_transient(&self) -> bool {
        match self {
            Self::Fetch(error) => error.is_transient(),
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
        }
    }

    fn wait(&self) -> Option<Duration> {
        match self {
            Self::Fetch(_) => None,
            Self::Status { wait, .. } => *wait,
        }
    }

    fn is_timeout(&self) -> bool {
        matches!(self, Self::Fetch(error) if error.is_timeout())
    }
}

const fn meaning(status: u16) -> &'static str {
    match status {
        401 | 403 => ": access denied",
        404 | 410 => ": not found",
        500.. => ": server error",
        _ => "",
    }
}

fn get(request: &Request<'_>, limit: usize) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
    let client = Client::new(settings(request, limit)).map_err(|error| told(&error.into()))?;
    let asked = fetch::Request::get(request.uri.expose()).map_err(|error| told(&error.into()))?;
    let patience = Patience::begin(request.shown);
    let mut progress = |waiting: &Waiting<'_, NoAnswer>| {
        tell!("machineadm: {}; retrying in {:.0} s", chain(waiting.last), waiting.pause.as_secs_f64().ceil());
    };
    let (first, most) = (Duration::from_secs(1), Duration::from_secs(30));
    let retry = Retry {
        backoff: Backoff { first, factor: 2, most, total: request.timeout },
        jitter: u64::from(std::process::id()),
        clock: &RealClock::start(),
        progress: &mut progress,
    };
    let answered = retrying(retry, |left| {
        let answer = client.send_within(&asked, left.min(ATTEMPT))?;
        match answer.status {
            200 => Ok(answer.body),
            status => Err(NoAnswer::Status { url: request.shown.to_owned(), status, wait: answer.retry_after }),
        }
    });
    drop(patience);
    answered.map_err(|gave_up| {
        let in_vain = gave_up.in_vain();
        let GaveUp { attempts, last, .. } = gave_up;
        let tries = if attempts > 1 { format!("; gave up after {attempts} attempts") } else { String::new() };
        let told = told(&last);
        ProviderError { message: format!("{}{in_vain}{tries}", told.message), ..told }
    })
}

/// What went wrong, and which right would help where one would.
fn told(error: &NoAnswer) -> ProviderError {
    let told = ProviderError { fault: fault(error), ..ProviderError::new(chain(error)) };
    let (who, what) = match error {
        NoAnswer::Fetch(fetch::Error::Forbidden { what, .. }) => ("the RemoteConfig that fetched this document", what),
        NoAnswer::Fetch(fetch::Error::RedirectForbidden { what, .. }) => {
            ("a RemoteConfig whose storage may do so", what)
        }
        NoAnswer::Fetch(_) | NoAnswer::Status { .. } => return told,
    };
    let right = match what {
        Place::Loopback => "loopback",
        Place::LinkLocal | Place::Metadata => "linkLocal",
        Place::Multicast => return told,
    };
    told.hint(format!("{who} can allow it: `allow: [{right}]`"))
}

/// Whether the same document may well get an answer another time.
const fn fault(error: &NoAnswer) -> Fault {
    use fetch::Error::*;
    match error {
        NoAnswer::Status { .. } => Fault::World,
        NoAnswer::Fetch(error) => match error {
            Unresolved { .. } | Refused { .. } | Unreachable { .. } | Timeout { .. } | EndedEarly { .. } => {
                Fault::World
            }
            Certificate { .. } | Tls { .. } | NoRoots { .. } | Proxy { .. } | Runtime(_) => Fault::World,
            NotHttps { .. } | BadUrl { .. } | BadHeader { .. } | BadCredentials { .. } | Forbidden { .. } => {
                Fault::Document
            }
            // What answers there is not what the document may have.
            RedirectToHttp { .. } | RedirectForbidden { .. } | TooManyRedirects { .. } => Fault::Document,
            TooLarge { .. } | HeadersTooLarge { .. } | Malformed { .. } => Fault::Document,
        },
    }
}

/// The client that fetches, or sends, what a document names.
pub(crate) fn settings(request: &Request<'_>, limit: usize) -> Settings {
    let der = |list: &[Certificate]| list.iter().map(|one| CertificateDer::from(one.der.clone())).collect();
    let trust = match request.authorities {
        [] => Trust::System { and: der(request.bundles) },
        some => Trust::Only(der(some)),
    };
    Settings {
        reach: reach(request.rights),
        redirect_reach: reach(request.redirect_rights),
        limits: Limits { total: request.timeout, body: limit, ..Limits::default() },
        proxy: request.proxy.and_then(proxy),
        ..Settings::new(trust)
    }
}

const fn reach(rights: Rights) -> Reach {
    Reach { loopback: rights.loopback, link_local: rights.link_local }
}

/// The proxy for https of a ProxyConfig, if it has one.
fn proxy(proxy: &Proxy) -> Option<fetch::Proxy> {
    let variable = |wanted: &str| proxy.variables.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let and = variable("NO_PROXY").map(|list| list.expose().split(',').map(str::to_owned).collect());
    let bypass = Bypass::Loopback { and: and.unwrap_or_default() };
    Some(fetch::Proxy { url: variable("HTTPS_PROXY")?.clone(), bypass, setting: "HTTPS_PROXY of the ProxyConfig" })
}
