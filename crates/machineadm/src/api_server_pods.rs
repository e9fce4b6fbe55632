//! The mirror pods of API servers: which manifest each runs by, and whether it is ready.
use cluster::{ApiServer, Listed};
use engine::{ApiServerPod, ApiServerWait, CONFIG_HASH, Unanswered, WantedHash};
use kubeadm::static_pod::ADVERTISED;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

const PODS: &str = "/api/v1/namespaces/kube-system/pods";
/// The label that kubeadm gives them.
const SELECTOR: (&str, &str) = ("labelSelector", "component=kube-apiserver");
/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(500);

/// The members of a Pod that are needed.
#[derive(Deserialize)]
struct Pod {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    sort: String,
    status: String,
}

/// The pod of the API server with this address and port.
pub(crate) fn pod(server: &ApiServer, advertised: &str) -> cluster::Result<Option<ApiServerPod>> {
    let mut found = None;
    server.list::<Pod>(PODS, &[SELECTOR], &mut |listed| match listed {
        Listed::Restarted => found = None,
        Listed::Item(Pod { metadata: Metadata { annotations }, status: Status { conditions } }) => {
            let hash =
                annotations.get(CONFIG_HASH).filter(|_| annotations.get(ADVERTISED).is_some_and(|at| at == advertised));
            if let Some(hash) = hash {
                let is_ready =
                    conditions.iter().any(|condition| condition.sort == "Ready" && condition.status == "True");
                found = Some(ApiServerPod { hash: hash.clone(), is_ready });
            }
        }
    })?;
    Ok(found)
}

/// Looks again until the pod is as it shall be, as far as the patience goes.
pub(crate) fn wait(
    wait: &ApiServerWait<'_>,
    look: &dyn Fn() -> Result<Option<ApiServerPod>, Unanswered>,
) -> Result<(), Unanswered> {
    let deadline = Instant::now() + wait.patience.within;
    let mut is_told = false;
    loop {
        let why = match look() {
            Ok(Some(pod)) if wait.hash.accepts(&pod.hash) && pod.is_ready => return Ok(()),
            Ok(Some(pod)) if wait.hash.accepts(&pod.hash) => "its pod is not ready".to_owned(),
            Ok(_) => "the kubelet has not started its new pod".to_owned(),
            Err(Unanswered(why)) => why,
        };
        if Instant::now() >= deadline || !(wait.patience.while_true)() {
            return Err(Unanswered(why));
        }
        if !is_told {
            tell!(
                "{}",
                match wait.hash {
                    WantedHash::NoneOf(_) => "waiting until the new kube-apiserver is ready",
                    WantedHash::Is(_) => "rolling back: waiting until the old kube-apiserver is ready again",
                }
            );
            is_told = true;
        }
        thread::sleep(PAUSE);
    }
}
