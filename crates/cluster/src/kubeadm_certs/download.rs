//! Download: the Secret kubeadm-certs becomes a checked set of files, with no other right than a bootstrap token's.
use super::{Layout, NoLayout, path};
use crate::{ApiServer, Error, Result};
use certs::{
    CertificateKey, CertificateSet, KubeadmCerts, Problem, check_download, secret_object::NotKubeadmCerts,
    ttl_token::ClockSkew,
};
use discovery::certificate::CaBundle;
use jiff::Timestamp;

/// What a download needs to know.
#[derive(Debug)]
pub struct Download<'a> {
    /// What decrypts the files.
    pub key: &'a CertificateKey,
    /// The CA certificates by which the cluster was discovered; none, where those of the system verified it.
    pub roots: &'a CaBundle,
    /// Which files there are, and where, if kubeadm-config is not to say it.
    pub layout: Option<Layout>,
}

/// A set that can be written to this machine.
#[derive(Debug)]
pub struct Downloaded {
    /// Which files there are, and where.
    pub layout: Layout,
    /// Their contents.
    pub set: CertificateSet,
    /// How far this machine's clock is from the API server's, if that is far.
    pub skew: Option<ClockSkew>,
}

/// Why there is nothing to write.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// Where the files belong is not known.
    #[error(transparent)]
    Layout(NoLayout),
    /// There is no Secret.
    #[error("the cluster has no certificates to download: the Secret kube-system/kubeadm-certs does not exist")]
    Absent,
    /// There is one, which is something else or on its way out.
    #[error("the certificates cannot be downloaded: the Secret kube-system/kubeadm-certs cannot be used: {0}")]
    NotUsable(NotKubeadmCerts),
    /// The token may not read it.
    #[error("the certificates cannot be downloaded")]
    Forbidden(#[source] Error),
    /// What it holds is not a whole set; every problem of every file.
    #[error("the certificates cannot be used")]
    Files(Vec<Problem>),
    /// The API server did not answer.
    #[error(transparent)]
    Cluster(#[from] Error),
}

impl ApiServer {
    /// Reads, decrypts and checks the whole set.
    pub fn download_certs(&self, download: &Download<'_>) -> Result<Downloaded, DownloadError> {
        let layout = match &download.layout {
            Some(layout) => layout.clone(),
            None => self.certs_layout()?.map_err(DownloadError::Layout)?,
        };
        let secret = match self.secret(&path()) {
            Err(error @ Error::Forbidden { .. }) => return Err(DownloadError::Forbidden(error)),
            read => read?.ok_or(DownloadError::Absent)?,
        };
        let now = self.time()?;
        let certs = KubeadmCerts::read(&secret).map_err(DownloadError::NotUsable)?;
        let found = certs.decrypt(&layout.files, download.key);
        let set = check_download(&layout.files, found, download.roots, now).map_err(DownloadError::Files)?;
        Ok(Downloaded { layout, set, skew: ClockSkew::between(Timestamp::now(), now) })
    }
}
