//! Discovery's network: cluster-info without credentials, kubeconfigs from https URLs, and real time.
use crate::{Error, anonymous_cluster_info, reported_etcd::reports_etcd_failed};
use discovery::{
    Endpoint,
    method::{Cause, Event, Network, Roots, Unreached},
};
use fetch::{CertificateDer, Client, Limits, Reach, Request, Settings, Stage, Trust};
use objects::{ConfigMap, SMALL_FILE_LIMIT};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// For one question; discovery asks again.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(10), body: SMALL_FILE_LIMIT, redirects: 5 };

/// For the question whether etcd failed: an API server probes its etcd twice for it, 2 s each by default.
const READINESS: Duration = Duration::from_secs(6);

/// The real network. Whoever starts discovery names its places, so that every address may be reached.
pub struct RealNetwork<'a> {
    begun: Instant,
    tell: &'a mut dyn FnMut(Event<'_>),
    /// Of each endpoint that did not return cluster-info for a reason of its own: the last reason, explained.
    explained: BTreeMap<String, Explained>,
}

/// Why cluster-info is missing, and what the server reported about it.
struct Explained {
    cause: Cause,
    etcd_failed: bool,
}

impl<'a> RealNetwork<'a> {
    /// From now on; events go to `tell`.
    pub fn new(tell: &'a mut dyn FnMut(Event<'_>)) -> Self {
        Self { begun: Instant::now(), tell, explained: BTreeMap::new() }
    }
}

impl Network for RealNetwork<'_> {
    fn cluster_info(
        &mut self,
        endpoint: &Endpoint,
        roots: Roots<'_>,
        within: Duration,
    ) -> Result<ConfigMap, Unreached> {
        let end = Instant::now() + within;
        let found = anonymous_cluster_info(&endpoint.url(""), settings_for(endpoint, roots, within));
        let found = found.map_err(|error| {
            let unreached = unreached(&error, &endpoint.to_string());
            let left = end.saturating_duration_since(Instant::now());
            match may_lack_etcd(&error) && self.is_etcd_failed(endpoint, roots, unreached.cause, left) {
                true => Unreached { text: ETCD_FAILED.to_owned(), cause: Cause::EtcdUnavailable },
                false => unreached,
            }
        })?;
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

impl RealNetwork<'_> {
    /// Whether an API server reports that its etcd failed. It is asked when the reason is new, not in every round.
    fn is_etcd_failed(&mut self, endpoint: &Endpoint, roots: Roots<'_>, cause: Cause, left: Duration) -> bool {
        let name = endpoint.to_string();
        if let Some(known) = self.explained.get(&name).filter(|known| known.cause == cause) {
            return known.etcd_failed;
        }
        if left.is_zero() {
            return false;
        }
        let etcd_failed = reports_etcd_failed(endpoint, settings_for(endpoint, roots, READINESS.min(left)));
        self.explained.insert(name, Explained { cause, etcd_failed });
        etcd_failed
    }
}

/// Without etcd, an API server accepts connections and returns cluster-info late, or an error of its own.
const fn may_lack_etcd(error: &Error) -> bool {
    match error {
        Error::Unreachable { source: fetch::Error::Timeout { stage: Stage::Headers, .. }, .. } => true,
        Error::Status { code, .. } => *code >= 500,
        _ => false,
    }
}

fn settings_for(endpoint: &Endpoint, roots: Roots<'_>, within: Duration) -> Settings {
    let mut settings = settings(trust(roots), within);
    if endpoint.server_name() != endpoint.host() {
        settings.tls_server_name = Some(endpoint.server_name());
    }
    settings
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

const ETCD_FAILED: &str = "the API server answers, and reports that its etcd does not";
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
