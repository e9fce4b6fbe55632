//! Doing it: what is recorded before, when an API server is ready, and how a change is rolled back.
use super::{
    ChangeRecord, KUBEADM_CONFIG,
    failed_start::{OldPods, failed_start},
    record::{Overwritten, StoredMap},
};
use crate::{
    Patience, Replacement, Unanswered, World,
    acts::{ADMIN, NewApiServer},
    api_server_pod::{ApiServerWait, WantedHash},
};
use documents::Secret;
use host::Error;
use objects::yaml;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// How long an API server may take to become ready, by a new manifest or by the one before.
const READY: Duration = Duration::from_secs(4 * 60);
/// How long one that runs may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// How often kubeadm-config is read and restored again while other clients change it.
const TRIES: usize = 5;

/// Records what a change overwrites, with the pod that runs now.
pub(crate) fn overwrite(new: &NewApiServer, world: &mut World<'_>) -> host::Result<()> {
    let manifest = new.manifest_file(world);
    let unfinished = match ChangeRecord::read(world.host)? {
        Some(record) if record.describes(world.host)? => Some(record.hash),
        _ => None,
    };
    let running = running_hash(&new.advertised, world);
    let hash = match unfinished {
        Some(hash) => hash,
        None => running.as_ref().map_err(unknown_pod)?.clone(),
    };
    // The pod of an unfinished change that this one replaces may be ready, and is not the new one.
    let hashes = [hash.clone()].into_iter().chain(running.ok().filter(|running| *running != hash)).collect();
    let old_pods = OldPods::seen(world.host, hashes);
    let map = new.map.as_ref().map(|map| StoredMap { before: map.before.clone(), after: vec![map.after.clone()] });
    let paths = new.files().map(|(path, _)| path).collect();
    let advertised = &new.advertised;
    let overwritten = Overwritten { advertised, hash: &hash, old_pods, manifest: manifest.as_ref(), paths, map };
    ChangeRecord::write(overwritten, world.host)
}

/// Which manifest the kubelet runs.
fn running_hash(advertised: &str, world: &World<'_>) -> Result<String, Unanswered> {
    let admin = local_admin(advertised, world).map_err(|error| Unanswered(crate::outcome::chain(&error)))?;
    let patience = Patience { within: ANSWER, while_true: &|| true };
    let pod = world.cluster.api_server_pod(admin.expose(), advertised, &patience)?;
    pod.map(|pod| pod.hash).ok_or_else(|| Unanswered(format!("no mirror pod has the address {advertised}")))
}

fn unknown_pod(Unanswered(why): &Unanswered) -> Error {
    Error::Unfit {
        what: "kube-apiserver".to_owned(),
        why: format!("the pod that runs now is unknown: {why}"),
        advice: "check that the kubelet and the API server of this node run, then run machineadm again".to_owned(),
    }
}

/// Waits until the API server runs by the new manifest and is ready.
pub(crate) fn wait_until_ready(record: &ChangeRecord, world: &mut World<'_>) -> host::Result<()> {
    let admin = local_admin(&record.advertised, world)?;
    let host = &*world.host;
    let may_start = || failed_start(host, &record.old_pods).is_none();
    let patience = Patience { within: READY, while_true: &may_start };
    let wait =
        ApiServerWait { advertised: &record.advertised, hash: WantedHash::NoneOf(&record.old_pods.hashes), patience };
    world.cluster.wait_for_api_server(admin.expose(), &wait).map_err(|Unanswered(why)| Error::Unfit {
        what: "kube-apiserver did not become ready".to_owned(),
        why: failed_start(host, &record.old_pods).unwrap_or(why),
        advice: String::new(),
    })
}

/// The administrator's kubeconfig for the API server of this node: the one of the cluster may lead to another node.
fn local_admin(advertised: &str, world: &World<'_>) -> host::Result<Secret<Vec<u8>>> {
    let file = world.host.file(ADMIN)?;
    let text = file.as_ref().and_then(|file| std::str::from_utf8(file.contents.expose()).ok()).unwrap_or_default();
    let mut kubeconfig = yaml::value(text).unwrap_or_default();
    for cluster in kubeconfig["clusters"].as_array_mut().into_iter().flatten() {
        cluster["cluster"]["server"] = format!("https://{advertised}").into();
    }
    Ok(Secret::new(kubeconfig.to_string().into_bytes()))
}

