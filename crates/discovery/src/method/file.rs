//! Discovery by a kubeconfig that was brought here: from a file, a URL or standard input.
use super::{
    Source, Until,
    confirm::{Demand, confirm, vouched_by},
    follow::{Answer, Consent, Decision, Kept, Newer, follow},
    https,
    network::{Files, Network, Patience},
    outcome::{Attempt, Discovered, NotTrusted, Refusal},
};
use crate::{
    ClusterInfo,
    certificate::bundle,
    cluster_info::{self, Origin},
    proof::{Proof, Refreshed},
};
use std::{path::Path, time::Duration};

pub(super) fn discover(
    source: &Source,
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
    let info = match source {
        Source::Url(url) => https::fetch(url, net, patience)?,
        Source::Path(path) => from_path(path, files).map_err(at_once)?,
        Source::StandardInput => from_standard_input(files).map_err(at_once)?,
    };
    let left = end.saturating_sub(net.elapsed());
    let (cluster_info, bytes, refreshed) = refresh(info, &mut Until::within(net, left));
    let place = source.shown().to_owned();
    let proof = match source {
        Source::Url(_) => Proof::Url { url: place, refreshed },
        Source::Path(_) => Proof::File { path: place, refreshed },
        Source::StandardInput => Proof::StandardInput { refreshed },
    };
    Ok(Discovered { cluster_info, bytes, proof })
}

/// What the kubeconfig in a file says, with roots that lie in another file.
fn from_path(path: &str, files: &mut dyn Files) -> Result<ClusterInfo, Refusal> {
    let bytes = files.file(path).map_err(Refusal::Unreadable)?;
    let cluster_info::Read { mut info, roots_file } =
        cluster_info::read(&bytes, Origin::File).map_err(Refusal::Content)?;
    if let Some(file) = roots_file {
        // As kubectl: beside the kubeconfig, unless it is absolute.
        let beside = Path::new(path).parent().unwrap_or(Path::new("")).join(file);
        info.roots = files.file(&beside.to_string_lossy()).map_err(Refusal::Unreadable)?;
        bundle(&info.roots).map_err(Refusal::Roots)?;
        // With its roots inside, it may be more than anybody reads.
        cluster_info::read(info.kubeconfig().as_bytes(), Origin::Signed).map_err(Refusal::Content)?;
    }
    Ok(info)
}

fn from_standard_input(files: &mut dyn Files) -> Result<ClusterInfo, Refusal> {
    let bytes = files.standard_input().map_err(Refusal::Unreadable)?;
    Ok(cluster_info::read(&bytes, Origin::Elsewhere).map_err(Refusal::Content)?.info)
}

/// Looks once whether the cluster itself knows better, over a connection that the file's roots verify. What it says
/// counts only if the cluster is reached under it.
fn refresh(info: ClusterInfo, net: &mut Until<'_>) -> (ClusterInfo, Vec<u8>, Refreshed) {
    let Ok(endpoint) = info.endpoint() else { return kept(info, "its server has no address".to_owned()) };
    let body = net.cluster_info(&endpoint, vouched_by(&info));
    let answer = body.as_ref().map_or_else(Answer::None, |body| Answer::Verified(body));
    match follow(&info, &[], answer, Consent::Withheld) {
        Decision::Replace(Newer { info: newer, kubeconfig, .. }) => {
            match confirm(&newer, vouched_by(&newer), Demand::SaysTheSame, net) {
                Ok(()) => (newer, kubeconfig.into_bytes(), Refreshed::Updated),
                Err(refusal) => kept(info, refusal.to_string()),
            }
        }
        Decision::Keep(Kept::Same) => {
            let bytes = info.kubeconfig().into_bytes();
            (info, bytes, Refreshed::Same)
        }
        Decision::Keep(reason) => kept(info, reason.to_string()),
        Decision::Refuse(reason) => kept(info, reason.to_string()),
    }
}

fn kept(info: ClusterInfo, reason: String) -> (ClusterInfo, Vec<u8>, Refreshed) {
    let bytes = info.kubeconfig().into_bytes();
    (info, bytes, Refreshed::Not(reason))
}
