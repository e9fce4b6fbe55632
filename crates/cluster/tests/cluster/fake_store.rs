//! A fake API server that stores objects as a real one does, and lets a test come between any request and what it does.
use cluster::{ApiServer, Kubeconfig, Timeouts};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use testbed::fake::{FakeServer, Seen, Tls, answer};

/// Where Secrets are.
pub(crate) const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";
const RIGHTS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system";
const CANARY: &str = "machineadm.cluster.x-k8s.io/canary";

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    query: String,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn is_write(&self) -> bool {
        self.method != "GET"
    }

    /// The name of the object that is asked for or sent.
    pub(crate) fn name(&self) -> &str {
        let sent = self.body["metadata"]["name"].as_str();
        sent.or_else(|| self.path.rsplit('/').next()).unwrap_or_default()
    }

    /// Whether it writes the Secret kubeadm-certs.
    pub(crate) fn writes_certs(&self) -> bool {
        ["POST", "PUT"].contains(&self.method.as_str()) && self.name() == "kubeadm-certs"
    }
}

/// What becomes of a request.
pub(crate) enum Fate {
    /// It is done and answered.
    Done,
    /// It is done, and the connection breaks instead of an answer.
    AnswerLost,
    /// It is refused with this status.
    Refused(u16),
}

/// Which controllers work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controllers {
    All,
    OnlyTokenCleaner,
    None,
}

/// Comes before each request, and may change what is stored as other clients do.
type Between = dyn FnMut(&Asked, &mut Objects) -> Fate + Send;

/// The stored objects by their paths.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) by_path: BTreeMap<String, Value>,
    version: u64,
}

/// The server, gone when dropped.
pub(crate) struct FakeStore {
    server: FakeServer,
    state: Arc<Mutex<State>>,
}

struct State {
    objects: Objects,
    controllers: Controllers,
    /// How far its clock is ahead; `None` when it sends no Date.
    ahead: Option<SignedDuration>,
    between: Box<Between>,
    asked: Vec<Asked>,
    /// What no client of ours should ask.
    strange: Vec<String>,
}

impl FakeStore {
    /// A store of nothing, whose clock is right.
    pub(crate) fn new(controllers: Controllers) -> Self {
        let state = Arc::new(Mutex::new(State {
            objects: Objects::default(),
            controllers,
            ahead: Some(SignedDuration::ZERO),
            between: Box::new(|_, _| Fate::Done),
            asked: Vec::new(),
            strange: Vec::new(),
        }));
        let own = Arc::clone(&state);
        let server = FakeServer::start(move |seen, tls| own.lock().expect("no handler panics").handle(seen, tls));
        Self { server, state }
    }

    pub(crate) fn set_clock(&self, ahead: Option<SignedDuration>) {
        self.state().ahead = ahead;
    }

    pub(crate) fn set_controllers(&self, controllers: Controllers) {
        self.state().controllers = controllers;
    }

    /// From now on this comes before each request; the requests so far are forgotten.
    pub(crate) fn come_between(&self, between: impl FnMut(&Asked, &mut Objects) -> Fate + Send + 'static) {
        let mut state = self.state();
        state.between = Box::new(between);
        state.asked.clear();
    }

    pub(crate) fn connect(&self) -> ApiServer {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{}'}}}}]\nusers: [{{name: u, user: {{token: s3cret}}}}]\n",
            self.server.url("")
        );
        let mut kubeconfig = Kubeconfig::read(text.as_bytes(), Path::new("")).expect("a kubeconfig");
        kubeconfig.authorities = Some(vec![self.server.authority().certificate()]);
        let timeouts = Timeouts { total: Duration::from_secs(120), ..Timeouts::default() };
        ApiServer::connect(kubeconfig, timeouts).expect("an API")
    }

    /// Every request since the last [`Self::come_between`].
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let state = self.state();
        assert_eq!(state.strange, Vec::<String>::new());
        state.asked.clone()
    }

    /// Everything that was sent, as the server saw it.
    pub(crate) fn sent(&self) -> Vec<Vec<u8>> {
        self.server.seen().into_iter().map(|seen| [seen.head.into_bytes(), seen.body].concat()).collect()
    }

    /// Changes what is stored, as somebody else does.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Objects)) {
        change(&mut self.state().objects);
    }

    pub(crate) fn secret(&self, name: &str) -> Option<Value> {
        self.state().objects.by_path.get(&format!("{SECRETS}/{name}")).cloned()
    }

    /// The names of stored Secrets.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let state = self.state();
        let names = state.objects.by_path.keys().filter_map(|path| path.strip_prefix(SECRETS)?.strip_prefix('/'));
        names.map(str::to_owned).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no handler panics")
    }
}

