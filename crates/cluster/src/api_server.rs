//! A connection to the API server, which tries again what time may heal.
use crate::{Error, Kubeconfig, Result, Waiting, status};
use fetch::retry::{Backoff, GaveUp, RealClock, Retry, retrying};
use fetch::{Answer, Client, Limits, Method, Reach, Request, Settings, Trust, Url, shown};
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use objects::wipe;
use secret::Secret;
use serde_json::Value;
use std::fmt;
use std::io;
use std::{
    cell::Cell,
    thread,
    time::{Duration, Instant},
};

/// The largest answer: 500 objects of the size that etcd takes would be more, but no server holds such a list together.
const BODY: usize = 256 << 20;

/// How long an API server that has just started may refuse what it allows: its lists of tokens, roles and bindings are empty
/// until it has read them.
const SETTLES: Duration = Duration::from_secs(10);
const SETTLING_PAUSE: Duration = Duration::from_millis(500);

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For one connection.
    pub connect: Duration,
    /// For one request and its answer.
    pub request: Duration,
    /// For a request with all its repetitions.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let [connect, request, total] = [5, 30, 60].map(Duration::from_secs);
        Self { connect, request, total }
    }
}

/// Told before each pause.
type OnWait = dyn Fn(&Waiting<'_, Error>);

/// The API server of one kubeconfig.
pub struct ApiServer {
    client: Client,
    server: Url,
    authorization: Option<Secret<String>>,
    timeouts: Timeouts,
    on_wait: Box<OnWait>,
    /// The time that its last answer told, and when that was.
    told: Cell<Option<(Timestamp, Instant)>>,
    /// When it was last not reached.
    unreached: Cell<Option<Instant>>,
}

impl ApiServer {
    /// Prepares a connection; nothing is sent yet. A kubeconfig with an exec plugin must be
    /// [authenticated](Kubeconfig::authenticated) first: no program is started here.
    pub fn connect(kubeconfig: Kubeconfig, timeouts: Timeouts) -> Result<Self> {
        let Kubeconfig { server, authorities, identity, authorization, exec, tls_server_name, proxy } = kubeconfig;
        if exec.is_some() {
            return Err(Error::ExecNotAllowed { server: shown(&server) });
        }
        let trust = match authorities {
            Some(authorities) => Trust::Only(authorities),
            None => Trust::System { and: Vec::new() },
        };
        let limits = Limits { connect: timeouts.connect, total: timeouts.request, body: BODY, redirects: 0 };
        // Whoever wrote the kubeconfig decides where its API server is.
        let reach = Reach::ANYWHERE;
        let settings = Settings { identity, tls_server_name, reach, limits, proxy, ..Settings::new(trust) };
        let client = Client::new(settings).map_err(|source| Error::Setup { server: shown(&server), source })?;
        Ok(Self {
            client,
            server,
            authorization,
            timeouts,
            on_wait: Box::new(|_| {}),
            told: Cell::new(None),
            unreached: Cell::new(None),
        })
    }

    /// Tells before each pause between two tries what goes wrong and how long it still is tried.
    #[must_use]
    pub fn telling(mut self, on_wait: impl Fn(&Waiting<'_, Error>) + 'static) -> Self {
        self.on_wait = Box::new(on_wait);
        self
    }

    /// The URL of the server.
    pub fn server(&self) -> String {
        shown(&self.server)
    }

    /// What time it is for the server, whose clock ends tokens: by the Date of its last answer, to the second.
    pub fn time(&self) -> Result<Timestamp> {
        let (told, then) = self.told.get().ok_or_else(|| self.strange("its answers have no Date"))?;
        Ok(told.checked_add(then.elapsed()).unwrap_or(told))
    }

    /// One call, repeated while that may help.
    pub(crate) fn call(&self, call: &Call<'_>) -> Result<Outcome> {
        let request = self.request(call)?;
        let (clock, mut maybe_done) = (RealClock::start(), false);
        let mut progress = |waiting: &Waiting<'_, Error>| (self.on_wait)(waiting);
        let jitter = u64::from(std::process::id());
        let retry = Retry { backoff: self.backoff(), jitter, clock: &clock, progress: &mut progress };
        let outcome = retrying(retry, |left| {
            let answer = self.once_settled(&request, call.expects, left);
            maybe_done |= answer.as_ref().is_err_and(Error::is_ambiguous);
            answer.map(|answer| Outcome { answer, maybe_done })
        });
        outcome.map_err(explained)
    }

    /// The same as [`once`](Self::once), but that a server which has just started is not taken at its word.
    fn once_settled(&self, request: &Request, expects: &[u16], left: Duration) -> Result<Answer> {
        loop {
            match self.once(request, expects, left) {
                Err(Error::Forbidden { .. } | Error::Unauthorized { .. }) if self.has_just_started() => {
                    thread::sleep(SETTLING_PAUSE);
                }
                other => return other,
            }
        }
    }

    fn has_just_started(&self) -> bool {
        self.unreached.get().is_some_and(|then| then.elapsed() < SETTLES)
    }

    /// An answer whose status is success, or one that the caller expects.
    fn once(&self, request: &Request, expects: &[u16], left: Duration) -> Result<Answer> {
        let answer = self.client.send_within(request, self.timeouts.request.min(left));
        let unreachable = |source| Error::Unreachable { server: self.server(), attempts: 1, source };
        if answer.is_err() {
            self.unreached.set(Some(Instant::now()));
        }
        let answer = answer.map_err(unreachable)?;
        if let Some(told) = answer.date.as_deref().and_then(http_date) {
            self.told.set(Some((told, Instant::now())));
        }
        match answer.is_success() || expects.contains(&answer.status) {
            true => Ok(answer),
            false => Err(status::error(&answer, &self.server())),
        }
    }

    fn request(&self, call: &Call<'_>) -> Result<Request> {
        if !is_plain(call.path) {
            return Err(Error::BadName);
        }
        let mut url = self.server.clone();
        url.set_path(&format!("{}{}", url.path().trim_end_matches('/'), call.path));
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let accept = Secret::new("application/json".to_owned());
        let setup = |source| Error::Setup { server: self.server(), source };
        let mut request = Request::new(call.method, url.as_str()).map_err(setup)?.with_header("Accept", accept);
        if let Some(authorization) = &self.authorization {
            request = request.with_header("Authorization", authorization.clone());
        }
        Ok(match call.body {
            Some(body) => request.with_body("application/json", written(body)),
            None => request,
        })
    }

    fn backoff(&self) -> Backoff {
        let [first, most] = [200, 5000].map(Duration::from_millis);
        Backoff { first, factor: 2, most, total: self.timeouts.total }
    }

    /// The object in an answer.
    pub(crate) fn object(&self, answer: &Answer) -> Result<Value> {
        // What the parser says could quote the object.
        serde_json::from_slice(&answer.body).map_err(|_| self.strange("it is not JSON"))
    }

    pub(crate) fn strange(&self, what: &str) -> Error {
        Error::NotKubernetes { server: self.server(), what: what.to_owned() }
    }
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiServer").field("server", &self.server()).finish_non_exhaustive()
    }
}

/// What is asked of the API server.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) query: Vec<(&'a str, &'a str)>,
    pub(crate) body: Option<&'a Value>,
    /// Statuses that are answers to the caller beside success.
    pub(crate) expects: &'a [u16],
}

