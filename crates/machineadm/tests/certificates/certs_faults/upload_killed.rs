//! `machineadm certs upload` is killed before or after one of its requests, over a cluster without a copy and over one that
//! has one.
use super::{
    bed::{Bed, LIMIT, OTHER_KEY},
    copy::{Copy, wait_for_no_canary},
    gateway::{Asked, Fate, Gateway},
};
use std::{os::unix::process::ExitStatusExt, process::Child};
use testbed::{Result, until};

/// At which requests a run is killed.
#[derive(Clone, Copy)]
enum Points {
    /// After each write: the state of the cluster before the next one is the same.
    Writes,
    /// Before and after each request.
    Requests,
}

/// A run that comes to the request of this number; it is killed there, or it ends before.
fn killed_at(bed: &Bed, points: Points, fate: Fate, number: usize) -> Result<Option<Asked>> {
    let counts = move |asked: &Asked| matches!(points, Points::Requests) || asked.is_write();
    let gateway = Gateway::before(&bed.plane.kubeconfig(), move |asked, before| {
        let is_there = counts(asked) && before.iter().filter(|asked| counts(asked)).count() == number;
        if is_there { fate } else { Fate::Passed }
    });
    let mut run = bed.upload(&bed.through(&gateway, "through"), OTHER_KEY).spawn().unwrap();
    let is_held = until("the run is held or ends", LIMIT, || match (gateway.held(), run.try_wait().unwrap()) {
        (1, None) => Ok(true),
        (_, Some(_)) => Ok(false),
        (held, None) => Err(format!("{held} held of {:?}", gateway.asked())),
    })?;
    if !is_held {
        let ended = run.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        return Ok(None);
    }
    kill(&mut run);
    let asked = gateway.asked().pop();
    if fate == Fate::HeldAfter {
        Copy::read(&gateway.secrets_when_held()).assert_safe(bed, &format!("at once after {asked:?}"));
    }
    Ok(asked)
}

fn kill(run: &mut Child) {
    run.kill().unwrap();
    assert_eq!(run.wait().unwrap().signal(), Some(9));
}

/// Kills at every point over a cluster of this sort, each followed by a run that completes; what the kills were at.
fn kill_at_every_point(bed: &Bed, points: Points, fate: Fate, prepare: fn(&Bed)) -> Result<Vec<String>> {
    let api = bed.connect();
    let mut met = Vec::new();
    for number in 0.. {
        prepare(bed);
        let Some(asked) = killed_at(bed, points, fate, number)? else { break };
        let when = format!("killed, {fate:?}, at request {number}, {} {}", asked.method, asked.path);
        Copy::seen(&api).assert_safe(bed, &when);
        bed.upload_undisturbed();
        Copy::seen(&api).assert_complete(bed, super::bed::KEY, &when);
        met.push(shape(&asked));
    }
    Copy::seen(&api).assert_complete(bed, OTHER_KEY, "the run that nothing stopped");
    wait_for_no_canary(&api)?;
    Ok(met)
}

/// A request without what is random in it.
fn shape(asked: &Asked) -> String {
    let path = asked.path.split('?').next().unwrap_or_default().rsplit("kube-system/").next().unwrap_or_default();
    let name = |prefix: &str| path.split_once(prefix).map(|(before, _)| format!("{before}{prefix}*"));
    let path = name("bootstrap-token-").or_else(|| name("machineadm-canary-")).unwrap_or_else(|| path.to_owned());
    format!("{} {path}", asked.method)
}

/// The writes of an upload: canary and its token, rights, TTL token, Secret; at last the former owner is deleted.
const FIRST_UPLOAD: [&str; 6] =
    ["POST secrets", "POST secrets", "POST roles", "POST rolebindings", "POST secrets", "POST secrets"];
const UPLOAD_OVER_ANOTHER: [&str; 5] =
    ["POST secrets", "POST secrets", "POST secrets", "PUT secrets/kubeadm-certs", "DELETE secrets/bootstrap-token-*"];

/// Nothing is uploaded, and nobody may read it.
fn without_a_copy(bed: &Bed) {
    bed.delete();
    for kind in ["roles", "rolebindings"] {
        let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/{kind}/kubeadm:kubeadm-certs");
        let deleted = bed.connect().delete(&path, &cluster::Precondition::default(), cluster::Effect::Real);
        assert!(deleted.is_ok(), "{deleted:?}");
    }
}

#[test]
fn a_kill_after_any_write_of_an_upload_leaves_no_secret_without_a_live_owner_and_the_next_run_completes() -> Result<()>
{
    testbed::needs!(ControlPlane);
    let bed = Bed::new()?;
    assert_eq!(kill_at_every_point(&bed, Points::Writes, Fate::HeldAfter, without_a_copy)?, FIRST_UPLOAD);
    // The copy of the last run is there.
    assert_eq!(kill_at_every_point(&bed, Points::Writes, Fate::HeldAfter, |_| ())?, UPLOAD_OVER_ANOTHER);
    killed_again_and_again(&bed)?;
    bed.plane.down()
}

/// One killed run after the other, each at its own write: what they leave does not add up.
fn killed_again_and_again(bed: &Bed) -> Result<()> {
    let api = bed.connect();
    for number in (2..FIRST_UPLOAD.len()).chain(2..UPLOAD_OVER_ANOTHER.len()) {
        killed_at(bed, Points::Writes, Fate::HeldAfter, number)?;
        Copy::seen(&api).assert_safe(bed, &format!("killed once more, at write {number}"));
    }
    bed.upload_undisturbed();
    Copy::seen(&api).assert_complete(bed, super::bed::KEY, "after many kills");
    wait_for_no_canary(&api)
}

#[test]
#[ignore = "long tier: kills before and after each request of an upload, also those that only read"]
fn a_kill_before_or_after_any_request_of_an_upload_leaves_no_secret_without_a_live_owner() -> Result<()> {
    testbed::needs!(ControlPlane);
    let bed = Bed::new()?;
    for fate in [Fate::HeldBefore, Fate::HeldAfter] {
        for prepare in [without_a_copy, |_: &Bed| ()] {
            let met = kill_at_every_point(&bed, Points::Requests, fate, prepare)?;
            assert!(met.len() > 12, "{met:?}");
        }
    }
    bed.plane.down()
}
