//! A gateway before the API server that ends TLS, so that a test knows each request and decides what becomes of it.
use base64::{Engine, prelude::BASE64_STANDARD};
use cluster::Kubeconfig;
use fetch::{Answer, Client, Limits, Method, Reach, Request, Settings, Trust};
use serde_json::Value;
use std::{
    io,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Duration,
};
use testbed::fake::{FakeServer, Seen, Tls, answer};

/// The Secrets that are looked at.
pub(crate) const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";
/// What the clients of a gateway show instead of a certificate.
const TOKEN: &str = "of-the-gateway";
/// A held request is let go after this time, so that a test that fails ends.
const LONGEST_HOLD: Duration = Duration::from_secs(120);

/// A request: its method, its path with query, the name of the object in its body, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    name: Option<String>,
    /// The status of the API server's answer, if the request got there.
    pub(crate) status: Option<u16>,
}

impl Asked {
    pub(crate) fn is_write(&self) -> bool {
        self.method != "GET"
    }

    /// Whether it creates or replaces the Secret kubeadm-certs.
    pub(crate) fn writes_certs(&self) -> bool {
        self.name.as_deref() == Some("kubeadm-certs") && ["POST", "PUT"].contains(&self.method.as_str())
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is answered.
    Passed,
    /// It never arrives: it is held until the test lets go, and dropped.
    HeldBefore,
    /// The API server does what is asked; the answer is held until the test lets go, and dropped.
    HeldAfter,
    /// The API server does what is asked; the connection breaks instead of an answer.
    AnswerLost,
    /// It is held until the test lets go, and then passed.
    Delayed,
}

/// Decides on a request by those before it.
type Decide = dyn Fn(&Asked, &[Asked]) -> Fate + Send + Sync;

/// The gateway, gone when dropped.
pub(crate) struct Gateway {
    server: FakeServer,
    state: Arc<State>,
}

struct State {
    api: Mutex<Client>,
    url: String,
    decide: Box<Decide>,
    log: Mutex<Log>,
    changed: Condvar,
}

#[derive(Default)]
struct Log {
    asked: Vec<Asked>,
    held: usize,
    is_released: bool,
    /// The Secrets of kube-system just after a held request was done.
    secrets: Vec<u8>,
}

impl Gateway {
    /// Before the API server of a kubeconfig, with its rights.
    pub(crate) fn before(kubeconfig: &Path, decide: impl Fn(&Asked, &[Asked]) -> Fate + Send + Sync + 'static) -> Self {
        let Kubeconfig { server, authorities, identity, .. } = Kubeconfig::load(kubeconfig).unwrap();
        let limits = Limits { total: LONGEST_HOLD, ..Limits::default() };
        let trust = Trust::Only(authorities.unwrap());
        let settings = Settings { identity, reach: Reach::ANYWHERE, limits, ..Settings::new(trust) };
        let state = Arc::new(State {
            api: Mutex::new(Client::new(settings).unwrap()),
            url: server.as_str().trim_end_matches('/').to_owned(),
            decide: Box::new(decide),
            log: Mutex::default(),
            changed: Condvar::new(),
        });
        let own = Arc::clone(&state);
        Self { server: FakeServer::start(move |seen, tls| own.handle(seen, tls)), state }
    }

    /// A kubeconfig for its clients.
    pub(crate) fn kubeconfig(&self) -> String {
        let (url, authority) = (self.server.url(""), BASE64_STANDARD.encode(self.server.authority().pem()));
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{url}', certificate-authority-data: {authority}}}}}]\n\
             users: [{{name: u, user: {{token: {TOKEN}}}}}]\n"
        )
    }

    /// Every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.log().asked.clone()
    }

    /// How many requests are held now.
    pub(crate) fn held(&self) -> usize {
        self.log().held
    }

    /// The Secrets of kube-system just after the request that is held was done: milliseconds later the garbage collector
    /// may have deleted what nobody owns.
    pub(crate) fn secrets_when_held(&self) -> Vec<u8> {
        self.log().secrets.clone()
    }

    /// Drops or passes what is held; from now on everything passes.
    pub(crate) fn release(&self) {
        self.log().is_released = true;
        self.state.changed.notify_all();
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.state.log.lock().unwrap()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.release();
    }
}

impl State {
    fn handle(&self, seen: &Seen, tls: &mut Tls) -> io::Result<()> {
        assert_eq!(seen.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
        let method = seen.head.split(' ').next().unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let name = body["metadata"]["name"].as_str().map(str::to_owned);
        let asked = Asked { method, path: seen.path().to_owned(), name, status: None };
        let (number, fate) = self.noted(asked);
        let gone = || Err(io::ErrorKind::ConnectionAborted.into());
        match fate {
            Fate::HeldBefore => {
                self.hold();
                return gone();
            }
            Fate::Delayed => self.hold(),
            Fate::Passed | Fate::HeldAfter | Fate::AnswerLost => {}
        }
        let answered = self.forward(seen);
        self.log.lock().unwrap().asked[number].status = Some(answered.status);
        match fate {
            Fate::HeldAfter => {
                let secrets = Request::get(&format!("{}{SECRETS}", self.url)).unwrap();
                let secrets = self.api.lock().unwrap().send(&secrets).unwrap();
                self.log.lock().unwrap().secrets = secrets.body.to_vec();
                self.hold();
                gone()
            }
            Fate::AnswerLost => gone(),
            Fate::Passed | Fate::HeldBefore | Fate::Delayed => {
                let date = answered.date.as_ref().map(|date| format!("Date: {date}\r\n")).unwrap_or_default();
                let status = format!("{} status", answered.status);
                answer(tls, &status, &date, &String::from_utf8_lossy(&answered.body))
            }
        }
    }

    /// The number of a request, and what becomes of it.
    fn noted(&self, asked: Asked) -> (usize, Fate) {
        let mut log = self.log.lock().unwrap();
        let fate = if log.is_released { Fate::Passed } else { (self.decide)(&asked, &log.asked) };
        log.asked.push(asked);
        (log.asked.len() - 1, fate)
    }

    fn forward(&self, seen: &Seen) -> Answer {
        let method = match seen.head.split(' ').next().unwrap_or_default() {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            other => panic!("a client sends {other}"),
        };
        let mut request = Request::new(method, &format!("{}{}", self.url, seen.path())).unwrap();
        if !seen.body.is_empty() {
            request = request.with_body(seen.header("content-type").unwrap(), seen.body.clone());
        }
        self.api.lock().unwrap().send(&request).unwrap()
    }

    fn hold(&self) {
        let mut log = self.log.lock().unwrap();
        log.held += 1;
        let (mut log, _) = self.changed.wait_timeout_while(log, LONGEST_HOLD, |log| !log.is_released).unwrap();
        log.held -= 1;
    }
}
