//! Several commands at once, and others who write to the same objects.
use super::bed::{CLUSTER_INFO, LIMIT, begin, connect, run, text, tokens};
use cluster::{Effect, Error};
use serde_json::{Value, json};
use std::{
    process::{Child, Output},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    until,
};

/// How many do the same at once.
const MANY: usize = 8;
/// How often somebody else writes meanwhile, at least.
const OTHERS: usize = 10;
const MAPS: &str = "/api/v1/namespaces/kube-public/configmaps";

fn ended(running: Vec<Child>) -> Vec<Output> {
    running.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

fn codes(outputs: &[Output]) -> Vec<Option<i32>> {
    outputs.iter().map(|output| output.status.code()).collect()
}

#[test]
fn writers_at_the_same_time_lose_nothing_and_leave_nothing_half_made() -> Result<()> {
    testbed::needs!(ControlPlane);
    // With the real signer, which writes to cluster-info as well.
    let plane = ControlPlane::start(&Options::default())?;
    one_of_many_creates(&plane)?;
    many_delete(&plane)?;
    a_token_that_was_made_anew_is_not_deleted_for_the_old_one(&plane)?;
    nothing_of_others_is_lost(&plane)?;
    plane.down()
}

fn one_of_many_creates(plane: &ControlPlane) -> Result<()> {
    let wanted: Vec<_> = (0..MANY).map(|number| format!("aaaaaa.{number:016}")).collect();
    let begun = wanted.iter().map(|token| begin(&plane.kubeconfig(), &["token", "create", token]));
    let outputs = ended(begun.collect());
    let won: Vec<_> = outputs.iter().filter(|output| output.status.success()).collect();
    assert_eq!(won.len(), 1, "{:?}", codes(&outputs));
    for lost in outputs.iter().filter(|output| !output.status.success()) {
        assert_eq!(lost.status.code(), Some(1));
        assert!(text(&lost.stderr).starts_with("error: a token with id \"aaaaaa\" already exists: it expires at 20"));
        assert!(lost.stdout.is_empty());
    }
    let data = tokens(plane)?.remove("bootstrap-token-aaaaaa").unwrap();
    assert_eq!(text(&won[0].stdout), format!("aaaaaa.{}\n", data["token-secret"]));
    Ok(())
}

fn many_delete(plane: &ControlPlane) -> Result<()> {
    let begun = (0..MANY).map(|_| begin(&plane.kubeconfig(), &["token", "delete", "aaaaaa"]));
    let outputs = ended(begun.collect());
    assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}");
    assert!(!tokens(plane)?.contains_key("bootstrap-token-aaaaaa"));
    Ok(())
}

/// Whoever deletes the old token must not hit a new one of the same id, however they fall together.
fn a_token_that_was_made_anew_is_not_deleted_for_the_old_one(plane: &ControlPlane) -> Result<()> {
    let (old, new) = ("bbbbbb.0000000000000000", "bbbbbb.1111111111111111");
    assert!(run(&plane.kubeconfig(), &["token", "create", old]).status.success());
    let deleting: Vec<_> = (0..MANY).map(|_| begin(&plane.kubeconfig(), &["token", "delete", old])).collect();
    until("the id is free", LIMIT, || {
        let made = run(&plane.kubeconfig(), &["token", "create", new]);
        if made.status.success() { Ok(()) } else { Err(text(&made.stderr)) }
    })?;
    for output in ended(deleting) {
        let other_half = text(&output.stderr).contains("\"bbbbbb\" has another secret half: it was not deleted");
        assert!(output.status.success() || other_half, "{output:?}");
    }
    assert_eq!(tokens(plane)?["bootstrap-token-bbbbbb"]["token-secret"], "1111111111111111");
    Ok(())
}

fn nothing_of_others_is_lost(plane: &ControlPlane) -> Result<()> {
    let servers: Vec<_> = (0..MANY).map(|number| format!("https://10.0.0.{number}:6443")).collect();
    let (is_over, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let outputs = std::thread::scope(|scope| {
        let writing = scope.spawn(|| writes_until(plane, &is_over, &written));
        let again = || servers.iter().map(|url| begin(&plane.kubeconfig(), &["discovery-objects", "--server", url]));
        let mut outputs: Vec<_> = (0..3).flat_map(|_| ended(again().collect())).collect();
        let is_met = |outputs: &[Output]| {
            let one_succeeded = outputs.iter().any(|output| output.status.success());
            one_succeeded && written.load(Ordering::SeqCst) >= OTHERS
        };
        let met = until("both have written", LIMIT, || {
            if writing.is_finished() || is_met(&outputs) {
                return Ok(());
            }
            outputs.extend(ended(again().collect()));
            Err(format!("others wrote {} times; {:?}", written.load(Ordering::SeqCst), codes(&outputs)))
        });
        is_over.store(true, Ordering::SeqCst);
        writing.join().unwrap();
        met.map(|()| outputs)
    })?;
    let written = written.into_inner();
    for output in outputs.iter().filter(|output| !output.status.success()) {
        assert!(text(&output.stderr).contains("was changed by other clients"), "{output:?}");
    }
    assert!(outputs.iter().any(|output| output.status.success()));
    let last = run(&plane.kubeconfig(), &["discovery-objects", "--server", &servers[0]]);
    assert!(last.status.success(), "a second run completes: {last:?}");

    let signed = until("the signer has signed what is there now", LIMIT, || {
        let map = connect(&plane.kubeconfig()).get(CLUSTER_INFO).unwrap().unwrap();
        let kubeconfig = map["data"]["kubeconfig"].as_str().unwrap_or_default();
        let token = "bbbbbb.1111111111111111".parse().unwrap();
        let right = discovery::jws::sign(&token, kubeconfig.as_bytes());
        if map["data"]["jws-kubeconfig-bbbbbb"] == right.as_str() { Ok(map) } else { Err(map.to_string()) }
    })?;
    assert!(signed["data"]["kubeconfig"].as_str().unwrap().contains("server: https://10.0.0.0:6443\n"));
    for number in 0..written {
        assert_eq!(signed["data"][format!("other-{number}")], "theirs", "{number} of {written} is lost");
    }
    let again = text(&run(&plane.kubeconfig(), &["discovery-objects", "--server", &servers[0]]).stdout);
    assert!(again.lines().all(|line| line.ends_with(" unchanged")), "{again}");
    Ok(())
}

/// Somebody else who adds keys to cluster-info, one by one, as long as it takes.
fn writes_until(plane: &ControlPlane, is_over: &AtomicBool, written: &AtomicUsize) {
    let api = connect(&plane.kubeconfig());
    while !is_over.load(Ordering::SeqCst) {
        let number = written.load(Ordering::SeqCst);
        let metadata = json!({"name": "cluster-info", "namespace": "kube-public"});
        let data: Value = json!({format!("other-{number}"): "theirs"});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        match api.ensure(MAPS, &map, Effect::Real) {
            Ok(_) => written.store(number + 1, Ordering::SeqCst),
            Err(Error::Contended { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
