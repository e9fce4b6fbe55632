//! Discovery's network: cluster-info without credentials, kubeconfigs from https URLs, and real time.
use crate::{Error, anonymous_cluster_info};
use discovery::{
    Endpoint,
    method::{Cause, Event, Network, Roots, Unreached},
};
use fetch::{CertificateDer, Client, Limits, Reach, Request, Settings, Trust};
use objects::{ConfigMap, SMALL_FILE_LIMIT};
use std::time::{Duration, Instant};

/// For one question; discovery asks again.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(10), body: SMALL_FILE_LIMIT, redirects: 5 };

/// The real network. Whoever starts discovery names its places, so that every address may be reached.
pub struct RealNetwork<'a> {
    begun: Instant,
    tell: &'a mut dyn FnMut(Event<'_>),
}

impl<'a> RealNetwork<'a> {
    /// From now on; events go to `tell`.
    pub fn new(tell: &'a mut dyn FnMut(Event<'_>)) -> Self {
        Self { begun: Instant::now(), tell }
    }
}

impl Network for RealNetwork<'_> {
    fn cluster_info(
        &mut self,
        endpoint: &Endpoint,
        roots: Roots<'_>,
        within: Duration,
    ) -> Result<ConfigMap, Unreached> {
        let mut settings = settings(trust(roots), within);
        if endpoint.server_name() != endpoint.host() {
            settings.tls_server_name = Some(endpoint.server_name());
        }
        let found = anonymous_cluster_info(&endpoint.url(""), settings);
        let found = found.map_err(|error| unreached(&error, &endpoint.to_string()))?;
        found.ok_or_else(|| {
            let text = "cluster-info does not exist: the cluster is not set up for discovery".to_owned();
            Unreached { text, cause: Cause::Status(404) }
        })
    }

    fn document(&mut self, url: &str, within: Duration) -> Result<Vec<u8>, Unreached> {
        let request = Request::get(url).map_err(|error| silent(&error))?;
        let client =
            Client::new(settings(Trust::System { and: Vec::new() }, within)).map_err(|error| silent(&error))?;
        let answer = client.send(&request).map_err(|error| silent(&error))?;
        match answer.status {
            200 => Ok(answer.body.to_vec()),
            status => Err(Unreached { text: format!("the server returned {status}"), cause: Cause::Status(status) }),
        }
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn tell(&mut self, event: Event<'_>) {
        (self.tell)(event);
    }
}

pub(crate) fn settings(trust: Trust, within: Duration) -> Settings {
    let limits = Limits { connect: LIMITS.connect.min(within), total: LIMITS.total.min(within), ..LIMITS };
    Settings { reach: Reach::ANYWHERE, limits, ..Settings::new(trust) }
}

fn trust(roots: Roots<'_>) -> Trust {
    match roots {
        Roots::Unverified => Trust::Unverified,
        Roots::System => Trust::System { and: Vec::new() },
        Roots::Only(roots) => Trust::Only(roots.iter().map(|root| CertificateDer::from(root.der.clone())).collect()),
    }
}

/// The place is named by who prints this, so that only the cause is told.
fn unreached(error: &Error, endpoint: &str) -> Unreached {
    match error {
        Error::Unreachable { source: fetch::Error::Refused { address }, .. } if address.to_string() == endpoint => {
            Unreached { text: "connection refused".to_owned(), cause: Cause::Refused }
        }
        Error::Unreachable { source, .. } | Error::Setup { source, .. } => silent(source),
        // No credentials are sent, so that none can be invalid or have expired.
        Error::Unauthorized { .. } => answered(401, ANONYMOUS_REFUSED.to_owned()),
        Error::Forbidden { message } => answered(403, format!("{CLUSTER_INFO_FORBIDDEN}: {message}")),
        Error::Status { code, .. } => answered(*code, error.to_string()),
        _ => Unreached { text: error.to_string(), cause: Cause::Other },
    }
}

const ANONYMOUS_REFUSED: &str =
    "the API server refuses anonymous requests (401 Unauthorized): anonymous authentication is disabled";
const CLUSTER_INFO_FORBIDDEN: &str =
    "the API server does not allow anonymous clients to read cluster-info (403 Forbidden)";

const fn answered(status: u16, text: String) -> Unreached {
    Unreached { text, cause: Cause::Status(status) }
}

fn silent(error: &fetch::Error) -> Unreached {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(next) = source {
        text = format!("{text}: {next}");
        source = next.source();
    }
    Unreached { text, cause: cause(error) }
}

const fn cause(error: &fetch::Error) -> Cause {
    match error {
        fetch::Error::Unresolved { .. } => Cause::Unresolved,
        fetch::Error::Refused { .. } => Cause::Refused,
        fetch::Error::Certificate { .. } => Cause::UntrustedCertificate,
        _ => Cause::Other,
    }
}