/// A change that is undone.
pub(crate) struct Rollback<'a> {
    /// What was there before.
    pub(crate) record: &'a ChangeRecord,
    /// Why it is undone.
    pub(crate) why: String,
}

impl Rollback<'_> {
    /// Restores everything; gives the failure of the change, with what could not be restored.
    pub(crate) fn run(&self, world: &mut World<'_>) -> Error {
        match self.restored(world) {
            Ok(kept) => {
                let kept = kept.map(|why| format!("; {why}")).unwrap_or_default();
                self.failure(
                    &format!("manifest, files and kubeadm-config are as before{kept}"),
                    "correct the ControlPlaneConfig, then run machineadm again",
                )
            }
            Err(error @ Error::PowerFailed) => error,
            Err(error) => self.failure(
                &format!("and the roll back did not finish: {}", crate::outcome::chain(&error)),
                "run machineadm again: it finishes the roll back",
            ),
        }
    }

    fn failure(&self, outcome: &str, advice: &str) -> Error {
        Error::Unfit {
            what: "the change was rolled back".to_owned(),
            why: format!("{}; {outcome}", self.why),
            advice: advice.to_owned(),
        }
    }

    /// Manifest and files first: without an API server kubeadm-config cannot be written. Gives what was left alone.
    fn restored(&self, world: &mut World<'_>) -> host::Result<Option<String>> {
        let record = self.record;
        if record.restore(world.host)? {
            let admin = local_admin(&record.advertised, world)?;
            let patience = Patience { within: READY, while_true: &|| true };
            let wait = ApiServerWait { advertised: &record.advertised, hash: WantedHash::Is(&record.hash), patience };
            let ready = world.cluster.wait_for_api_server(admin.expose(), &wait);
            ready.map_err(|Unanswered(why)| unready(&why))?;
        }
        let kept = match &record.map {
            Some(map) => restore_map(map, world)?,
            None => None,
        };
        ChangeRecord::forget(world.host)?;
        Ok(kept)
    }
}

/// Puts back the data that a change has replaced. What another client has written since stays.
fn restore_map(map: &StoredMap, world: &World<'_>) -> host::Result<Option<String>> {
    let admin = world.host.file(ADMIN)?.map(|file| file.contents).unwrap_or_default();
    let patience = Patience { within: ANSWER, while_true: &|| true };
    let unwritten = |why: String| Error::Unfit {
        what: "kubeadm-config".to_owned(),
        why: format!("cannot restore it: {why}"),
        advice: String::new(),
    };
    for _ in 0..TRIES {
        let seen = world.cluster.object(admin.expose(), KUBEADM_CONFIG, &patience);
        let seen = seen.map_err(|Unanswered(why)| unwritten(why))?;
        let Some(mut object) = seen else { return Ok(Some("kubeadm-config is gone".to_owned())) };
        let now: BTreeMap<String, String> = data_of(&object);
        if now == map.before {
            return Ok(None);
        }
        if !map.after.contains(&now) {
            return Ok(Some("kubeadm-config was left alone, since another client has changed it".to_owned()));
        }
        object["data"] = map.before.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect();
        match world.cluster.replace(admin.expose(), KUBEADM_CONFIG, &object) {
            Ok(Replacement::Done) => return Ok(None),
            Ok(Replacement::Conflict) => {}
            Err(Unanswered(why)) => return Err(unwritten(why)),
        }
    }
    Err(unwritten("other clients keep changing it".to_owned()))
}

/// The data of a ConfigMap.
pub(super) fn data_of(object: &Value) -> BTreeMap<String, String> {
    let entries = object["data"].as_object().into_iter().flatten();
    entries.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect()
}

fn unready(why: &str) -> Error {
    Error::Unfit {
        what: "kube-apiserver".to_owned(),
        why: format!("it does not become ready by the manifest before the change: {why}"),
        advice: String::new(),
    }
}
