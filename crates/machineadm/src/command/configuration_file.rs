//! `--config`: a configuration file of kubeadm, for commands that take kubeadm's flags.
use crate::{command::small_file, command_error::CommandError};
use host::{contract::Exit, linux::input::Care};
use kubeadm::{Rules, Source, Strictness, hub::Documents};

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
