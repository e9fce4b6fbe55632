//! What real kubeadm computed and recorded: keys, encrypted entries, the kubeadm-certs Secret with its files, and roles.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use base64::{Engine, prelude::BASE64_STANDARD};
use discovery::certificate::CaBundle;
use jiff::Timestamp;
use machineadm_certs::{
    CertificateKey, CertificateSet, Etcd, FileName, FileSet, Found, KubeadmCerts, Owner, SetEncryption,
    access::access_objects,
    check_download, check_upload,
    entry::{DecryptError, NONCE_BYTES, decrypt},
    secret_object,
};
use objects::{Role, RoleBinding, Secret};
use serde_json::Value;
use std::collections::BTreeMap;

const KEY: &str = include_str!("vectors/real/kubeadm-certs.known-key.txt");
const CA: &[u8] = include_bytes!("vectors/real/pki/ca.crt");

/// The files that the recorded Secret was made of.
const FILES: [(&str, &[u8]); 8] = [
    ("ca.crt", CA),
    ("ca.key", include_bytes!("vectors/real/pki/ca.key")),
    ("front-proxy-ca.crt", include_bytes!("vectors/real/pki/front-proxy-ca.crt")),
    ("front-proxy-ca.key", include_bytes!("vectors/real/pki/front-proxy-ca.key")),
    ("sa.pub", include_bytes!("vectors/real/pki/sa.pub")),
    ("sa.key", include_bytes!("vectors/real/pki/sa.key")),
    ("etcd-ca.crt", include_bytes!("vectors/real/pki/etcd/ca.crt")),
    ("etcd-ca.key", include_bytes!("vectors/real/pki/etcd/ca.key")),
];

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/certificate-key-and-aesgcm.json")).unwrap()
}

fn recorded() -> Secret {
    serde_json::from_str(include_str!("vectors/real/kubeadm-certs.secret.known-key.json")).unwrap()
}

fn key() -> CertificateKey {
    KEY.trim().parse().unwrap()
}

fn now() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(text(value)).unwrap()
}

fn contents(set: &CertificateSet) -> BTreeMap<&'static str, Vec<u8>> {
    set.files().iter().map(|(file, content)| (file.name.entry(), content.expose().clone())).collect()
}

/// What a node has on its disk.
fn on_disk() -> BTreeMap<FileName, Found> {
    let files = FileSet::new(&Etcd::Stacked);
    let content = |entry| FILES.iter().find(|(name, _)| *name == entry).unwrap().1.to_vec();
    let found = |name: FileName| (name, Found::Content(secret::Secret::new(content(name.entry()))));
    files.files().iter().map(|file| found(file.name)).collect()
}

/// Bytes that differ each time, as those of a generator do.
fn entropy(seed: u8) -> impl FnMut(&mut [u8]) {
    let mut count = 0;
    move |bytes| {
        count += 1;
        bytes.fill(seed);
        bytes[0] = count;
    }
}

#[test]
fn keys_are_accepted_and_refused_as_upstream_does() {
    for row in vectors()["key_validation"].as_array().unwrap() {
        let verdict = text(&row["key"]).parse::<CertificateKey>();
        assert_eq!(verdict.is_ok(), row["errors"].is_null(), "{row}");
    }
}

#[test]
fn entries_that_upstream_encrypted_decrypt_and_encrypt_to_the_same_bytes() {
    let vectors = vectors();
    let key: CertificateKey = text(&vectors["key_hex"]).parse().unwrap();
    for row in vectors["encrypted_by_upstream"].as_array().unwrap() {
        let (plain, entry) = (bytes(&row["plaintext_b64"]), bytes(&row["blob_b64"]));
        let content = decrypt(&key, &entry).unwrap();
        assert_eq!(*content.expose(), plain);
        let nonce: [u8; NONCE_BYTES] = objects::hex::decode(text(&row["nonce_hex"])).unwrap();
        let mut again = SetEncryption::new(&key, |bytes: &mut [u8]| bytes.copy_from_slice(&nonce));
        assert_eq!(again.encrypt(&content).unwrap().expose(), entry);
    }
}

#[test]
fn entries_are_decrypted_and_refused_as_upstream_does() {
    for row in vectors()["decrypt_cases"].as_array().unwrap() {
        // A key that is none is refused before.
        let Ok(key) = text(&row["key_hex"]).parse::<CertificateKey>() else { continue };
        let expected = match text(&row["case"]) {
            "ok" => Ok(text(&row["plaintext"]).as_bytes().to_vec()),
            "11 bytes" => Err(DecryptError::Short(11)),
            _ => Err(DecryptError::WrongKeyOrDamaged),
        };
        let decrypted = decrypt(&key, &bytes(&row["blob_b64"])).map(|content| content.expose().clone());
        assert_eq!(decrypted, expected, "{}", row["case"]);
    }
}

#[test]
fn the_recorded_secret_of_kubeadm_decrypts_to_the_files_that_it_was_made_of() {
    let (secret, files) = (recorded(), FileSet::new(&Etcd::Stacked));
    let certs = KubeadmCerts::read(&secret).unwrap();
    let owner = Owner { id: "5iyk37".parse().unwrap(), uid: "cc89eabc-3688-40ac-a9f4-a589a362899d".to_owned() };
    assert_eq!(certs.owner(), Some(owner));
    let discovered = CaBundle::read(CA.to_vec()).unwrap();
    let set = check_download(&files, certs.decrypt(&files, &key()), &discovered, now()).unwrap();
    assert_eq!(contents(&set), FILES.map(|(name, content)| (name, content.to_vec())).into());
}

