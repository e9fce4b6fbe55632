//! Upload of the certificates copy: further control plane nodes can then be joined, for two hours.
use super::{ADMIN, Act, AfterFailure, Effect, Sort, Undone};
use crate::{
    Look, Patience, PlanError, Unanswered, World, certificate_files, fingerprint::Parts, look::CertificateCopy,
};
use certs::{CertificateKey, FileSet, Found};
use documents::v1alpha1::Repeat;
use outcome::ActSort;
use std::path::PathBuf;

/// The journal id. The cluster has one copy, whatever the key.
pub const UPLOAD_ID: &str = ActSort::UploadCertificates.id();

/// An interrupted upload leaves nothing that stays: the cluster deletes it, or the next upload uses it.
pub(super) const SORT: Sort = Sort { sort: ActSort::UploadCertificates, left_behind: |_, _| Ok(None) };

/// Encrypts this node's certificates and uploads them, with the administrator's rights.
#[derive(Clone, Debug)]
pub struct UploadCerts {
    /// What encrypts them.
    pub key: CertificateKey,
    /// The certificates directory of this node.
    pub directory: PathBuf,
    /// The files that are copied.
    pub files: FileSet,
}

/// What a look sees of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SeenCopy {
    /// This machine has created no cluster.
    NoCluster,
    /// The cluster has this node's files under this key, and will delete them.
    Own,
    /// It does not have them, or not under this key.
    Missing,
    /// It could not be asked.
    Unanswered(String),
}

impl UploadCerts {
    fn copy(&self) -> CertificateCopy<'_> {
        CertificateCopy { key: &self.key, files: &self.files, directory: &self.directory }
    }

    /// Asks the cluster.
    pub(crate) fn seen(&self, look: &Look<'_>) -> Result<SeenCopy, PlanError> {
        let Some(admin) = look.host.file(ADMIN)?.filter(|_| look.host.live()) else { return Ok(SeenCopy::NoCluster) };
        let patience = Patience { within: look.patience, while_true: &|| true };
        let set = match look.cluster.live_certs(admin.contents.expose(), &self.copy(), &patience) {
            Ok(Some(set)) => set,
            Ok(None) => return Ok(SeenCopy::Missing),
            Err(Unanswered(why)) => return Ok(SeenCopy::Unanswered(why)),
        };
        let found = certificate_files::found(look.host, &self.files, &self.directory);
        let is_own = set.files().iter().all(
            |(file, content)| matches!(found.get(&file.name), Some(Found::Content(own)) if own.expose() == content.expose()),
        );
        Ok(if is_own { SeenCopy::Own } else { SeenCopy::Missing })
    }
}

impl Act for UploadCerts {
    fn name(&self) -> &str {
        "upload of certificates"
    }

    fn sort(&self) -> ActSort {
        ActSort::UploadCertificates
    }

    fn id(&self) -> String {
        UPLOAD_ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Whether the cluster has this node's files under this key and will delete them. If not, they may have been uploaded
    /// and deleted in time, which only the journal knows: a second run does not expose them once more.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        Ok(match self.seen(look)? {
            SeenCopy::NoCluster => Effect::Absent,
            SeenCopy::Own => Effect::Done,
            SeenCopy::Missing | SeenCopy::Unanswered(_) => Effect::Unseen,
        })
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let missing = || host::Error::Unfit {
            what: ADMIN.to_owned(),
            why: "does not exist, so certificates cannot be uploaded".into(),
            advice: "run this on a control plane node".into(),
        };
        let admin = world.host.file(ADMIN)?.ok_or_else(missing)?;
        let found = certificate_files::found(&*world.host, &self.files, &self.directory);
        world.cluster.upload_certs(admin.contents.expose(), &self.copy(), found)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        format!("{} files, for two hours at most", self.files.files().len())
    }

    fn compares(&self, parts: &mut Parts) {
        let Self { key, directory, files } = self;
        let files = certificate_files::compared(files, directory);
        parts.text(UPLOAD_ID).text(key.expose_digits().as_str()).list(&files);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}
