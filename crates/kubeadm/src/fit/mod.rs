//! Fits the documents to one Kubernetes version before they take its form: what moves between documents, and what
//! depends on the minor and not on the API alone.
mod addons;
mod gates;
mod minors;
mod waiting;

use crate::{
    aside::{Aside, NoteKind},
    hub::{ClusterConfiguration, Documents},
    target::Target,
};

/// Fits documents to a target; what it can't be told goes aside.
pub(crate) fn fit(documents: &mut Documents, target: &Target, aside: &mut Aside) {
    documents.settle();
    explicit_version(documents, target, aside);
    if let Some(cluster) = &mut documents.cluster {
        aside.within("ClusterConfiguration", |aside| {
            gates::fit(cluster, target.api(), aside);
            minors::fit_cluster(cluster, aside);
        });
    }
    if let Some(upgrade) = &mut documents.upgrade {
        aside.within("UpgradeConfiguration", |aside| minors::fit_upgrade(upgrade, aside));
    }
    addons::fit(documents, target.api(), aside);
    waiting::fit(documents, target.api(), aside);
}

/// Without a version kubeadm asks the internet for one; with another minor's it refuses.
fn explicit_version(documents: &mut Documents, target: &Target, aside: &mut Aside) {
    let Documents { cluster, init, .. } = documents;
    if cluster.is_none() && init.is_none() {
        return;
    }
    let version = &mut cluster.get_or_insert_with(ClusterConfiguration::default).kubernetes_version;
    let same =
        version.as_ref().is_some_and(|version| version.strip_prefix('v').unwrap_or(version) == &target.release()[1..]);
    if !same {
        *version = Some(target.release().to_owned());
        aside.within("ClusterConfiguration", |aside| {
            aside.within("kubernetes_version", |aside| aside.note(NoteKind::Set(target.release().to_owned())));
        });
    }
}
