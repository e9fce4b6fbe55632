//! What a kubeadm configuration file tells the certificates copy.
use crate::{command::small_file, command_error::CommandError};
use cluster::kubeadm_certs::Layout;
use host::{contract::Exit, linux::input::Care};
use kubeadm::{Rules, Source, Strictness, hub::Documents};
use std::path::PathBuf;

/// The documents of `--config`; none without it.
pub(super) fn read(name: Option<&str>) -> Result<Documents, CommandError> {
    let Some(name) = name else { return Ok(Documents::default()) };
    let text = small_file::text(name, Care::Applying)?;
    let rules = Rules { strictness: Strictness::Strict, minor: None };
    let read = kubeadm::read(&[Source { name, text: &text }], rules);
    if read.has_errors() {
        let problems: String = read.problems.iter().map(|problem| format!("{problem}\n")).collect();
        return Err(CommandError::report(Exit::Input, problems));
    }
    Ok(read.documents)
}

/// The layout that a ClusterConfiguration among them tells.
pub(super) fn layout(documents: &Documents) -> Result<Option<Layout>, CommandError> {
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
