//! `--config`: a configuration file of kubeadm, for commands that take kubeadm's flags.
use crate::{command::small_file, command_error::CommandError};
use host::{contract::Exit, linux::input::Care};
use kubeadm::{Read, Rules, Source, Strictness, hub::Documents};

/// The documents of `--config`; none without it.
pub(super) fn read(name: Option<&str>) -> Result<Documents, CommandError> {
    name.map_or_else(|| Ok(Documents::default()), |name| read_all(name).map(|read| read.documents))
}

/// The same with the documents of the kubelet and kube-proxy.
pub(super) fn read_all(name: &str) -> Result<Read, CommandError> {
    let text = small_file::text(name, Care::Applying)?;
    let rules = Rules { strictness: Strictness::Strict, minor: None };
    let read = kubeadm::read(&[Source { name, text: &text }], rules);
    if read.has_errors() {
        let problems: String = read.problems.iter().map(|problem| format!("{problem}\n")).collect();
        return Err(CommandError::report(Exit::Input, problems));
    }
    Ok(read)
}
