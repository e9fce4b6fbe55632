//! Discovery by a kubeconfig that was brought here: from a file, a URL or standard input.
use super::{
    Cause, Source, Unreached, Until, Verification,
    confirm::{Demand, confirm},
    follow::{Answer, Consent, Decision, Kept, Newer, follow},
    https,
    network::{Files, Network, Patience, Roots},
    outcome::{Attempt, Discovered, NotTrusted, Refusal},
};
use crate::{
    ClusterInfo, DiscoveryKubeconfig,
    certificate::CaBundle,
    cluster_info::{self, Origin},
    proof::{Proof, Refreshed},
};
use std::{path::Path, time::Duration};

pub(super) fn discover(
    source: &Source,
    verification: Verification,
    files: &mut dyn Files,
    net: &mut dyn Network,
    patience: Patience,
) -> Result<Discovered, NotTrusted> {
    let end = net.elapsed() + patience.total;
    // What lies here is as it is: nobody waits for it to become better.
    let at_once = |refusal| {
        let attempt = Attempt { place: source.shown().to_owned(), refusal };
        NotTrusted { attempts: vec![attempt], spent: Duration::ZERO }
    };
    let brought = match source {
        Source::Url(url) => https::fetch(url, net, patience)?,
        Source::Path(path) => from_path(path, files).map_err(at_once)?,
        Source::StandardInput => from_standard_input(files).map_err(at_once)?,
    };
    let left = end.saturating_sub(net.elapsed());
    let (kubeconfig, refreshed) = refresh(brought, verification, &mut Until::within(net, left)).map_err(at_once)?;
    let place = source.shown().to_owned();
    let proof = match source {
        Source::Url(_) => Proof::Url { url: place, refreshed },
        Source::Path(_) => Proof::File { path: place, refreshed },
        Source::StandardInput => Proof::StandardInput { refreshed },
    };
    Ok(Discovered { kubeconfig, proof })
}

/// What the kubeconfig in a file says, with roots that lie in another file.
fn from_path(path: &str, files: &mut dyn Files) -> Result<DiscoveryKubeconfig, Refusal> {
    let bytes = files.file(path).map_err(Refusal::Unreadable)?;
    let cluster_info::Read { mut info, roots_file } =
        cluster_info::read(&bytes, Origin::File).map_err(Refusal::Content)?;
    if let Some(file) = roots_file {
        // As kubectl: beside the kubeconfig, unless it is absolute.
        let beside = Path::new(path).parent().unwrap_or(Path::new("")).join(file);
        let roots = files.file(&beside.to_string_lossy()).map_err(Refusal::Unreadable)?;
        info = info.with_roots(CaBundle::read(roots).map_err(Refusal::Roots)?);
    }
    alone(info)
}

fn from_standard_input(files: &mut dyn Files) -> Result<DiscoveryKubeconfig, Refusal> {
    elsewhere(&files.standard_input().map_err(Refusal::Unreadable)?)
}

/// What a kubeconfig says that doesn't lie on this machine.
pub(super) fn elsewhere(bytes: &[u8]) -> Result<DiscoveryKubeconfig, Refusal> {
    alone(cluster_info::read(bytes, Origin::Elsewhere).map_err(Refusal::Content)?.info)
}

/// A kubeconfig with this cluster alone.
fn alone(info: ClusterInfo) -> Result<DiscoveryKubeconfig, Refusal> {
    DiscoveryKubeconfig::of(info).map_err(|problem| Refusal::Content(vec![problem]))
}

/// Looks once whether the cluster itself knows better, over a connection that the file's roots verify. What it says
/// counts only if the cluster is reached under it.
fn refresh(
    brought: DiscoveryKubeconfig,
    verification: Verification,
    net: &mut Until<'_>,
) -> Result<(DiscoveryKubeconfig, Refreshed), Refusal> {
    let info = brought.info();
    let said = net.cluster_info(info.endpoint(), Roots::of_cluster(info));
    if let Err(unreached) = &said
        && is_untrusted(info, unreached)
    {
        return match verification {
            Verification::Required => Err(Refusal::Untrusted(unreached.clone())),
            Verification::Waived => {
                let reason = unreached.to_string();
                Ok((brought, Refreshed::Untrusted(reason)))
            }
        };
    }
    let answer = said.as_ref().map_or_else(Answer::None, Answer::Verified);
    Ok(match follow(info, &[], answer, Consent::Withheld) {
        Decision::Replace(Newer { kubeconfig: newer, .. }) => {
            match confirm(newer.info(), Roots::of_cluster(newer.info()), Demand::SaysTheSame, net) {
                Ok(()) => (newer, Refreshed::Updated),
                Err(refusal) => (brought, Refreshed::Not(refusal.to_string())),
            }
        }
        Decision::Keep(Kept::Same) => (brought, Refreshed::Same),
        Decision::Keep(reason) => (brought, Refreshed::Not(reason.to_string())),
        Decision::Refuse(reason) => (brought, Refreshed::Not(reason.to_string())),
    })
}

/// Whether nothing vouches for the server: the kubeconfig has no CA certificates, and the system's do not verify it.
/// Where a kubeconfig has its own, they decide about every later connection, whoever answers now.
fn is_untrusted(info: &ClusterInfo, unreached: &Unreached) -> bool {
    info.roots().is_empty() && unreached.cause == Cause::UntrustedCertificate
}
