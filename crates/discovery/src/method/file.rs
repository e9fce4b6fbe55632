//! Discovery by a kubeconfig that was brought here: from a file, a URL or standard input.
use super::{
    Source, https,
    network::{Files, Network, Patience, Roots},
    outcome::{Attempt, Discovered, NotTrusted, Refusal},
};
use crate::{
    ClusterInfo,
    cache::{Answer, Consent, Decision, Kept, Newer, follow},
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
    let at_once = |refusal| {
        let attempt = Attempt { place: source.shown().to_owned(), refusal };
        NotTrusted { attempts: vec![attempt], spent: Duration::ZERO }
    };
    let (bytes, origin) = match source {
        Source::Url(url) => (https::fetch(url, net, patience)?, Origin::Elsewhere),
        Source::Path(path) => (read(files.file(path)).map_err(at_once)?, Origin::File),
        Source::StandardInput => (read(files.standard_input()).map_err(at_once)?, Origin::Elsewhere),
    };
    let info = load(&bytes, origin, source, files).map_err(at_once)?;
    let (cluster_info, bytes, refreshed) = refresh(info, net);
    let place = source.shown().to_owned();
    let proof = match source {
        Source::Url(_) => Proof::Url { url: place, refreshed },
        Source::Path(_) => Proof::File { path: place, refreshed },
        Source::StandardInput => Proof::StandardInput { refreshed },
    };
    Ok(Discovered { cluster_info, bytes, proof })
}

fn read(content: Result<Vec<u8>, String>) -> Result<Vec<u8>, Refusal> {
    content.map_err(Refusal::Unreadable)
}

/// What the kubeconfig says, with roots that lie in another file.
fn load(bytes: &[u8], origin: Origin, source: &Source, files: &mut dyn Files) -> Result<ClusterInfo, Refusal> {
    let cluster_info::Read { mut info, roots_file } = cluster_info::read(bytes, origin).map_err(Refusal::Content)?;
    if let Some(file) = roots_file {
        // As kubectl: beside the kubeconfig, unless it is absolute.
        let beside = Path::new(source.shown()).parent().unwrap_or(Path::new("")).join(file);
        info.roots = read(files.file(&beside.to_string_lossy()))?;
        bundle(&info.roots).map_err(Refusal::Roots)?;
    }
    Ok(info)
}

/// Looks once whether the cluster itself knows better, over a connection that the file's roots verify.
fn refresh(info: ClusterInfo, net: &mut dyn Network) -> (ClusterInfo, Vec<u8>, Refreshed) {
    let body = match info.endpoint() {
        Ok(endpoint) if info.roots.is_empty() => net.cluster_info(&endpoint, Roots::System),
        Ok(endpoint) => net.cluster_info(&endpoint, Roots::Only(&info.roots)),
        Err(_) => return kept(info, "its server has no address".to_owned()),
    };
    let answer = body.as_ref().map_or_else(Answer::None, |body| Answer::Verified(body));
    match follow(&info, &[], answer, Consent::Withheld) {
        Decision::Replace(Newer { info, kubeconfig }) => (info, kubeconfig.into_bytes(), Refreshed::Updated),
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
