//! Answers are lost, clocks differ, controllers do not work, and rights are missing.
use super::{KEY, SET, assert_complete, files, key, upload, upload_accepting, uploaded};
use crate::fake_store::{Asked, Controllers, FakeStore, Fate, SECRETS};
use base64::{Engine, prelude::BASE64_STANDARD};
use certs::{CertificateKey, Found, canary::Cleanup, ttl_token::ClockSkew};
use cluster::{
    Error,
    kubeadm_certs::{Download, DownloadError, MissingCleanup, UploadError},
};
use discovery::certificate::CaBundle;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::collections::BTreeSet;

/// Loses the answer to one write after the other, in a cluster that deletes no canary: what is there is ours.
#[test]
fn every_write_whose_answer_was_lost_is_read_back() {
    for is_first in [true, false] {
        for number in 0.. {
            let store = if is_first { FakeStore::new(Controllers::None) } else { uploaded() };
            store.set_controllers(Controllers::None);
            let mut writes = 0;
            store.come_between(move |asked, _| {
                writes += usize::from(asked.is_write());
                if asked.is_write() && writes == number + 1 { Fate::AnswerLost } else { Fate::Done }
            });
            let done = upload_accepting(&store, MissingCleanup::Accepted);
            let asked = store.asked();
            let lost = asked.iter().filter(|asked| asked.is_write()).nth(number);
            let done = done.unwrap_or_else(|error| panic!("{lost:?}: {error:?}"));
            assert_eq!(done.cleanup, Cleanup::TokenCleanerMissing);
            assert_complete(&store);
            // Canary, its token and the TTL token: none is created a second time under another name.
            let created = asked.iter().filter(|asked| asked.method == "POST" && asked.path == SECRETS);
            let names: BTreeSet<_> = created.map(Asked::name).collect();
            assert_eq!(names.len(), if is_first { 4 } else { 3 }, "{lost:?}: {names:?}");
            if lost.is_none() {
                assert!(number >= 6, "only {number} writes");
                break;
            }
        }
    }
}

#[test]
fn a_secret_that_may_not_be_written_leaves_no_token() {
    let store = FakeStore::new(Controllers::All);
    store.come_between(|asked, _| if asked.writes_certs() { Fate::Refused(403) } else { Fate::Done });
    let error = upload(&store).expect_err("forbidden");
    assert!(matches!(&error, UploadError::Cluster(Error::Forbidden { .. })), "{error:?}");
    assert_eq!(store.secrets(), Vec::<String>::new());
}

/// It was written before: whoever had no key for it would have to upload once more.
#[test]
fn an_upload_whose_clean_up_is_refused_is_an_upload_and_the_next_one_cleans_up() {
    let store = uploaded();
    let is_ttl_deletion = |asked: &Asked| asked.method == "DELETE" && asked.path.contains("/bootstrap-token-");
    store.set_controllers(Controllers::All);
    store.come_between(move |asked, _| if is_ttl_deletion(asked) { Fate::Refused(403) } else { Fate::Done });
    upload(&store).expect("an upload");
    assert_eq!(store.secrets().len(), 3, "{:?}", store.secrets());
    store.come_between(|_, _| Fate::Done);
    upload(&store).expect("an upload");
    assert_complete(&store);
}

/// A copy counts as uploaded only while its key decrypts it and the end of its owner is ahead.
#[test]
fn a_copy_without_a_live_owner_or_of_another_key_is_not_live() {
    let live = |store: &FakeStore, key: &CertificateKey| store.connect().live_certs(&files(), key).expect("an answer");
    let owner = |store: &FakeStore| {
        let certs = store.secret("kubeadm-certs").expect("the Secret");
        format!("{SECRETS}/{}", certs["metadata"]["ownerReferences"][0]["name"].as_str().expect("a name"))
    };
    let store = uploaded();
    assert!(live(&store, &key()).is_some_and(|set| set.files().len() == 8));
    assert!(live(&store, &KEY.replace('e', "0").parse().expect("a key")).is_none());
    store.set_controllers(Controllers::None);
    let path = owner(&store);
    let ended = BASE64_STANDARD.encode("2000-01-01T00:00:00Z");
    store.change(|objects| objects.by_path.get_mut(&path).expect("the token")["data"]["expiration"] = json!(ended));
    assert!(live(&store, &key()).is_none(), "its owner has expired");
    store.change(|objects| drop(objects.by_path.remove(&path)));
    assert!(live(&store, &key()).is_none(), "its owner is gone");
    let ownerless = |objects: &mut crate::fake_store::Objects| {
        let certs = objects.by_path.get_mut(&format!("{SECRETS}/kubeadm-certs")).expect("the Secret");
        certs["metadata"]["ownerReferences"] = json!([]);
    };
    store.change(ownerless);
    assert!(live(&store, &key()).is_none(), "it has no owner");
}

#[test]
fn without_the_server_s_time_nothing_is_uploaded() {
    let store = FakeStore::new(Controllers::All);
    store.set_clock(None);
    let error = upload(&store).expect_err("no Date");
    assert!(matches!(&error, UploadError::Cluster(Error::NotKubernetes { .. })), "{error:?}");
    assert!(error.to_string().contains("its answers have no Date"), "{error}");
    assert!(store.asked().iter().all(|asked| !asked.is_write()));
}

