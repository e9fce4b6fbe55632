//! `machineadm bootstrap`: makes this machine what its configuration says.
use super::run::{Run, take};
use crate::{
    cli::{Bootstrap, ModeArgument},
    context::{configuration, failed, silent_machine, sources},
};
use documents::Source;
use host::{
    Inspect, Linux,
    contract::{self, Exit},
    linux::input::Care,
};
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn run(asked: &Bootstrap, mode: ModeArgument, root: &Path) -> Exit {
    bootstrap(asked, mode, root).unwrap_or_else(|exit| exit)
}

fn bootstrap(asked: &Bootstrap, mode: ModeArgument, root: &Path) -> Result<Exit, Exit> {
    let seen = silent_machine(root)?;
    let sources = match asked.files.is_empty() {
        false => sources(&asked.files, Care::Applying)?,
        true => kept(&seen)?,
    };
    let configuration = configuration(sources, &seen)?;
    let (mut linux, _lock) = take(root, &configuration, "machineadm bootstrap")?;
    let run = Run { mode: mode.into(), configuration: &configuration, reviewed: None, output: asked.output };
    Ok(run.go(&mut linux))
}

/// The configuration of a run that was cut short.
fn kept(linux: &Linux) -> Result<Vec<Source>, Exit> {
    match linux.file(contract::CONFIGURATION) {
        Ok(Some(file)) => {
            let bytes = Zeroizing::new(file.contents.expose().clone());
            Ok(vec![Source { name: contract::CONFIGURATION.into(), bytes }])
        }
        Ok(None) => Err(super::wrong_use("no run was cut short here, so there is nothing to go on with: give -f FILE")),
        Err(error) => Err(failed(error)),
    }
}
