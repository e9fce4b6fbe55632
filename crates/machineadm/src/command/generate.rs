//! `machineadm generate`: a commented starter configuration.
use crate::{command_error::CommandError, show};
use clap::Args;
use host::contract::Exit;
use kubeadm::KubernetesVersion;

const STARTER: &str = include_str!("generate.yaml");

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The Kubernetes version of the new cluster
    #[arg(long, value_name = "VERSION", default_value = "v1.36.4")]
    pub(crate) kubernetes_version: String,
}

pub(crate) fn run(asked: &Generate) -> Result<Exit, CommandError> {
    let given = &asked.kubernetes_version;
    let version: KubernetesVersion = given
        .parse()
        .map_err(|error| CommandError::usage(format!("--kubernetes-version {}: {error}", objects::one_line(given))))?;
    show::print(STARTER.replace("@KUBERNETES_VERSION@", &format!("v{version}")))?;
    Ok(Exit::Done)
}
