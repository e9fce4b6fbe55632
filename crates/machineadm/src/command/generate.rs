//! `machineadm generate`: a commented starter configuration.
use crate::{command_error::CommandError, show};
use clap::Args;
use documents::Source;
use host::contract::Exit;
use kubeadm::KubernetesVersion;
use zeroize::Zeroizing;

const STARTER: &str = include_str!("generate.yaml");

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The Kubernetes version of the new cluster
    #[arg(long, value_name = "VERSION", default_value = "v1.36.4")]
    pub(crate) kubernetes_version: String,
}

pub(crate) fn run(asked: &Generate) -> Result<Exit, CommandError> {
    let given = objects::one_line(&asked.kubernetes_version);
    let version: KubernetesVersion = asked
        .kubernetes_version
        .parse()
        .map_err(|error| CommandError::usage(format!("--kubernetes-version {given}: {error}")))?;
    let text = STARTER.replace("@KUBERNETES_VERSION@", &format!("v{version}"));
    check(&text, &given)?;
    show::print(text)?;
    Ok(Exit::Done)
}

/// Whether `validate` accepts it: only the version can be a problem.
fn check(text: &str, version: &str) -> Result<(), CommandError> {
    let bytes = Zeroizing::new(text.as_bytes().to_vec());
    let report = documents::read(vec![Source { name: "-".to_owned(), bytes }]).report;
    for note in report.notes {
        let problem = format!("--kubernetes-version {version}: {}", note.message);
        match note.severity.is_error() {
            true => return Err(CommandError::usage(problem)),
            false => warn!("{problem}"),
        }
    }
    Ok(())
}
