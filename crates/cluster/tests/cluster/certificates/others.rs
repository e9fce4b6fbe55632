//! Other clients write to the same objects between a look and a write, or have left something there.
use super::{DESCRIPTION, assert_complete, is_ttl_token, upload, uploaded};
use crate::fake_store::{Controllers, FakeStore, Fate, Objects, SECRETS};
use base64::{Engine, prelude::BASE64_STANDARD};
use cluster::kubeadm_certs::UploadError;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;

/// The Secret is written by another upload.
fn replaced_by_another(objects: &mut Objects) {
    let path = format!("{SECRETS}/kubeadm-certs");
    let mut certs = objects.by_path[&path].clone();
    certs["metadata"]["annotations"] = json!({"by": Timestamp::now().to_string()});
    assert_eq!(objects.replace(&path, &certs).0, 200);
}

/// A TTL token that owns nothing and ends so many seconds from now.
fn orphan(store: &FakeStore, id: &str, seconds: i64) {
    let end = Timestamp::now() + SignedDuration::from_secs(seconds);
    let values = [
        ("token-id", id.to_owned()),
        ("token-secret", "0123456789abcdef".to_owned()),
        ("description", DESCRIPTION.to_owned()),
        ("expiration", end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
    ];
    let data: BTreeMap<_, _> = values.into_iter().map(|(name, value)| (name, BASE64_STANDARD.encode(value))).collect();
    let metadata = json!({"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"});
    let token = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "metadata": metadata, "data": data,
    });
    store.change(|objects| assert_eq!(objects.create(SECRETS, &token).0, 201));
}

#[test]
fn a_secret_that_another_upload_replaced_meanwhile_is_read_again_and_replaced() {
    let store = uploaded();
    let mut conflicts = 3;
    store.come_between(move |asked, objects| {
        if asked.writes_certs() && conflicts > 0 {
            conflicts -= 1;
            replaced_by_another(objects);
        }
        Fate::Done
    });
    let done = upload(&store).expect("an upload");
    assert!(done.replaced);
    let writes = store.asked().iter().filter(|asked| asked.writes_certs()).count();
    assert_eq!(writes, 4);
    assert_complete(&store);
}

#[test]
fn a_secret_that_appears_meanwhile_is_replaced_with_its_version() {
    let store = FakeStore::new(Controllers::All);
    store.come_between(|asked, objects| {
        if asked.writes_certs() && asked.method == "POST" {
            let other = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {"name": "kubeadm-certs", "namespace": "kube-system"}, "data": {"ca.key": "AAAA"},
            });
            objects.create(SECRETS, &other);
        }
        Fate::Done
    });
    assert!(upload(&store).expect("an upload").replaced);
    let asked = store.asked();
    let sent = asked.iter().filter(|asked| asked.writes_certs()).collect::<Vec<_>>();
    assert_eq!(sent.iter().map(|asked| asked.method.as_str()).collect::<Vec<_>>(), ["POST", "PUT"]);
    assert!(sent[1].body["metadata"]["resourceVersion"].is_string());
    assert_complete(&store);
}

#[test]
fn others_who_never_stop_are_reported_and_one_token_is_left_at_most() {
    let store = uploaded();
    store.come_between(|asked, objects| {
        if asked.writes_certs() {
            replaced_by_another(objects);
        }
        Fate::Done
    });
    let error = upload(&store).expect_err("contended");
    assert!(matches!(error, UploadError::Contended), "{error:?}");
    assert_eq!(store.asked().iter().filter(|asked| asked.writes_certs()).count(), 10);
    // The owner, the Secret, and the token that was used in every attempt.
    assert!(store.secrets().len() <= 3, "{:?}", store.secrets());
    store.come_between(|_, _| Fate::Done);
    upload(&store).expect("the next upload");
    assert_complete(&store);
}

#[test]
fn a_token_that_is_deleted_meanwhile_does_not_stay_the_owner() {
    let store = FakeStore::new(Controllers::All);
    let mut is_deleted = false;
    store.come_between(move |_, objects| {
        // After the Secret was written: its owner is about to be looked at.
        let is_written = objects.by_path.contains_key(&format!("{SECRETS}/kubeadm-certs"));
        if is_written && !is_deleted {
            is_deleted = true;
            // As the garbage collector does with the Secret.
            objects.by_path.retain(|path, object| !is_ttl_token(object) && !path.ends_with("/kubeadm-certs"));
        }
        Fate::Done
    });
    upload(&store).expect("a second attempt");
    assert_eq!(store.asked().iter().filter(|asked| asked.writes_certs()).count(), 2);
    assert_complete(&store);
}

#[test]
fn a_secret_of_another_type_stays_and_nothing_is_created_for_it() {
    let store = FakeStore::new(Controllers::All);
    let metadata = json!({"name": "kubeadm-certs", "namespace": "kube-system"});
    let other = json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata});
    store.change(|objects| assert_eq!(objects.create(SECRETS, &other).0, 201));
    let error = upload(&store).expect_err("not replaceable");
    assert!(matches!(error, UploadError::NotReplaceable(_)), "{error:?}");
    assert_eq!(store.secrets(), ["kubeadm-certs"]);
}

#[test]
fn orphans_of_interrupted_uploads_are_used_or_deleted() {
    let store = FakeStore::new(Controllers::All);
    // One that has ended may be deleted by the token cleaner at any moment.
    for (id, left) in [("aaaaaa", -60), ("bbbbbb", 1), ("cccccc", 600), ("dddddd", 600)] {
        orphan(&store, id, left);
    }
    let done = upload(&store).expect("an upload");
    assert_eq!(done.owner.id.as_str(), "cccccc");
    assert_complete(&store);
}

#[test]
fn an_orphan_that_another_upload_takes_meanwhile_is_neither_used_nor_deleted() {
    let store = FakeStore::new(Controllers::All);
    orphan(&store, "aaaaaa", 600);
    store.come_between(|asked, objects| {
        if asked.method == "PUT" && asked.name() == "bootstrap-token-aaaaaa" {
            let path = format!("{SECRETS}/bootstrap-token-aaaaaa");
            let mut taken = objects.by_path[&path].clone();
            taken["data"]["expiration"] = BASE64_STANDARD.encode("2099-01-01T00:00:00Z").into();
            assert_eq!(objects.replace(&path, &taken).0, 200);
        }
        Fate::Done
    });
    let done = upload(&store).expect("an upload");
    assert_ne!(done.owner.id.as_str(), "aaaaaa");
    assert!(store.secret("bootstrap-token-aaaaaa").is_some());
    assert_eq!(store.secrets().len(), 3);
}
