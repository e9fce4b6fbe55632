//! Addons to do without: a field since v1beta4, a phase that init skips before.
use crate::{
    aside::{Aside, NoteKind},
    hub::{Documents, InitConfiguration},
    version::ApiVersion,
};

const SKIPPED_AT: &str = "InitConfiguration.skipPhases";

pub(super) fn fit(documents: &mut Documents, api: ApiVersion, aside: &mut Aside) {
    let Documents { cluster: Some(cluster), init, .. } = documents else { return };
    if api >= ApiVersion::V1Beta4 {
        return;
    }
    let addons = [
        ("dns", &mut cluster.dns.disabled, "addon/coredns"),
        ("proxy", &mut cluster.proxy.disabled, "addon/kube-proxy"),
    ];
    for (field, disabled, phase) in addons {
        if disabled.take_if(|disabled| *disabled).is_none() {
            continue;
        }
        let skipped = &mut init.get_or_insert_with(InitConfiguration::default).skip_phases;
        if !skipped.iter().any(|known| known == phase || known == "addon") {
            skipped.push(phase.to_owned());
        }
        let kind = NoteKind::Equivalent(format!("the skipped phase {phase}"));
        aside.within("ClusterConfiguration", |aside| {
            aside.within(field, |aside| aside.within("disabled", |aside| aside.moved(SKIPPED_AT, kind)));
        });
    }
}
