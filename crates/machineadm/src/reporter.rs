//! Reports of a run: written to a file, and sent in the background where a ReportConfig asks for it.
//!
//! A thread sends, and its queue holds one report: only the newest state matters. No step waits for it; the end of a run
//! waits once, for the timeout of the ReportConfig at most. A report that is not delivered is a problem that the caller
//! gets at the end, and never a failure of the run.
use crate::provider;
use documents::{
    AnyDocument, Decoded, Rights, Secret,
    v1alpha1::{AddressRight, AuthorizationSource, Reporting, authorization_problem, without_secrets},
};
use engine::{Outcome, RunReport, outcome::chain};
use fetch::{Client, Method, Place, Request, Settings};
use host::{Inspect, Linux, contract, linux::State};
use jiff::Timestamp;
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

/// Between two attempts to deliver the last report.
const PAUSE: Duration = Duration::from_secs(1);
/// How much longer than the last report itself its result may take.
const SLACK: Duration = Duration::from_millis(250);
/// What is read of an answer: nothing of it is needed.
const ANSWER: usize = 64 << 10;

/// Reports of one run.
pub(crate) struct Reporter {
    state: State,
    delivery: Delivery,
}

/// Whether reports are sent.
enum Delivery {
    /// No document asks for it.
    NotAsked,
    /// They cannot be sent, and why not.
    Impossible(String),
    /// A thread sends them.
    Background(Background),
}

struct Background {
    queue: Arc<Queue>,
    /// The result of the last report.
    ended: mpsc::Receiver<Result<(), String>>,
    location: String,
    timeout: Duration,
}

impl Reporter {
    /// Starts to report a run of these documents.
    pub(crate) fn start(documents: &[Decoded], linux: &Linux) -> Self {
        let reporting = documents.iter().find_map(|document| match &document.body {
            AnyDocument::Report(reporting) => Some(&**reporting),
            _ => None,
        });
        let delivery = match reporting.map(|reporting| Background::start(reporting, linux)) {
            None => Delivery::NotAsked,
            Some(Ok(background)) => Delivery::Background(background),
            Some(Err(why)) => Delivery::Impossible(why),
        };
        Self { state: linux.state(), delivery }
    }

    /// Sends where the run stands; returns at once.
    pub(crate) fn send(&self, outcome: &Outcome) {
        if let Delivery::Background(background) = &self.delivery {
            background.queue.put(RunReport::of(outcome, Timestamp::now()).bytes(), None);
        }
    }

    /// The same, and writes the file.
    pub(crate) fn note(&self, outcome: &Outcome) {
        self.write(&RunReport::of(outcome, Timestamp::now()).bytes());
        self.send(outcome);
    }

    /// Writes and sends the last report of a run, and waits until it is delivered. Gives the problem if it is not.
    pub(crate) fn finish(self, outcome: &Outcome) -> Option<String> {
        let bytes = RunReport::of(outcome, Timestamp::now()).bytes();
        self.write(&bytes);
        match self.delivery {
            Delivery::NotAsked => None,
            Delivery::Impossible(why) => Some(format!("no report of this run was sent: {why}")),
            Delivery::Background(background) => background.finish(bytes),
        }
    }

    fn write(&self, bytes: &[u8]) {
        // A report that can't be written must not stop the work it reports on; the outcome is what counts.
        let _ = self.state.write(contract::REPORT, bytes, 0o600);
    }
}

impl Background {
    fn start(reporting: &Reporting, linux: &Linux) -> Result<Self, String> {
        let location = without_secrets(reporting.uri.expose());
        let request = Request::new(Method::Put, reporting.uri.expose()).map_err(|error| chain(&error))?;
        let request = match authorization(reporting, linux)? {
            Some(value) => request.with_header("Authorization", value),
            None => request,
        };
        let (queue, timeout) = (Arc::<Queue>::default(), reporting.timeout);
        let (sender, ended) = mpsc::channel();
        let mut postman = Postman { request, settings: settings(reporting, &location), client: None, timeout };
        let shared = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("reports".to_owned()).spawn(move || {
            let last = loop {
                match shared.take() {
                    (bytes, None) => _ = postman.deliver(bytes, Instant::now() + timeout),
                    (bytes, Some(deadline)) => break postman.deliver_last(&bytes, deadline),
                }
            };
            // Nobody listens any more when time is up.
            let _ = sender.send(last);
        });
        thread.map_err(|error| format!("cannot start a thread: {}", chain(&error)))?;
        Ok(Self { queue, ended, location, timeout })
    }

    fn finish(self, bytes: Vec<u8>) -> Option<String> {
        let Self { queue, ended, location, timeout } = self;
        queue.put(bytes, Some(Instant::now() + timeout));
        let late = || Err(format!("no answer within {}s", timeout.as_secs()));
        let delivered = ended.recv_timeout(timeout + SLACK).unwrap_or_else(|_| late());
        delivered.err().map(|why| format!("the last report of this run was not delivered to {location}: {why}"))
    }
}

/// A queue of one: what is put replaces what nobody has taken yet.
#[derive(Default)]
struct Queue {
    newest: Mutex<Option<Queued>>,
    changed: Condvar,
}

