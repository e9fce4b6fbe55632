//! StaticPodsConfig: manifests of pods in the directory that the kubelet reads.
use super::{KUBERNETES_DIRECTORY, OwnFile, Phase, Role, no_acts, own_directory};
use crate::{Look, PlanError, Planned, Wanted, look::NEW_DIRECTORY};
use documents::{AnyDocument, Decoded, v1alpha1::STATIC_PODS_DIRECTORY};

const MANIFEST: u32 = 0o600;
/// The mode that kubeadm gives the directory.
const DIRECTORY: u32 = 0o700;

pub(super) const PHASE: Phase = Phase {
    kind: "StaticPodsConfig",
    summary: "writes manifests of static pods, which the kubelet runs",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::StaticPods(pods) = &document.body else { return Ok(planned) };
    own_directory(KUBERNETES_DIRECTORY, NEW_DIRECTORY, look, &mut planned)?;
    own_directory(STATIC_PODS_DIRECTORY, DIRECTORY, look, &mut planned)?;
    for pod in pods {
        let (contents, confidential) = (pod.manifest.expose().clone(), pod.confidential);
        OwnFile { path: &pod.path, contents, mode: MANIFEST, confidential }.plan(look, &mut planned)?;
    }
    Ok(planned)
}

/// Whether there are static pods on the machine, and documents of this configuration have written all of them.
pub(super) fn are_ours(look: &Look<'_>) -> Result<bool, PlanError> {
    let paths = pods(look.wanted);
    let found = look.host.tree(STATIC_PODS_DIRECTORY)?;
    let mut found = found.iter().map(|entry| entry.path.as_str()).filter(|path| *path != STATIC_PODS_DIRECTORY);
    Ok(!paths.is_empty() && found.all(|path| paths.contains(&path)))
}

/// The manifests of a configuration.
fn pods(wanted: &Wanted) -> Vec<&str> {
    let pods = wanted.documents.iter().filter_map(|document| match &document.body {
        AnyDocument::StaticPods(pods) => Some(pods),
        _ => None,
    });
    pods.flatten().map(|pod| pod.path.as_str()).collect()
}