#[test]
fn the_server_s_clock_counts_and_one_that_differs_by_over_a_minute_is_reported_with_its_direction() {
    for (ahead, expected) in [(3600, "behind"), (-3600, "ahead"), (30, "close"), (-30, "close")] {
        let store = FakeStore::new(Controllers::All);
        store.set_clock(Some(SignedDuration::from_secs(ahead)));
        let done = upload(&store).expect("an upload");
        let (direction, by) = match done.skew {
            Some(ClockSkew::Ahead(by)) => ("ahead", by.as_nanoseconds()),
            Some(ClockSkew::Behind(by)) => ("behind", by.as_nanoseconds()),
            None => ("close", 0),
        };
        assert_eq!(direction, expected, "{ahead}: {:?}", done.skew);
        let off = |found: i128, wanted: i64| (found - i128::from(wanted) * 1_000_000_000).abs() / 1_000_000_000;
        if direction != "close" {
            assert!(off(by.into(), ahead.abs()) <= 60, "{by}");
        }
        let left = done.expires.since(Timestamp::now()).as_nanoseconds();
        assert!(off(left.into(), 7200 + ahead) <= 60, "two hours from the server's now: {left}");
    }
}

#[test]
fn a_cluster_that_deletes_nothing_is_refused_and_the_canary_is_deleted() {
    for (controllers, missing) in [
        (Controllers::None, Cleanup::TokenCleanerMissing),
        (Controllers::OnlyTokenCleaner, Cleanup::GarbageCollectorMissing),
    ] {
        let store = FakeStore::new(controllers);
        let error = upload(&store).expect_err("no cleanup");
        assert!(matches!(error, UploadError::NoCleanup(found) if found == missing), "{controllers:?}: {error:?}");
        assert_eq!(store.secrets(), Vec::<String>::new(), "{controllers:?}");
        assert!(!store.asked().iter().any(Asked::writes_certs), "{controllers:?}");
        let done = upload_accepting(&store, MissingCleanup::Accepted).expect("accepted");
        assert_eq!(done.cleanup, missing);
        assert_complete(&store);
    }
}

#[test]
fn canaries_that_nobody_can_be_looking_at_are_deleted() {
    let store = FakeStore::new(Controllers::All);
    for (name, age) in [("old", 3600), ("young", 60)] {
        let created = (Timestamp::now() - SignedDuration::from_secs(age)).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let labels = json!({"machineadm.cluster.x-k8s.io/canary": ""});
        let metadata = json!({"name": name, "namespace": "kube-system", "labels": labels});
        let canary = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata});
        store.change(|objects| {
            objects.create(SECRETS, &canary);
            let stored = objects.by_path.get_mut(&format!("{SECRETS}/{name}")).expect("it is there");
            stored["metadata"]["creationTimestamp"] = created.into();
        });
    }
    upload(&store).expect("an upload");
    let asked = store.asked();
    let deleted: Vec<_> = asked.iter().filter(|asked| asked.method == "DELETE").map(Asked::name).collect();
    assert_eq!(deleted, ["old"]);
}

#[test]
fn the_certificate_key_and_the_files_are_in_no_request() {
    let store = uploaded();
    upload(&store).expect("a second upload");
    let bytes: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&KEY[at * 2..at * 2 + 2], 16).expect("hex")).collect();
    let mut secrets = vec![KEY.as_bytes().to_vec(), KEY.to_uppercase().into_bytes(), bytes];
    let contents = SET.values().map(|found| match found {
        Found::Content(content) => content.expose().clone(),
        other => panic!("{other:?}"),
    });
    secrets.extend(contents);
    // Base64 of any of them begins so, wherever it starts.
    let encoded: Vec<_> = secrets.iter().map(|secret| BASE64_STANDARD.encode(&secret[..30]).into_bytes()).collect();
    let sent = store.sent();
    assert!(sent.len() > 20);
    for request in &sent {
        for secret in secrets.iter().chain(&encoded) {
            assert!(!request.windows(secret.len()).any(|window| window == secret));
        }
    }
}

#[test]
fn a_download_says_why_there_is_nothing_to_write_and_writes_nothing_to_the_cluster() {
    let store = FakeStore::new(Controllers::All);
    let download = |store: &FakeStore, key: &CertificateKey| {
        let layout = Some(cluster::kubeadm_certs::Layout::usual());
        store.connect().download_certs(&Download { key, roots: &CaBundle::default(), layout })
    };
    assert!(matches!(download(&store, &key()), Err(DownloadError::Absent)));
    store.come_between(|_, _| Fate::Refused(403));
    assert!(matches!(download(&store, &key()), Err(DownloadError::Forbidden(_))));
    let store = uploaded();
    store.come_between(|_, _| Fate::Done);
    let set = download(&store, &key()).expect("a set").set;
    assert_eq!(set.files().len(), 8);
    let other = "0".repeat(64).parse().expect("a key");
    assert!(matches!(download(&store, &other), Err(DownloadError::Files(problems)) if problems.len() == 8));
    store.change(|objects| {
        let certs = objects.by_path.get_mut(&format!("{SECRETS}/kubeadm-certs")).expect("it is there");
        certs["metadata"]["deletionTimestamp"] = "2026-11-15T18:55:35Z".into();
    });
    assert!(matches!(download(&store, &key()), Err(DownloadError::NotUsable(_))));
    assert!(store.asked().iter().all(|asked| !asked.is_write()));
}
