//! The certificates copy where other clients, connections, clocks and controllers do what they do only on a bad day.
mod others;
mod surroundings;

use crate::fake_store::{Controllers, FakeStore};
use base64::{Engine, prelude::BASE64_STANDARD};
use certs::{CertificateKey, Etcd, FileName, FileSet, Found, KubeadmCerts, check_download};
use cluster::kubeadm_certs::{MissingCleanup, Upload, UploadError, Uploaded};
use discovery::certificate::CaBundle;
use jiff::Timestamp;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use secret::Secret;
use serde_json::Value;
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
