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
        aside.within("ClusterConfiguration", |aside| {
            aside.within(field, |aside| aside.within("disabled", |aside| skip(phase, init.as_mut(), aside)));
        });
    }
}

/// The init skips the phase: its document says so or, where there is none, its command line.
fn skip(phase: &str, init: Option<&mut InitConfiguration>, aside: &mut Aside) {
    let Some(init) = init else { return aside.flag("--skip-phases", Some(phase.to_owned())) };
    if !init.skip_phases.iter().any(|known| known == phase || known == "addon") {
        init.skip_phases.push(phase.to_owned());
    }
    aside.moved(SKIPPED_AT, NoteKind::Equivalent(format!("the skipped phase {phase}")));
}
