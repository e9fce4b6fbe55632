//! How long to wait for the control plane: the cluster says it up to v1beta3, init and join each for itself later.
use crate::{
    aside::{Aside, NoteKind, Since},
    hub::{Documents, InitConfiguration, JoinConfiguration, Timeouts},
    scalar::Duration,
    v1beta3::later::TIMEOUTS,
    version::ApiVersion,
};

const INIT_SAYS_OTHERWISE: &str = "InitConfiguration.timeouts.controlPlaneComponentHealthCheck has another value";
const IN_INIT: &str = "InitConfiguration.timeouts.controlPlaneComponentHealthCheck";

pub(super) fn fit(documents: &mut Documents, api: ApiVersion, aside: &mut Aside) {
    if api >= ApiVersion::V1Beta4 { to_nodes(documents, aside) } else { to_cluster(documents, aside) }
}

/// What only the cluster says becomes the init's.
fn to_nodes(documents: &mut Documents, aside: &mut Aside) {
    let Documents { cluster: Some(cluster), init, .. } = documents else { return };
    let Some(time) = cluster.api_server.timeout_for_control_plane.take() else { return };
    in_cluster(aside, |aside| {
        if time.is_zero() || (init.is_none() && Some(time) == TIMEOUTS.control_plane_component_health_check) {
            aside.note(NoteKind::Default);
        } else if init.is_some() {
            aside.lose_because(time, INIT_SAYS_OTHERWISE);
        } else {
            let timeouts = Timeouts { control_plane_component_health_check: Some(time), ..Timeouts::default() };
            *init = Some(InitConfiguration { timeouts: Some(timeouts), ..InitConfiguration::default() });
            aside.moved(IN_INIT, NoteKind::Equivalent(IN_INIT.to_owned()));
        }
    });
}

/// What the init says becomes the cluster's, and so every node's.
fn to_cluster(documents: &mut Documents, aside: &mut Aside) {
    let Documents { cluster, init, join, .. } = documents;
    let mut of_cluster = None;
    if let Some(cluster) = cluster {
        let of_init =
            init.as_mut().and_then(|init| init.timeouts.as_mut()?.control_plane_component_health_check.take());
        let waiting = &mut cluster.api_server.timeout_for_control_plane;
        if let Some(time) = of_init {
            // Zero would mean "as usual" there.
            let said = Some(time).filter(|time| !time.is_zero());
            if said.is_none() {
                lose_in("InitConfiguration", time, aside);
            }
            match std::mem::replace(waiting, said) {
                Some(other) if other.is_zero() => in_cluster(aside, |aside| aside.note(NoteKind::Default)),
                Some(other) if other != time => {
                    in_cluster(aside, |aside| aside.lose_because(other, INIT_SAYS_OTHERWISE));
                }
                _ => {}
            }
        }
        of_cluster = waiting.filter(|time| !time.is_zero());
    }
    if let (Some(join), Some(time)) = (join, of_cluster) {
        joins_wait_as_the_cluster_says(join, time, aside);
    }
}

fn joins_wait_as_the_cluster_says(join: &mut JoinConfiguration, time: Duration, aside: &mut Aside) {
    let own = join.timeouts.as_mut().and_then(|timeouts| timeouts.control_plane_component_health_check.take());
    match own {
        Some(own) if own == time => {}
        Some(own) => lose_in("JoinConfiguration", own, aside),
        None => in_timeouts("JoinConfiguration", aside, |aside| aside.note(NoteKind::Set(time.to_string()))),
    }
}

fn lose_in(kind: &str, time: Duration, aside: &mut Aside) {
    in_timeouts(kind, aside, |aside| aside.lose(time, Since::V1BETA4));
}

fn in_timeouts(kind: &str, aside: &mut Aside, put: impl FnOnce(&mut Aside)) {
    aside.within(kind, |aside| {
        aside.within("timeouts", |aside| aside.within("control_plane_component_health_check", put));
    });
}

fn in_cluster(aside: &mut Aside, put: impl FnOnce(&mut Aside)) {
    aside.within("ClusterConfiguration", |aside| {
        aside.within("api_server", |aside| aside.within("timeout_for_control_plane", put));
    });
}
