//! `machineadm discovery-objects`: what a cluster needs so that machines can discover and join it.
use super::{api, token::arguments::Connection, wrong_input};
use crate::{context::complain, show};
use clap::Args;
use cluster::{Effect, Ensured, Kubeconfig};
use discovery::{ClusterInfo, certificate};
use host::{
    contract::Exit,
    linux::input::{self, Care},
};

const LARGEST: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(crate) struct DiscoveryObjects {
    /// The https URL under which machines reach the API server; without it, that of the kubeconfig
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The roots that machines shall trust, as PEM; without it, those of the kubeconfig
    #[arg(long, value_name = "FILE")]
    ca_file: Option<String>,
    /// Check everything with the cluster, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    connection: Connection,
}

pub(crate) fn run(asked: &DiscoveryObjects) -> Exit {
    ensure(asked).unwrap_or_else(|exit| exit)
}

fn ensure(asked: &DiscoveryObjects) -> Result<Exit, Exit> {
    let kubeconfig = api::kubeconfig(&asked.connection.kubeconfig)?;
    let info = info(asked, &kubeconfig)?;
    let server = api::connect(kubeconfig)?;
    let effect = if asked.dry_run { Effect::DryRun } else { Effect::Real };
    let ended = server.ensure_bootstrap_objects(&info, effect, &mut |settled| {
        let word = match settled.ensured {
            Ensured::Created => "created",
            Ensured::Updated => "updated",
            Ensured::Unchanged => "unchanged",
        };
        let tried = if asked.dry_run { " (dry run)" } else { "" };
        show::print(&format!("{} {word}{tried}\n", settled.object));
    });
    ended.map(|()| Exit::Done).map_err(|error| api::failed(&error))
}

fn info(asked: &DiscoveryObjects, kubeconfig: &Kubeconfig) -> Result<ClusterInfo, Exit> {
    let roots = match &asked.ca_file {
        Some(file) => {
            let bytes = input::read(file, Care::Applying, LARGEST).map_err(|error| {
                complain(&error);
                Exit::Input
            })?;
            bytes.to_vec()
        }
        None => {
            let authorities = kubeconfig.authorities.as_deref().unwrap_or_default();
            let read = authorities.iter().filter_map(|der| certificate::Certificate::read(der));
            read.map(|certificate| certificate.pem()).collect::<String>().into_bytes()
        }
    };
    let server = asked.server.clone().unwrap_or_else(|| kubeconfig.server.as_str().trim_end_matches('/').to_owned());
    let info = ClusterInfo { server, roots, tls_server_name: kubeconfig.tls_server_name.clone() };
    let mut problems = Vec::new();
    if let Err(error) = info.endpoint() {
        problems.push(format!("--server {error}"));
    }
    if let Err(error) = info.certificates() {
        problems.push(format!("--ca-file {error}"));
    }
    if problems.is_empty() { Ok(info) } else { Err(wrong_input(&problems)) }
}
