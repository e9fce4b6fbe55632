//! Kubeconfigs and the fake API server of these tests.
use cluster::{ApiServer, Kubeconfig, Timeouts};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testbed::control_plane::ControlPlane;
use testbed::fake::{FakeServer, Seen, answer};

/// The API server of a test bed, with all rights.
pub(crate) fn connect(plane: &ControlPlane) -> ApiServer {
    ApiServer::connect(Kubeconfig::load(&plane.kubeconfig()).expect("a kubeconfig"), Timeouts::default())
        .expect("an API")
}

/// What the fake server does with a request.
pub(crate) enum Reply {
    Answer {
        status: &'static str,
        headers: &'static str,
        body: String,
    },
    /// The request has arrived, the answer never does.
    HangUp,
}

impl Reply {
    pub(crate) fn of(status: &'static str, body: &str) -> Self {
        Self::Answer { status, headers: "", body: body.to_owned() }
    }
}

/// The fake server as an API server: a test gets the requests, `METHOD path?query`, counted from 0.
pub(crate) struct FakeApiServer(FakeServer);

impl FakeApiServer {
    pub(crate) fn start(handler: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Self {
        let asked = AtomicUsize::new(0);
        Self(FakeServer::start(move |seen, tls| match handler(asked.fetch_add(1, Ordering::SeqCst), line(seen)) {
            Reply::Answer { status, headers, body } => answer(tls, status, headers, &body),
            Reply::HangUp => Err(io::ErrorKind::ConnectionAborted.into()),
        }))
    }

    pub(crate) fn url(&self) -> String {
        self.0.url("")
    }

    /// Who signed its certificate.
    pub(crate) fn certificate(&self) -> Vec<fetch::CertificateDer<'static>> {
        vec![self.0.authority().certificate()]
    }

    /// A client with more patience than any machine needs, however busy it is.
    pub(crate) fn connect(&self) -> ApiServer {
        self.connect_for(Duration::from_secs(120))
    }

    /// A client that loses patience after so long.
    pub(crate) fn connect_for(&self, total: Duration) -> ApiServer {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{}/prefix'}}}}]\nusers: [{{name: u, user: {{token: s3cret}}}}]\n",
            self.url()
        );
        let mut kubeconfig = Kubeconfig::read(text.as_bytes(), Path::new("")).expect("a kubeconfig");
        kubeconfig.authorities = Some(self.certificate());
        let timeouts = Timeouts { total, ..Timeouts::default() };
        ApiServer::connect(kubeconfig, timeouts).expect("an API")
    }

    /// Every request so far: `METHOD target`, and the head with the body after it.
    pub(crate) fn seen(&self) -> Vec<(String, String)> {
        let both = |seen: &Seen| (line(seen).to_owned(), seen.head.clone() + &String::from_utf8_lossy(&seen.body));
        self.0.seen().iter().map(both).collect()
    }
}

/// The method and the target of a request.
fn line(seen: &Seen) -> &str {
    seen.head.split(" HTTP").next().unwrap_or_default()
}
