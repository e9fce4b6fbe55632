//! The engine's view of clusters, through `crates/cluster`.
use crate::{
    command::{api::entropy, certs::failures::CopyFailure},
    show::cleanup_wait::CleanupLine,
};
use certs::{CertificateSet, FileName, Found, canary};
use cluster::{
    ApiServer, Kubeconfig, Timeouts,
    kubeadm_certs::{Download, Layout, MissingCleanup, Upload},
};
use discovery::certificate::CaBundle;
use engine::{CertificateCopy, Cluster, Patience, Unanswered, outcome::chain};
use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(5);

/// API servers, each by the kubeconfig that names it.
pub(crate) struct ApiServers;

impl Cluster for ApiServers {
    fn has(&self, kubeconfig: &[u8], objects: &[&str], patience: &Patience<'_>) -> Result<bool, Unanswered> {
        asked(kubeconfig, patience, &|server| has_all(server, objects))
    }

    fn live_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        patience: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        asked(kubeconfig, patience, &|server| server.live_certs(copy.files, copy.key))
    }

    fn upload_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        found: BTreeMap<FileName, Found>,
    ) -> host::Result<()> {
        let mut line = CleanupLine::default();
        let patience = Duration::from_nanos(canary::PATIENCE.as_nanoseconds().unsigned_abs());
        let uploaded = Self::connect(kubeconfig)?.upload_certs(Upload {
            files: copy.files,
            found,
            key: copy.key,
            missing_cleanup: MissingCleanup::Refused,
            patience,
            entropy: &entropy,
            waiting: &mut |wait| line.show(wait),
        });
        let failure = |error| CopyFailure::of_upload(&error, copy.directory, &canary::PATIENCE.to_string()).unfit();
        uploaded.map(drop).map_err(failure)
    }

    fn download_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        roots: &CaBundle,
    ) -> host::Result<CertificateSet> {
        // Where the files belong is decided by whoever planned this.
        let layout = Some(Layout { files: copy.files.clone(), ..Layout::usual() });
        let downloaded = Self::connect(kubeconfig)?.download_certs(&Download { key: copy.key, roots, layout });
        downloaded.map(|downloaded| downloaded.set).map_err(|error| CopyFailure::of_download(&error).unfit())
    }
}

/// Asks once more until it is answered, as far as the patience goes.
fn asked<T>(
    kubeconfig: &[u8],
    patience: &Patience<'_>,
    ask: &dyn Fn(&ApiServer) -> cluster::Result<T>,
) -> Result<T, Unanswered> {
    let unanswered = |error: cluster::Error| Unanswered(chain(&error));
    let kubeconfig = Kubeconfig::read(kubeconfig, Path::new("/etc/kubernetes")).map_err(unanswered)?;
    let deadline = Instant::now() + patience.within;
    loop {
        let request = REQUEST.min(deadline.saturating_duration_since(Instant::now())).max(Duration::from_millis(1));
        let timeouts = Timeouts { connect: request, request, total: request };
        let asked = ApiServer::connect(kubeconfig.clone(), timeouts).and_then(|server| ask(&server));
        match asked {
            Ok(answer) => return Ok(answer),
            // What the server refuses it refuses again; `ApiServer` itself repeats what may heal within a request's time.
            Err(error @ cluster::Error::Status { .. }) => return Err(unanswered(error)),
            Err(error) if Instant::now() >= deadline || !(patience.while_true)() => return Err(unanswered(error)),
            Err(_) => {}
        }
    }
}

impl ApiServers {
    /// A connection for a step that is run, which tries again what time may heal.
    fn connect(kubeconfig: &[u8]) -> host::Result<ApiServer> {
        let kubeconfig = Kubeconfig::read(kubeconfig, Path::new("/etc/kubernetes"));
        let server = kubeconfig.and_then(|kubeconfig| ApiServer::connect(kubeconfig, Timeouts::default()));
        server.map_err(|error| host::Error::Unfit {
            what: "the kubeconfig".to_owned(),
            why: chain(&error),
            advice: "check the kubeconfig".to_owned(),
        })
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
