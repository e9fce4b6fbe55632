//! A kubeadm-certs Secret that somebody has changed: each entry decrypts to what was encrypted, or not at all.
use crate::{Seen, Target};
use certs::{
    CertificateKey, Etcd, ExternalEtcd, FileName, FileSet, Found, KubeadmCerts, check_download, entry::decrypt,
};
use discovery::certificate::CaBundle;
use jiff::Timestamp;
use objects::Secret;
use std::{collections::BTreeMap, sync::LazyLock};

const REAL: &str = include_str!("../seeds/kubeadm-certs.secret.json");
/// The key of the recorded Secret, which protects nothing.
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
/// A day after the recording.
const NOW: i64 = 1_794_830_400;

pub(super) const TARGET: Target = Target {
    name: "certs_secret",
    inputs: 10_000,
    seeds: || vec![REAL.into()],
    words: &[
        "\"ca.crt\": \"",
        "\"ca.key\": \"\",",
        "\"etcd-ca.key\": \"",
        "\"external-etcd-ca.crt\": \"",
        "\"external-etcd.key\": \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\",",
        "\"ownerReferences\": [],",
        "\"deletionTimestamp\": \"2026-11-15T12:34:56Z\",",
        "bootstrap-token-abcdef",
        "kubeadm-certs",
        "Opaque",
        "null",
        "AAAA",
    ],
    read: target,
};

/// The recorded entries, encrypted, with what they decrypt to.
static ORIGINALS: LazyLock<BTreeMap<Vec<u8>, Vec<u8>>> = LazyLock::new(|| {
    let plain = |entry: &[u8]| decrypt(&key(), entry).map(|content| content.expose().clone());
    let entries = recorded().data.clone().into_values();
    entries.map(|entry| (entry.expose().to_vec(), plain(entry.expose()).unwrap_or_default())).collect()
});

/// The Secret that real kubeadm wrote.
pub(super) fn recorded() -> Secret {
    serde_json::from_str(REAL).unwrap_or_else(|error| panic!("{error}"))
}

/// Its key.
pub(super) fn key() -> CertificateKey {
    KEY.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// A time at which its certificates are valid.
pub(super) fn now() -> Timestamp {
    Timestamp::from_second(NOW).unwrap_or_default()
}

fn target(input: &[u8]) -> Seen {
    let Ok(secret) = serde_json::from_slice::<Secret>(input) else { return Seen::new("no Secret") };
    let certs = match KubeadmCerts::read(&secret) {
        Ok(certs) => certs,
        Err(error) => return Seen::new(error.to_string()),
    };
    let path = || Some("/etcd.pem".into());
    let external = ExternalEtcd { ca_file: path(), cert_file: path(), key_file: path() };
    let ways = [Etcd::Stacked, Etcd::External(external)].map(|etcd| judged(&secret, &certs, &FileSet::new(&etcd)));
    Seen::new((ways, certs.owner().is_some(), certs.entries().count().min(12)))
}

/// What the check says of a set.
fn judged(secret: &Secret, certs: &KubeadmCerts<'_>, files: &FileSet) -> Vec<String> {
    let found = certs.decrypt(files, &key());
    found.iter().for_each(|(name, found)| is_original(secret, *name, found));
    let ca = recorded().data["ca.crt"].expose().to_vec();
    let discovered = CaBundle::read(ORIGINALS[&ca].clone()).unwrap_or_default();
    match check_download(files, found, &discovered, now()) {
        Ok(set) => {
            assert_eq!(set.files().len(), files.files().len(), "a part of a set");
            let own = secret.data.get("ca.crt").map(|entry| entry.expose());
            assert_eq!(own, Some(&ca[..]), "another CA than the discovered one");
            Vec::new()
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            problems.iter().map(ToString::to_string).collect()
        }
    }
}

fn is_original(secret: &Secret, name: FileName, found: &Found) {
    let entry = secret.data.get(name.entry()).map(|entry| entry.expose());
    let original = entry.and_then(|entry| ORIGINALS.get(entry));
    let content = match found {
        Found::Content(content) => Some(content.expose()),
        _ => None,
    };
    assert_eq!(content, original, "{}: decrypted to something else, or an original was not", name.entry());
    assert_eq!(entry.is_none(), matches!(found, Found::Missing), "{}", name.entry());
}