impl State {
    fn handle(&mut self, seen: &Seen, tls: &mut Tls) -> io::Result<()> {
        let method = seen.head.split(' ').next().unwrap_or_default().to_owned();
        let (path, query) = seen.path().split_once('?').unwrap_or((seen.path(), ""));
        let body = serde_json::from_slice(&seen.body).unwrap_or_default();
        let asked = Asked { method, path: path.to_owned(), query: query.to_owned(), body };
        if seen.header("authorization") != Some("Bearer s3cret") {
            self.strange.push(format!("no authorization: {asked:?}"));
        }
        self.asked.push(asked.clone());
        let fate = (self.between)(&asked, &mut self.objects);
        let (status, body) = match fate {
            Fate::Refused(code) => refused(code),
            Fate::Done | Fate::AnswerLost => self.done(&asked),
        };
        self.control(&asked);
        if matches!(fate, Fate::AnswerLost) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let date = |ahead: SignedDuration| {
            (Timestamp::now() + ahead).strftime("Date: %a, %d %b %Y %H:%M:%S GMT\r\n").to_string()
        };
        let date = self.ahead.map(date).unwrap_or_default();
        answer(tls, &format!("{status} status"), &date, &body.to_string())
    }

    fn done(&mut self, asked: &Asked) -> (u16, Value) {
        let is_known = asked.path.starts_with(SECRETS) || asked.path.starts_with(RIGHTS);
        match (asked.method.as_str(), is_known) {
            ("GET", true) if asked.path == SECRETS => self.listed(asked),
            ("GET", true) => self.objects.by_path.get(&asked.path).map_or(refused(404), |object| (200, object.clone())),
            ("POST", true) => self.objects.create(&asked.path, &asked.body),
            ("PUT", true) => self.objects.replace(&asked.path, &asked.body),
            ("DELETE", true) => self.objects.delete(&asked.path, &asked.body["preconditions"]),
            _ => {
                self.strange.push(format!("{asked:?}"));
                refused(405)
            }
        }
    }

    fn listed(&mut self, asked: &Asked) -> (u16, Value) {
        let selected: fn(&Value) -> bool = match asked.query.as_str() {
            "fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken&limit=500" => {
                |object| object["type"] == "bootstrap.kubernetes.io/token"
            }
            "labelSelector=machineadm.cluster.x-k8s.io%2Fcanary&limit=500" => is_canary,
            other => {
                self.strange.push(format!("a list of {other}"));
                |_| false
            }
        };
        let secrets = self.objects.by_path.iter().filter(|(path, _)| path.starts_with(SECRETS));
        let items: Vec<_> = secrets.map(|(_, object)| object).filter(|object| selected(object)).collect();
        (200, json!({"kind": "SecretList", "metadata": {}, "items": items}))
    }

    /// What the controllers do about a canary once both of its objects are there.
    fn control(&mut self, asked: &Asked) {
        if !(asked.method == "POST" && asked.name().starts_with("machineadm-canary-")) {
            return;
        }
        let controllers = self.controllers;
        self.objects.by_path.retain(|_, object| match controllers {
            Controllers::All => !is_canary(object),
            Controllers::OnlyTokenCleaner => !is_canary(object) || object["type"] == "Opaque",
            Controllers::None => true,
        });
    }
}

fn is_canary(object: &Value) -> bool {
    object["metadata"]["labels"].get(CANARY).is_some()
}

impl Objects {
    pub(crate) fn create(&mut self, collection: &str, object: &Value) -> (u16, Value) {
        let path = format!("{collection}/{}", object["metadata"]["name"].as_str().unwrap_or_default());
        if self.by_path.contains_key(&path) {
            return refused(409);
        }
        let mut object = object.clone();
        object["metadata"]["uid"] = format!("uid-{}", self.version + 1).into();
        object["metadata"]["creationTimestamp"] = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
        (201, self.store(path, object))
    }

    pub(crate) fn replace(&mut self, path: &str, object: &Value) -> (u16, Value) {
        let Some(live) = self.by_path.get(path) else { return refused(404) };
        let [sent, stored] = [object, live].map(|object| object["metadata"]["resourceVersion"].clone());
        if !sent.is_null() && sent != stored {
            return refused(409);
        }
        let mut object = object.clone();
        for member in ["uid", "creationTimestamp", "resourceVersion"] {
            object["metadata"][member] = live["metadata"][member].clone();
        }
        if object == *live {
            return (200, object);
        }
        (200, self.store(path.to_owned(), object))
    }

    fn delete(&mut self, path: &str, preconditions: &Value) -> (u16, Value) {
        let Some(live) = self.by_path.get(path) else { return refused(404) };
        let differs =
            |member: &str| preconditions.get(member).is_some_and(|wanted| *wanted != live["metadata"][member]);
        if differs("uid") || differs("resourceVersion") {
            return refused(409);
        }
        self.by_path.remove(path);
        (200, json!({"kind": "Status", "status": "Success"}))
    }

    fn store(&mut self, path: String, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        self.by_path.insert(path, object.clone());
        object
    }
}

/// A status that says why not.
fn refused(code: u16) -> (u16, Value) {
    let reason = match code {
        403 => "Forbidden",
        404 => "NotFound",
        409 => "AlreadyExists",
        _ => "MethodNotAllowed",
    };
    (code, json!({"kind": "Status", "code": code, "reason": reason, "message": format!("{reason}, it said")}))
}
