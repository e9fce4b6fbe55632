//! `machineadm discovery-objects`: what a cluster needs so that machines can discover and join it.
use super::{api, small_file, token::arguments::Connection};
use crate::{
    cli::Output,
    command_error::{CommandError, all_succeeded},
    show::{self, machine_readable},
};
use clap::Args;
use cluster::{Effect, Ensured, Kubeconfig, Settled};
use discovery::{ClusterInfo, certificate::CaBundle, cluster_info::Problem};
use host::{contract::Exit, linux::input::Care};
use serde::Serialize;

#[derive(Debug, Args)]
pub(crate) struct DiscoveryObjects {
    /// The https URL of the API server to publish. Default: the server of the kubeconfig
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The CA certificates to publish, in PEM. Default: those of the kubeconfig
    #[arg(long, value_name = "FILE")]
    ca_file: Option<String>,
    /// Let the API server check the objects, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Output format of the result for each object
    #[arg(short, long, value_enum)]
    output: Option<Output>,
    #[command(flatten)]
    connection: Connection,
}

/// One object and what was done about it, for programs.
#[derive(Serialize)]
struct Done {
    object: String,
    result: &'static str,
}

pub(crate) fn run(asked: &DiscoveryObjects) -> Result<Exit, CommandError> {
    let kubeconfig = api::kubeconfig(&asked.connection)?;
    let info = info(asked, &kubeconfig)?;
    if info.roots().is_empty() {
        warn!(
            "no CA certificates are published: machines will use the CA certificates of their systems\n\
             remedy: pass the cluster's CA certificates with --ca-file FILE, unless a public CA signed the API server's certificate"
        );
    }
    let server = api::connect(kubeconfig)?;
    let effect = if asked.dry_run { Effect::DryRun } else { Effect::Real };
    let mut all = Vec::new();
    let mut printed = Vec::new();
    let ended = server.ensure_bootstrap_objects(&info, effect, &mut |settled| {
        let done = done(settled);
        if asked.output.is_none() {
            let tried = if asked.dry_run { " (dry run)" } else { "" };
            printed.push(show::print_text(&format!("{} {}{tried}\n", done.object, done.result)));
        }
        all.push(done);
    });
    if let Some(output) = asked.output {
        printed.push(machine_readable(&all, output));
    }
    all_succeeded([ended.map_err(|error| api::failed(&error))].into_iter().chain(printed))?;
    Ok(Exit::Done)
}

fn done(Settled { object, ensured }: Settled) -> Done {
    let result = match ensured {
        Ensured::Created => "created",
        Ensured::Updated => "updated",
        Ensured::Unchanged => "unchanged",
    };
    Done { object, result }
}

fn info(asked: &DiscoveryObjects, kubeconfig: &Kubeconfig) -> Result<ClusterInfo, CommandError> {
    let roots = match &asked.ca_file {
        Some(file) => from_file(file)?,
        None => from_kubeconfig(kubeconfig)?,
    };
    let server = asked.server.clone().unwrap_or_else(|| kubeconfig.server.as_str().trim_end_matches('/').to_owned());
    let told = |problem: &Problem| match problem {
        Problem::Server(reason) => format!("--server {reason}"),
        problem => format!("the kubeconfig of the cluster: {problem}"),
    };
    ClusterInfo::new(server, roots, kubeconfig.tls_server_name.clone())
        .map_err(|problems| CommandError::invalid_input(problems.iter().map(told)))
}

fn from_file(file: &str) -> Result<CaBundle, CommandError> {
    let bytes = small_file::bytes(file, Care::Applying)?;
    CaBundle::read(bytes.to_vec()).map_err(|error| CommandError::invalid(format!("--ca-file {file} {error}")))
}

/// The kubeconfig's own roots, all of them: machines that miss one could not verify the cluster.
fn from_kubeconfig(kubeconfig: &Kubeconfig) -> Result<CaBundle, CommandError> {
    let Some(authorities) = &kubeconfig.authorities else { return Ok(CaBundle::default()) };
    CaBundle::from_der(authorities).map_err(|error| {
        let problem =
            format!("the kubeconfig's certificate-authority {error}: pass the CA certificates with --ca-file FILE");
        CommandError::invalid(problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch::CertificateDer;
    use std::path::Path;

    fn kubeconfig(authorities: Option<Vec<CertificateDer<'static>>>) -> Kubeconfig {
        let text = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n\
            clusters: [{name: k, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: {token: t}}]\n";
        let read = Kubeconfig::read(text.as_bytes(), Path::new("")).unwrap_or_else(|error| panic!("{error}"));
        Kubeconfig { authorities, ..read }
    }

    #[test]
    fn a_root_that_cannot_be_read_is_not_left_out() {
        let strange = kubeconfig(Some(vec![CertificateDer::from(b"no certificate".to_vec())]));
        assert_eq!(from_kubeconfig(&strange).map_err(|error| error.exit()), Err(Exit::Input));
        assert_eq!(from_kubeconfig(&kubeconfig(None)), Ok(CaBundle::default()));
    }
}
