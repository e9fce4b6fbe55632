//! Why certificates were not copied, and what to do: for the command line and for a run.
use super::SECRET;
use crate::command_error::CommandError;
use certs::{Problem, canary::Cleanup, entry::DecryptError, secret_object::NotKubeadmCerts};
use cluster::kubeadm_certs::{DownloadError, UploadError};
use engine::{Fault, PlanError, certificate_files::Obstacle, outcome::chain};
use host::contract::Exit;
use std::path::Path;

const UPLOAD_AGAIN: &str =
    "on a control plane node, run `machineadm certs upload`, and use the certificate key that it prints";

/// The only thing that keeps a deleted object.
pub(super) const FINALIZERS: &str = "check what waits for its deletion with \
     `kubectl --namespace=kube-system get secret kubeadm-certs --output=jsonpath={.metadata.finalizers}`, remove these \
     finalizers, then run again";

/// Everything that is wrong, and one remedy for all of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CopyFailure {
    exit: Exit,
    fault: Fault,
    problems: Vec<String>,
    remedy: Option<String>,
}

/// Who uploads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// `machineadm certs upload`, whose flags can be named.
    Command,
    /// A run of documents.
    Run,
}

impl CopyFailure {
    fn new(fault: Fault, problems: Vec<String>) -> Self {
        Self { exit: Exit::Failed, fault, problems, remedy: None }
    }

    fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The same as a fault of the machine, for a run.
    pub(crate) fn unfit(self) -> PlanError {
        let advice = self.remedy.unwrap_or_else(|| "remove these problems, then run again".to_owned());
        let error = host::Error::Unfit { what: "certificates".to_owned(), why: self.problems.join("; "), advice };
        PlanError::known(self.fault)(error)
    }

    /// Why nothing was uploaded from this directory.
    pub(crate) fn of_upload(error: &UploadError, directory: &Path, within: &str, caller: Caller) -> Self {
        match error {
            UploadError::Files(problems) => {
                let line = |problem: &Problem| {
                    format!("{} {}", problem.file.location.path(directory).display(), problem.fault)
                };
                Self { exit: Exit::Input, ..Self::new(Fault::Certificates, problems.iter().map(line).collect()) }
            }
            UploadError::NoCleanup(cleanup) => {
                let (what, remedy) = missing(*cleanup, within);
                let accept = match caller {
                    Caller::Command => {
                        "or pass --accept-missing-cleanup, and later delete the certificates with `machineadm certs delete`"
                    }
                    Caller::Run => "or remove certificateKey from the InitConfig",
                };
                Self::new(Fault::Upload, vec![format!("the cluster would never delete the certificates: {what}")])
                    .with_remedy(format!("{remedy}; {accept}"))
            }
            UploadError::NotReplaceable(NotKubeadmCerts::BeingDeleted) => {
                Self::new(Fault::Upload, vec![error.to_string()]).with_remedy(FINALIZERS)
            }
            UploadError::NotReplaceable(_) => Self::new(Fault::Upload, vec![error.to_string()])
                .with_remedy("delete it with `machineadm certs delete`, then run again"),
            UploadError::Contended => Self::new(Fault::Upload, vec![error.to_string()]).with_remedy("run again"),
            UploadError::Encrypt(_) | UploadError::Entropy(_) | UploadError::Cluster(_) => {
                let text = chain(error);
                let failure = Self::new(Fault::Upload, vec![format!("cannot upload the certificates: {text}")]);
                match text.contains("immutable") {
                    true => failure.with_remedy("delete the Secret with `machineadm certs delete`, then run again"),
                    false => failure,
                }
            }
        }
    }

