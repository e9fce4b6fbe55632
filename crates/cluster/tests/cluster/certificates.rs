//! The certificates copy where other clients, connections, clocks and controllers do what they do only on a bad day.
use crate::fake_store::{Asked, Controllers, FakeStore, Fate, Objects, SECRETS};
use base64::{Engine, prelude::BASE64_STANDARD};
use certs::{
    CertificateKey, Etcd, FileName, FileSet, Found, KubeadmCerts, canary::Cleanup, check_download, ttl_token::ClockSkew,
};
use cluster::{
    Error,
    kubeadm_certs::{Download, DownloadError, MissingCleanup, Upload, UploadError, Uploaded},
};
use discovery::certificate::CaBundle;
use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use secret::Secret;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::LazyLock, time::Duration};

const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
/// How long the controllers may take here.
const PATIENCE: Duration = Duration::from_millis(100);
const DESCRIPTION: &str = "Proxy for managing TTL for the kubeadm-certs secret";

/// The files of a control plane node.
static SET: LazyLock<BTreeMap<FileName, Found>> = LazyLock::new(|| {
    let content = |text: String| Found::Content(Secret::new(text.into_bytes()));
    let mut found = BTreeMap::new();
    for (certificate, key) in [
        (FileName::CaCertificate, FileName::CaKey),
        (FileName::FrontProxyCaCertificate, FileName::FrontProxyCaKey),
        (FileName::EtcdCaCertificate, FileName::EtcdCaKey),
    ] {
        let mut params = CertificateParams::new(vec!["kubernetes".to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(3000, 1, 1));
        let pair = KeyPair::generate().expect("a key");
        let signed = params.self_signed(&pair).expect("a certificate");
        found.extend([(certificate, content(signed.pem())), (key, content(pair.serialize_pem()))]);
    }
    let pair = KeyPair::generate().expect("a key");
    found.insert(FileName::ServiceAccountPublicKey, content(pair.public_key_pem()));
    found.insert(FileName::ServiceAccountKey, content(pair.serialize_pem()));
    found
});

fn files() -> FileSet {
    FileSet::new(&Etcd::Stacked)
}

fn key() -> CertificateKey {
    KEY.parse().expect("a key")
}

/// Another number each time, as a generator gives it.
fn entropy(bytes: &mut [u8]) -> std::io::Result<()> {
    KeyPair::generate().map_err(std::io::Error::other).map(|pair| {
        let der = pair.public_key_raw();
        bytes.iter_mut().zip(&der[1..]).for_each(|(byte, random)| *byte = *random);
    })
}

fn upload_accepting(store: &FakeStore, missing_cleanup: MissingCleanup) -> Result<Uploaded, UploadError> {
    store.connect().upload_certs(Upload {
        files: &files(),
        found: SET.clone(),
        key: &key(),
        missing_cleanup,
        patience: PATIENCE,
        entropy: &entropy,
        waiting: &mut |_| (),
    })
}

fn upload(store: &FakeStore) -> Result<Uploaded, UploadError> {
    upload_accepting(store, MissingCleanup::Refused)
}

/// A cluster to which certificates were uploaded before.
fn uploaded() -> FakeStore {
    let store = FakeStore::new(Controllers::All);
    upload(&store).expect("a first upload");
    store
}

fn is_ttl_token(object: &Value) -> bool {
    object["data"]["description"].as_str() == Some(&BASE64_STANDARD.encode(DESCRIPTION))
}

/// One Secret that is whole, one token that owns it, and nothing else.
fn assert_complete(store: &FakeStore) {
    let certs = store.secret("kubeadm-certs").expect("the Secret");
    let [owner] = &certs["metadata"]["ownerReferences"].as_array().expect("owners")[..] else { panic!("{certs}") };
    let token = store.secret(owner["name"].as_str().expect("a name")).expect("the owner");
    assert!(is_ttl_token(&token) && token["metadata"]["uid"] == owner["uid"]);
    assert_eq!(store.secrets().len(), 2, "{:?}", store.secrets());
    let secret = serde_json::from_value(certs).expect("a Secret");
    let found = KubeadmCerts::read(&secret).expect("the Secret").decrypt(&files(), &key());
    let set = check_download(&files(), found, &CaBundle::default(), Timestamp::now()).expect("a whole set");
    for (file, content) in set.files() {
        assert!(matches!(&SET[&file.name], Found::Content(own) if own == content), "{}", file.location);
    }
}

/// The deepest that another upload does: the Secret becomes its own.
fn replaced_by_another(objects: &mut Objects) {
    let path = format!("{SECRETS}/kubeadm-certs");
    let mut certs = objects.by_path[&path].clone();
    certs["metadata"]["annotations"] = json!({"by": Timestamp::now().to_string()});
    assert_eq!(objects.replace(&path, &certs).0, 200);
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
            let names: std::collections::BTreeSet<_> = created.map(Asked::name).collect();
            assert_eq!(names.len(), if is_first { 4 } else { 3 }, "{lost:?}: {names:?}");
            if lost.is_none() {
                assert!(number >= 6, "only {number} writes");
                break;
            }
        }
    }
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
fn a_secret_that_may_not_be_written_leaves_no_token() {
    let store = FakeStore::new(Controllers::All);
    store.come_between(|asked, _| if asked.writes_certs() { Fate::Refused(403) } else { Fate::Done });
    let error = upload(&store).expect_err("forbidden");
    assert!(matches!(&error, UploadError::Cluster(Error::Forbidden { .. })), "{error:?}");
    assert_eq!(store.secrets(), Vec::<String>::new());
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