/// An answer, and whether an earlier try may have done already what was asked.
pub(crate) struct Outcome {
    pub(crate) answer: Answer,
    pub(crate) maybe_done: bool,
}

/// Whether a path means what it says: a name with `/`, `..` or `%` in it would lead elsewhere.
fn is_plain(path: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(allowed);
    path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_name))
}

/// A time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http_date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

/// JSON in memory of just its size: a buffer that grows would leave copies of secrets behind.
fn written(value: &Value) -> Vec<u8> {
    let mut size = Size(0);
    drop(serde_json::to_writer(&mut size, value));
    let mut bytes = Vec::with_capacity(size.0);
    drop(serde_json::to_writer(&mut bytes, value));
    bytes
}

/// Counts what is written.
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn explained(gave_up: GaveUp<Error>) -> Error {
    let in_vain = gave_up.in_vain();
    match gave_up.last {
        Error::Unreachable { server, source, .. } => Error::Unreachable { server, attempts: gave_up.attempts, source },
        Error::Status { code, reason, message, retry_after } => {
            Error::Status { code, reason, message: message + &in_vain, retry_after }
        }
        other => other,
    }
}

/// Overwrites a value when it goes.
pub(crate) struct Wiped(pub(crate) Value);

impl Drop for Wiped {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_can_t_lead_elsewhere() {
        for good in ["/api/v1/secrets", "/apis/g.io/v1/clusterroles/system:node", "/version"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in ["api", "/", "/a//b", "/a/../b", "/a/.", "/a/%2e%2e/b", "/a?b", "/a#b", "/a b", "/a/b\n", "/a\\b"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }

    #[test]
    fn json_is_written_without_growing() {
        let value = json!({"data": {"k": "ä\n".repeat(1000)}, "n": [1, null]});
        let bytes = written(&value);
        assert_eq!((bytes.len(), &*bytes), (bytes.capacity(), value.to_string().as_bytes()));
    }
}
