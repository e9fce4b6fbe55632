//! Download of the certificates copy: the files that a joining control plane node shares with the others.
use super::{Act, AfterFailure, Effect, Sort, Undone, kubeadm_join};
use crate::{
    Fault, Look, PlanError, World, before_kubeadm,
    certificate_files::{self, Existing, Obstacle, Placement},
    certificates_elsewhere::CertificatesElsewhere,
    fingerprint::Parts,
    look::CertificateCopy,
};
use certs::{CertificateKey, CertificateSet, FileSet, check_download};
use discovery::certificate::CaBundle;
use documents::{Secret, v1alpha1::Repeat};
use jiff::Timestamp;
use outcome::ActSort;
use std::path::PathBuf;

/// The journal id. A machine joins one cluster.
pub const DOWNLOAD_ID: &str = ActSort::DownloadCertificates.id();

/// An interrupted download leaves no file, or all of them.
pub(super) const SORT: Sort = Sort { sort: ActSort::DownloadCertificates, left_behind: |_, _| Ok(None) };

/// Reads, decrypts and checks the copy with a bootstrap token's rights, and writes all files at once.
#[derive(Clone, Debug)]
pub struct DownloadCerts {
    /// What decrypts the files; a plan may come before the file that holds it.
    pub key: Option<CertificateKey>,
    /// The cluster; a plan does not know it.
    pub source: Option<CopySource>,
}

/// The copy of a cluster that was discovered, and where its files belong.
#[derive(Clone, Debug)]
pub struct CopySource {
    /// The discovered cluster, with a bootstrap token as credentials.
    pub kubeconfig: Secret<Vec<u8>>,
    /// The CA certificates by which the cluster was discovered.
    pub roots: CaBundle,
    /// The certificates directory of the cluster.
    pub directory: PathBuf,
    /// The files that are copied.
    pub files: FileSet,
}

impl CopySource {
    /// The whole set as the machine has it, if it has one of this cluster.
    fn present(&self, look: &Look<'_>) -> Option<CertificateSet> {
        let found = certificate_files::found(look.host, &self.files, &self.directory);
        check_download(&self.files, found, &self.roots, Timestamp::now()).ok()
    }
}

impl Act for DownloadCerts {
    fn name(&self) -> &str {
        "download of certificates"
    }

    fn sort(&self) -> ActSort {
        ActSort::DownloadCertificates
    }

    fn id(&self) -> String {
        DOWNLOAD_ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Whether the machine has a whole set that belongs to the discovered cluster, with the right modes. The cluster is
    /// not asked: after two hours it has nothing to compare with.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let Some(source) = &self.source else { return Ok(Effect::Absent) };
        let Some(set) = source.present(look) else { return Ok(Effect::Absent) };
        let placement = Placement::of(look.host, &set, &source.directory, Existing::Refused)?;
        let is_so = placement.is_ok_and(|placement| !placement.is_needed());
        Ok(if is_so { Effect::Done } else { Effect::Absent })
    }

    /// A reset takes the copied certificates away: they are none of what was there before.
    fn before_start(&self, world: &mut World<'_>) -> host::Result<()> {
        let elsewhere = self
            .source
            .as_ref()
            .map(|CopySource { files, directory, .. }| CertificatesElsewhere::of_copy(files, directory));
        before_kubeadm::record(kubeadm_join::ID, elsewhere.unwrap_or_default(), world.host)
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let (Some(key), Some(source)) = (&self.key, &self.source) else {
            return Err(host::Error::Unfit {
                what: "certificates".to_owned(),
                why: "the cluster was not discovered".to_owned(),
                advice: "run machineadm again".to_owned(),
            }
            .into());
        };
        let CopySource { kubeconfig, roots, directory, files } = source;
        let copy = CertificateCopy { key, files, directory };
        let set = world.cluster.download_certs(kubeconfig.expose(), &copy, roots)?;
        let placement = Placement::of(&*world.host, &set, directory, Existing::Refused)?;
        let in_the_way = |obstacles: Vec<Obstacle>| host::Error::Unfit {
            what: "certificates".to_owned(),
            why: obstacles.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            advice: "check which cluster these files belong to, then remove what is in the way".to_owned(),
        };
        let placement = placement.map_err(in_the_way).map_err(PlanError::known(Fault::Certificates))?;
        Ok(placement.write(world.host)?)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        match &self.source {
            Some(CopySource { files, directory, .. }) => {
                format!("{} files in {}", files.files().len(), objects::one_line(&directory.to_string_lossy()))
            }
            None => "from the cluster".to_owned(),
        }
    }

    /// What is discovered is compared by whoever discovers it.
    fn compares(&self, parts: &mut Parts) {
        let Self { key, source: _ } = self;
        parts.text(DOWNLOAD_ID).maybe(key.as_ref().map(CertificateKey::expose_digits).as_ref().map(|key| key.as_str()));
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
