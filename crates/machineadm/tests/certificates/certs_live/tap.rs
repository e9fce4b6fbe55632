//! A relay before the API server that reads every request in plaintext: it ends TLS itself and asks the real server anew.
use base64::{Engine, prelude::BASE64_STANDARD};
use fetch::{Client, Identity, Limits, Method, Reach, Request, Settings, Trust, certificates};
use jiff::{SignedDuration, fmt::rfc2822};
use secret::Secret;
use std::{fs, io};
use testbed::{
    Result,
    control_plane::ControlPlane,
    fake::{FakeServer, Seen, answer},
};

/// The relay, gone when dropped.
pub(crate) struct Tap {
    server: FakeServer,
    cluster_ca: String,
}

impl Tap {
    pub(crate) fn before(plane: &ControlPlane) -> Result<Self> {
        Self::with_clock(plane, SignedDuration::ZERO)
    }

    /// The same, with the API server's clock ahead by so much.
    pub(crate) fn with_clock(plane: &ControlPlane, ahead: SignedDuration) -> Result<Self> {
        let upstream = plane.url(0)?;
        let cluster_ca = fs::read_to_string(plane.pki().join("ca.crt")).unwrap();
        let own = |name: &str| fs::read(plane.pki().with_file_name(name)).unwrap();
        let administrator = Identity::from_pem(&own("admin.crt"), Secret::new(own("admin.key"))).unwrap();
        let [administrator, others] = [Some(administrator), None].map(|identity| {
            let trust = Trust::Only(certificates(cluster_ca.as_bytes()).unwrap());
            let (reach, limits) = (Reach::ANYWHERE, Limits::default());
            Client::new(Settings { identity, reach, limits, ..Settings::new(trust) }).unwrap()
        });
        let server = FakeServer::start(move |seen, tls| {
            let client = if seen.identified { &administrator } else { &others };
            let answered = client.send(&relayed(seen, &upstream)).map_err(io::Error::other)?;
            let date = rfc2822::parse(&answered.date.unwrap()).unwrap().timestamp() + ahead;
            let date = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&date).unwrap();
            let kind = answered.content_type.unwrap_or_default();
            let headers = format!("Date: {date}\r\nContent-Type: {kind}\r\n");
            answer(tls, &format!("{} -", answered.status), &headers, &String::from_utf8_lossy(&answered.body))
        });
        Ok(Self { server, cluster_ca })
    }

    /// The relay's port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.server.port()
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.server.seen()
    }

    /// A kubeconfig through the relay, with an administrator's rights.
    pub(crate) fn administrator(&self) -> String {
        let (certificate, key) = self.server.authority().client();
        let [certificate, key] = [certificate, key].map(|pem| BASE64_STANDARD.encode(pem));
        self.kubeconfig(&format!("{{client-certificate-data: {certificate}, client-key-data: {key}}}"))
    }

    /// A kubeconfig through the relay, with a bootstrap token's rights.
    pub(crate) fn holder(&self, token: &str) -> String {
        self.kubeconfig(&format!("{{token: {token}}}"))
    }

    /// It trusts the relay and, since that is whose files are downloaded, the cluster.
    fn kubeconfig(&self, user: &str) -> String {
        let authorities = BASE64_STANDARD.encode(self.server.authority().pem() + &self.cluster_ca);
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: tap\ncontexts: [{{name: tap, context: {{cluster: tap, user: tap}}}}]\n\
             clusters: [{{name: tap, cluster: {{server: '{}', certificate-authority-data: {authorities}}}}}]\n\
             users: [{{name: tap, user: {user}}}]\n",
            self.server.url("")
        )
    }
}

/// The same request, to the real server.
fn relayed(seen: &Seen, upstream: &str) -> Request {
    let method = match seen.head.split(' ').next().unwrap() {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        other => panic!("{other} is not relayed"),
    };
    let mut request = Request::new(method, &format!("{upstream}{}", seen.path())).unwrap();
    for name in ["Accept", "Authorization"] {
        if let Some(value) = seen.header(name) {
            request = request.with_header(name, Secret::new(value.to_owned()));
        }
    }
    match seen.header("Content-Type") {
        Some(kind) => request.with_body(kind, seen.body.clone()),
        None => request,
    }
}