#[test]
fn another_key_or_a_damaged_entry_is_named_for_each_file() {
    let (mut secret, files) = (recorded(), FileSet::new(&Etcd::Stacked));
    let none = CaBundle::default();
    let problems = |secret: &Secret, key: &CertificateKey| {
        let found = KubeadmCerts::read(secret).unwrap().decrypt(&files, key);
        let problems = check_download(&files, found, &none, now()).unwrap_err();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let other = CertificateKey::generate(|bytes| bytes.fill(1));
    let wrong = problems(&secret, &other);
    assert_eq!(wrong.len(), 8);
    assert!(wrong.iter().all(|problem| problem.contains("the certificate key is not the one")), "{wrong:?}");

    secret.data.insert("etcd-ca.key".to_owned(), Vec::new().into());
    secret.data.insert("sa.key".to_owned(), vec![7; 27].into());
    secret.data.remove("front-proxy-ca.key");
    assert_eq!(
        problems(&secret, &key()),
        [
            "front-proxy-ca.key is missing",
            "sa.key has 27 bytes in the Secret, less than the 28 of a nonce and a tag: it was truncated",
            "etcd/ca.key is empty in the Secret: the file was missing on the node that uploaded it",
        ]
    );
}

#[test]
fn a_secret_of_ours_has_the_shape_of_kubeadms_and_is_read_back() {
    let (recorded, files) = (recorded(), FileSet::new(&Etcd::Stacked));
    let set = check_upload(&files, on_disk(), now()).unwrap();
    let owner = KubeadmCerts::read(&recorded).unwrap().owner().unwrap();
    let secret = secret_object::secret(&set, SetEncryption::new(&key(), entropy(1)), &owner).unwrap();
    assert_eq!(secret.metadata.owner_references, recorded.metadata.owner_references);
    let shape = |secret: &Secret| {
        let lengths: BTreeMap<_, _> =
            secret.data.iter().map(|(name, entry)| (name.clone(), entry.expose().len())).collect();
        let names = (secret.metadata.namespace.clone(), secret.metadata.name.clone());
        (secret.api_version.clone(), secret.kind.clone(), names, secret.secret_type.clone(), lengths)
    };
    assert_eq!(shape(&secret), shape(&recorded));

    let wire: Secret = serde_json::from_slice(&serde_json::to_vec(&secret).unwrap()).unwrap();
    let found = KubeadmCerts::read(&wire).unwrap().decrypt(&files, &key());
    let again = check_download(&files, found, &CaBundle::default(), now()).unwrap();
    assert_eq!(contents(&again), contents(&set));
}

#[test]
fn without_its_key_a_secret_shows_nothing_of_its_files() {
    let set = check_upload(&FileSet::new(&Etcd::Stacked), on_disk(), now()).unwrap();
    let owner = Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() };
    let secret = secret_object::secret(&set, SetEncryption::new(&key(), entropy(1)), &owner).unwrap();
    let wire = serde_json::to_vec(&secret).unwrap();
    let all: Vec<u8> = secret.data.values().flat_map(|entry| entry.expose().to_vec()).chain(wire).collect();
    let shown = |bytes: &[u8]| all.windows(bytes.len()).any(|window| window == bytes);
    let digits = key().expose_digits();
    let key: [u8; 32] = objects::hex::decode(&digits).unwrap();
    assert!(!shown(&key) && !shown(digits.as_bytes()) && !shown(KEY.trim().as_bytes()));
    for (name, content) in FILES {
        // Any 16 bytes in a row; lines of different files have less than that in common with random bytes.
        assert!(!content.windows(16).any(shown), "{name}");
    }
}

#[test]
fn two_uploads_under_one_key_share_no_nonce_and_no_entry() {
    let set = check_upload(&FileSet::new(&Etcd::Stacked), on_disk(), now()).unwrap();
    let owner = Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() };
    let key = key();
    let entries = [1, 2]
        .map(|seed| secret_object::secret(&set, SetEncryption::new(&key, entropy(seed)), &owner).unwrap().data.clone());
    let all: Vec<_> = entries.iter().flat_map(|entries| entries.values()).map(|entry| entry.expose()).collect();
    let mut nonces: Vec<_> = all.iter().map(|entry| &entry[..NONCE_BYTES]).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!((all.len(), nonces.len()), (16, 16));
    for (name, entry) in &entries[0] {
        assert_ne!(entry.expose()[NONCE_BYTES..], entries[1][name].expose()[NONCE_BYTES..], "{name}");
    }
}

#[test]
fn the_role_lets_bootstrap_tokens_get_that_secret_and_nothing_else_as_kubeadms_does() {
    let [role, binding] = access_objects().map(|object| serde_json::to_value(object).unwrap());
    let (role, binding): (Role, RoleBinding) =
        (serde_json::from_value(role).unwrap(), serde_json::from_value(binding).unwrap());
    let real: Role = serde_json::from_str(include_str!("vectors/real/rbac.role_kubeadm_kubeadm-certs.json")).unwrap();
    let names = |metadata: &objects::ObjectMeta| (metadata.namespace.clone(), metadata.name.clone());
    assert_eq!((role.rules, names(&role.metadata)), (real.rules, names(&real.metadata)));
    let real: RoleBinding =
        serde_json::from_str(include_str!("vectors/real/rbac.rolebinding_kubeadm_kubeadm-certs.json")).unwrap();
    assert_eq!(names(&binding.metadata), names(&real.metadata));
    assert_eq!((binding.subjects, binding.role_ref), (real.subjects, real.role_ref));
}
