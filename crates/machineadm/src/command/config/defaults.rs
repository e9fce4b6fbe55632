//! `machineadm config defaults`: a configuration to begin with, every default written down.
use super::{arguments::Defaults, arguments::Purpose, losses};
use crate::{command_error::CommandError, show};
use host::contract::Exit;
use kubeadm::{
    Severity, convert,
    defaults::{ExampleOf, example, fill},
};

pub(super) fn run(asked: &Defaults) -> Result<Exit, CommandError> {
    let target = super::target(&asked.kubernetes_version, None)?;
    let of = match asked.of {
        Purpose::Init => ExampleOf::Init,
        Purpose::Join => ExampleOf::Join,
        Purpose::JoinControlPlane => ExampleOf::JoinControlPlane,
        Purpose::Reset => ExampleOf::Reset,
        Purpose::Upgrade => ExampleOf::Upgrade,
    };
    let mut documents = example(of, &target);
    fill(&mut documents, &target);
    let converted = convert(&documents, &target);
    if converted.documents.is_empty() {
        return Err(CommandError::report(Exit::Input, losses::text(&converted.losses, &target, Severity::Error)));
    }
    match asked.output {
        Some(output) => show::machine_readable(&converted.documents, output),
        None => show::print(converted.yaml()),
    }?;
    Ok(Exit::Done)
}