    /// Why nothing was downloaded.
    pub(crate) fn of_download(error: &DownloadError) -> Self {
        match error {
            DownloadError::Absent => Self::new(Fault::NoCertificates, vec![format!(
                "{error}: it was never uploaded, or has expired, two hours after an upload at the latest"
            )])
            .with_remedy(UPLOAD_AGAIN),
            DownloadError::NotUsable(_) => Self::new(Fault::NoCertificates, vec![error.to_string()]).with_remedy(UPLOAD_AGAIN),
            DownloadError::Forbidden(_) => Self::new(Fault::NoCertificates, vec![chain(error)]).with_remedy(
                "use a bootstrap token with the group system:bootstrappers:kubeadm:default-node-token; the right to read \
                 the Secret is created with an upload: run `machineadm certs upload` on a control plane node",
            ),
            DownloadError::Files(problems) => {
                let fault = if is_of_the_key(problems) { Fault::CertificateKey } else { Fault::Certificates };
                Self::new(fault, entries(problems)).with_remedy(UPLOAD_AGAIN)
            }
            DownloadError::Layout(_) | DownloadError::Cluster(_) => {
                Self::new(Fault::ApiServer, vec![format!("cannot download the certificates: {}", chain(error))])
            }
        }
    }

    /// What is in the way on the machine.
    pub(crate) fn of_obstacles(obstacles: &[Obstacle]) -> Self {
        let is_only_different = obstacles.iter().all(|obstacle| matches!(obstacle, Obstacle::Different(_)));
        let problems = obstacles.iter().map(ToString::to_string).collect();
        if obstacles.contains(&Obstacle::ControlPlane) {
            return Self::new(Fault::Certificates, problems)
                .with_remedy("nothing was written; run this on a machine that is not a control plane node yet");
        }
        Self::new(Fault::Certificates, problems).with_remedy(match is_only_different {
            true => "nothing was written; check which cluster these files belong to, then delete them or pass --force",
            false => "nothing was written; remove what is in the way, then run again",
        })
    }
}

impl From<CopyFailure> for CommandError {
    fn from(failure: CopyFailure) -> Self {
        Self::invalid_input(failure.problems).with_exit(failure.exit).with_remedies(failure.remedy)
    }
}

/// Whether no file can be decrypted.
fn is_of_the_key(problems: &[Problem]) -> bool {
    let wrong_key = certs::Fault::Undecryptable(DecryptError::WrongKeyOrDamaged);
    problems.iter().all(|problem| problem.fault == wrong_key)
}

/// One sentence where every file has the same problem: the key of another upload.
fn entries(problems: &[Problem]) -> Vec<String> {
    if problems.len() > 1 && is_of_the_key(problems) {
        return vec![format!(
            "the certificate key does not decrypt the Secret {SECRET}: it is the key of another upload, or the Secret was \
             changed"
        )];
    }
    let line =
        |problem: &Problem| format!("entry {} of the Secret {SECRET} {}", problem.file.name.entry(), problem.fault);
    problems.iter().map(line).collect()
}

/// Which controller does not work, and how it is enabled.
pub(super) fn missing(cleanup: Cleanup, within: &str) -> (String, &'static str) {
    match cleanup {
        Cleanup::GarbageCollectorMissing => (
            format!("the garbage collector did not delete a Secret whose owner is gone, within {within}"),
            "run kube-controller-manager with its garbage collector (--enable-garbage-collector, --controllers)",
        ),
        Cleanup::TokenCleanerMissing | Cleanup::Works => (
            format!("the token cleaner did not delete an expired token, within {within}"),
            "run kube-controller-manager with --controllers=*,bootstrapsigner,tokencleaner",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use certs::FileSet;

    #[test]
    fn a_copy_that_is_missing_is_told_from_a_key_that_does_not_fit() {
        let files = FileSet::new(&certs::Etcd::Stacked);
        let problems = |fault: certs::Fault| {
            let problem = |file: &certs::files::CertificateFile| Problem { file: file.clone(), fault: fault.clone() };
            DownloadError::Files(files.files().iter().map(problem).collect())
        };
        let wrong_key = problems(certs::Fault::Undecryptable(DecryptError::WrongKeyOrDamaged));
        for (error, fault) in [
            (DownloadError::Absent, Fault::NoCertificates),
            (wrong_key, Fault::CertificateKey),
            (problems(certs::Fault::Missing), Fault::Certificates),
        ] {
            let PlanError::Known { fault: found, .. } = CopyFailure::of_download(&error).unfit() else {
                panic!("{error}")
            };
            assert_eq!(found, fault, "{error}");
        }
    }
}