/// A report, and the deadline of the last one.
type Queued = (Vec<u8>, Option<Instant>);

impl Queue {
    fn put(&self, bytes: Vec<u8>, deadline: Option<Instant>) {
        *self.newest() = Some((bytes, deadline));
        self.changed.notify_one();
    }

    /// Waits for the next one.
    fn take(&self) -> Queued {
        let mut newest = self.newest();
        loop {
            match newest.take() {
                Some(queued) => return queued,
                None => newest = self.changed.wait(newest).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn newest(&self) -> MutexGuard<'_, Option<Queued>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends reports, one after the other.
struct Postman {
    request: Request,
    settings: Settings,
    /// Made with the first report, since reading the system's CA certificates takes time.
    client: Option<Client>,
    timeout: Duration,
}

/// Why a report was not delivered.
enum Undelivered {
    /// Another attempt may help.
    Transient(String),
    /// None does.
    Final(String),
}

impl Postman {
    fn deliver(&mut self, bytes: Vec<u8>, deadline: Instant) -> Result<(), Undelivered> {
        let client = match self.client.take() {
            Some(client) => client,
            None => Client::new(self.settings.clone()).map_err(|error| Undelivered::Final(chain(&error)))?,
        };
        let request = self.request.clone().with_body("application/json", bytes);
        let left = deadline.saturating_duration_since(Instant::now()).min(self.timeout);
        let answer = self.client.insert(client).send_within(&request, left).map_err(|error| undelivered(&error))?;
        match answer.status {
            200..=299 => Ok(()),
            300..=399 => Err(Undelivered::Final(format!(
                "the server answered with status {}, a redirect, which is not followed",
                answer.status
            ))),
            408 | 425 | 429 | 500.. => Err(Undelivered::Transient(format!("the server returned {}", answer.status))),
            status => Err(Undelivered::Final(format!("the server returned {status}"))),
        }
    }

    /// The last report is worth further attempts while there is time.
    fn deliver_last(&mut self, bytes: &[u8], deadline: Instant) -> Result<(), String> {
        loop {
            match self.deliver(bytes.to_vec(), deadline) {
                Ok(()) => return Ok(()),
                Err(Undelivered::Transient(_)) if Instant::now() + PAUSE < deadline => std::thread::sleep(PAUSE),
                Err(Undelivered::Transient(why) | Undelivered::Final(why)) => return Err(why),
            }
        }
    }
}

fn undelivered(error: &fetch::Error) -> Undelivered {
    let right = match error {
        fetch::Error::Forbidden { what: Place::Loopback, .. } => Some("loopback"),
        fetch::Error::Forbidden { what: Place::LinkLocal | Place::Metadata, .. } => Some("linkLocal"),
        _ => None,
    };
    let why = chain(error);
    match right {
        Some(right) => Undelivered::Final(format!("{why}; the ReportConfig can allow it: `allow: [{right}]`")),
        None if error.is_transient() => Undelivered::Transient(why),
        None => Undelivered::Final(why),
    }
}

fn settings(reporting: &Reporting, shown: &str) -> Settings {
    let Reporting { uri, authorities, timeout, allow, bundles, proxy, authorization: _ } = reporting;
    let request = documents::Request {
        uri,
        shown,
        rights: AddressRight::rights(allow),
        redirect_rights: Rights::NONE,
        authorities,
        bundles,
        proxy: proxy.as_ref(),
        keep_as: None,
        limit: ANSWER,
        timeout: *timeout,
    };
    provider::https_settings(&request, ANSWER)
}

/// The value of the header `Authorization`, read from its file where it is in one.
fn authorization(reporting: &Reporting, linux: &Linux) -> Result<Option<Secret<String>>, String> {
    let path = match &reporting.authorization {
        None => return Ok(None),
        Some(AuthorizationSource::Given(value)) => return Ok(Some(value.clone())),
        Some(AuthorizationSource::File(path)) => path,
    };
    let file = linux.file(path).map_err(|error| chain(&error))?;
    let file = file.ok_or_else(|| format!("{path} does not exist: it should hold the value of `Authorization`"))?;
    if file.mode & 0o077 != 0 || file.uid != linux.default_owner().0 {
        return Err(format!("{path} has mode {:04o}: only its owner root may have access to it", file.mode));
    }
    let value = String::from_utf8_lossy(file.contents.expose()).trim_end().to_owned();
    match authorization_problem(&value) {
        Some(problem) => Err(format!("the content of {path} {problem}")),
        None => Ok(Some(Secret::new(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_report_waits() {
        let queue = Queue::default();
        queue.put(b"first".to_vec(), None);
        queue.put(b"second".to_vec(), None);
        assert_eq!(queue.take(), (b"second".to_vec(), None));
        let deadline = Some(Instant::now());
        queue.put(b"third".to_vec(), None);
        queue.put(b"last".to_vec(), deadline);
        assert_eq!(queue.take(), (b"last".to_vec(), deadline));
        assert_eq!(*queue.newest(), None);
    }
}
