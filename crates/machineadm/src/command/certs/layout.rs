//! Where a kubeadm configuration file and `--cert-dir` put certificates.
use crate::command_error::CommandError;
use cluster::kubeadm_certs::Layout;
use kubeadm::hub::Documents;
use std::path::PathBuf;

/// The layout that a ClusterConfiguration among them tells.
pub(super) fn of_documents(documents: &Documents) -> Result<Option<Layout>, CommandError> {
    let layout = documents.cluster.as_ref().map(Layout::of).transpose();
    layout.map_err(|error| CommandError::invalid(error.to_string()))
}

/// `--cert-dir`, as an absolute path of the machine.
pub(super) fn directory(asked: Option<&PathBuf>) -> Result<Option<PathBuf>, CommandError> {
    match asked {
        Some(path) if !path.is_absolute() || path.to_str().is_none() => {
            Err(CommandError::invalid("--cert-dir must be an absolute path in UTF-8"))
        }
        path => Ok(path.cloned()),
    }
}
