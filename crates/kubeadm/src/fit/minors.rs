//! Fields and values that arrived within v1beta4: the API version alone does not tell whether a kubeadm knows them.
use crate::{
    aside::{Aside, Since},
    hub::{ClusterConfiguration, EnvVar, UpgradeConfiguration},
    v1beta3::later,
};

const ETCD_UPGRADE_IN_PLAN: Since = Since::minor(33);
const ECDSA_P384: Since = Since::minor(34);
const FILE_KEY_REF: Since = Since::minor(34);
const HTTP_ENDPOINTS: Since = Since::minor(35);

/// The first minor of v1beta4; what older ones can't say at all, their spokes put aside.
const V1BETA4: u32 = Since::V1BETA4.minor;

pub(super) fn fit_cluster(cluster: &mut ClusterConfiguration, aside: &mut Aside) {
    if (V1BETA4..ECDSA_P384.minor).contains(&aside.minor) {
        let newer = cluster.encryption_algorithm.take_if(|algorithm| algorithm == "ECDSA-P384");
        if let Some(algorithm) = newer {
            aside.within("encryption_algorithm", |aside| aside.lose(algorithm, ECDSA_P384));
        }
    }
    if (V1BETA4..FILE_KEY_REF.minor).contains(&aside.minor) {
        let ClusterConfiguration { api_server, controller_manager, scheduler, etcd, .. } = cluster;
        aside.within("api_server", |aside| drop_file_keys(&mut api_server.extra_envs, aside));
        aside.within("controller_manager", |aside| drop_file_keys(&mut controller_manager.extra_envs, aside));
        aside.within("scheduler", |aside| drop_file_keys(&mut scheduler.extra_envs, aside));
        if let Some(local) = &mut etcd.local {
            aside.within("etcd", |aside| aside.within("local", |aside| drop_file_keys(&mut local.extra_envs, aside)));
        }
    }
    if (V1BETA4..HTTP_ENDPOINTS.minor).contains(&aside.minor)
        && let Some(external) = &mut cluster.etcd.external
    {
        let http = std::mem::take(&mut external.http_endpoints);
        let put_aside = |aside: &mut Aside| later::http_endpoints(&external.endpoints, &http, aside);
        aside.within("etcd", |aside| aside.within("external", put_aside));
    }
}

pub(super) fn fit_upgrade(upgrade: &mut UpgradeConfiguration, aside: &mut Aside) {
    if (V1BETA4..ETCD_UPGRADE_IN_PLAN.minor).contains(&aside.minor) {
        let etcd_upgrade = upgrade.plan.etcd_upgrade.take();
        aside.within("plan", |aside| {
            aside.drop_field("etcd_upgrade", etcd_upgrade.as_ref(), &true, ETCD_UPGRADE_IN_PLAN);
        });
    }
}

/// A variable without its source would be empty, so it goes as a whole.
fn drop_file_keys(variables: &mut Vec<EnvVar>, aside: &mut Aside) {
    variables.retain(|variable| {
        let from_file = variable.value_from.as_ref().is_some_and(|source| source.file_key_ref.is_some());
        if from_file {
            let name = variable.name.as_deref().unwrap_or_default();
            let lose = |aside: &mut Aside| aside.lose("(from valueFrom.fileKeyRef)", FILE_KEY_REF);
            aside.within("extra_envs", |aside| aside.item(name, lose));
        }
        !from_file
    });
}
