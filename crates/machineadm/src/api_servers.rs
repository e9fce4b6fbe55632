//! The engine's view of clusters, through `crates/cluster`.
use cluster::{ApiServer, Kubeconfig, Timeouts};
use engine::{Cluster, Patience, Unanswered, outcome::chain};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(5);

/// API servers, each by the kubeconfig that names it.
pub(crate) struct ApiServers;

impl Cluster for ApiServers {
    fn has(&self, kubeconfig: &[u8], objects: &[&str], patience: &Patience<'_>) -> Result<bool, Unanswered> {
        let unanswered = |error: cluster::Error| Unanswered(chain(&error));
        let kubeconfig = Kubeconfig::read(kubeconfig, Path::new("/etc/kubernetes")).map_err(unanswered)?;
        let deadline = Instant::now() + patience.within;
        loop {
            let request = REQUEST.min(deadline.saturating_duration_since(Instant::now())).max(Duration::from_millis(1));
            let timeouts = Timeouts { connect: request, request, total: request };
            let asked = ApiServer::connect(kubeconfig.clone(), timeouts).and_then(|server| has_all(&server, objects));
            match asked {
                Ok(has) => return Ok(has),
                // What the server refuses it refuses again; `ApiServer` itself repeats what may heal within a request's time.
                Err(error @ cluster::Error::Status { .. }) => return Err(unanswered(error)),
                Err(error) if Instant::now() >= deadline || !(patience.while_true)() => return Err(unanswered(error)),
                Err(_) => {}
            }
        }
    }
}

fn has_all(server: &ApiServer, objects: &[&str]) -> cluster::Result<bool> {
    for object in objects {
        if server.get(object)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
