//! `machineadm generate`: a commented starter configuration.
use crate::{cli::Generate, command_error::CommandError, show};
use host::contract::Exit;
use kubeadm::KubernetesVersion;

const STARTER: &str = include_str!("generate.yaml");

pub(crate) fn run(asked: &Generate) -> Result<Exit, CommandError> {
    let given = &asked.kubernetes_version;
    let version: KubernetesVersion = given
        .parse()
        .map_err(|error| CommandError::usage(format!("--kubernetes-version {}: {error}", objects::one_line(given))))?;
    show::print(STARTER.replace("@KUBERNETES_VERSION@", &format!("v{version}")))?;
    Ok(Exit::Done)
}
