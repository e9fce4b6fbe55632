//! The files of a control plane node, spoiled: they are a whole set, or every reason why not is reported.
use super::certs_secret::{key, now, recorded};
use crate::{Seen, Target};
use certs::{
    CertificateSet, Etcd, FileName, FileSet, Found, KubeadmCerts, Problem, check_upload, files::Content,
    public_key::PublicKey,
};
use secret::Secret;
use std::collections::{BTreeMap, BTreeSet};

/// What stands before the name of each file in an input.
const MARK: &str = "### ";

pub(super) const TARGET: Target = Target {
    name: "pem_set",
    inputs: 4_000,
    seeds,
    words: &[
        "### ca.key\n",
        "### sa.pub\n",
        "### etcd-ca.crt\n",
        "-----BEGIN CERTIFICATE-----\n",
        "-----END CERTIFICATE-----\n",
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----\n",
        "-----BEGIN RSA PUBLIC KEY-----\n",
        " PUBLIC KEY-----\n",
        "ENCRYPTED ",
        "MIG",
        "AAAA",
        "=",
    ],
    read: target,
};

/// The files of the recorded Secret, one after the other, and the same with two keys exchanged.
fn seeds() -> Vec<Vec<u8>> {
    let secret = recorded();
    let certs = KubeadmCerts::read(&secret).unwrap_or_else(|error| panic!("{error}"));
    let found = certs.decrypt(&FileSet::new(&Etcd::Stacked), &key());
    let input = |renamed: fn(FileName) -> FileName| {
        let files = found.iter().filter_map(|(name, found)| match found {
            Found::Content(content) => Some((format!("{MARK}{}\n", renamed(*name).entry()), content.expose())),
            _ => None,
        });
        files.flat_map(|(mark, content)| [mark.as_bytes(), content].concat()).collect()
    };
    vec![input(|name| name), input(exchanged)]
}

fn exchanged(name: FileName) -> FileName {
    match name {
        FileName::CaKey => FileName::ServiceAccountKey,
        FileName::ServiceAccountKey => FileName::CaKey,
        other => other,
    }
}

fn target(input: &[u8]) -> Seen {
    let files = FileSet::new(&Etcd::Stacked);
    let found = split(&files, input);
    match check_upload(&files, found.clone(), now()) {
        Ok(set) => {
            belongs_together(&set);
            for name in found.keys() {
                is_missed(&files, &found, *name);
            }
            Seen::new("whole")
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            problems.iter().for_each(|problem| is_fit_to_show(problem, &found));
            Seen::new(problems.iter().map(ToString::to_string).collect::<BTreeSet<_>>())
        }
    }
}

/// The files of an input, by their marks. Where a mark stands twice, the last one counts.
fn split(files: &FileSet, input: &[u8]) -> BTreeMap<FileName, Found> {
    let mut contents: BTreeMap<FileName, Vec<u8>> = BTreeMap::new();
    let mut current = None;
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        let named = line.strip_prefix(MARK.as_bytes()).map(<[u8]>::trim_ascii);
        let named = named.and_then(|entry| files.files().iter().find(|file| file.name.entry().as_bytes() == entry));
        match (named, current) {
            (Some(file), _) => {
                contents.insert(file.name, Vec::new());
                current = Some(file.name);
            }
            (None, Some(name)) => contents.entry(name).or_default().extend_from_slice(line),
            (None, None) => {}
        }
    }
    contents.into_iter().map(|(name, content)| (name, Found::Content(Secret::new(content)))).collect()
}

/// Every certificate and public key has its private key, by a way that the check does not go.
fn belongs_together(set: &CertificateSet) {
    let content = |name| set.files().iter().find(|(file, _)| file.name == name).map(|(_, content)| content.expose());
    for (file, own) in set.files() {
        let Some(key) = file.name.key() else { continue };
        let private = content(key).and_then(|text| PublicKey::of_private_key(text).ok());
        let public = PublicKey::all_in(own.expose()).unwrap_or_default();
        assert!(private.is_some_and(|private| public.contains(&private)), "{} has another key", file.location);
    }
}

/// A set without one of its files is none, and the file is named.
fn is_missed(files: &FileSet, found: &BTreeMap<FileName, Found>, name: FileName) {
    let mut found = found.clone();
    found.remove(&name);
    let problems = check_upload(files, found, now()).err().unwrap_or_default();
    assert!(problems.iter().any(|problem| problem.file.name == name), "{} is not missed", name.entry());
}

/// A problem is one line of text and quotes no line of a private file.
fn is_fit_to_show(problem: &Problem, found: &BTreeMap<FileName, Found>) {
    let text = problem.to_string();
    assert!(!text.contains(char::is_control), "a control character in {text:?}");
    let Some(Found::Content(content)) = found.get(&problem.file.name) else { return };
    let is_private = problem.file.name.content() == Content::PrivateKey;
    let mut lines = content.expose().split(|byte| *byte == b'\n').filter(|line| line.len() > 40);
    assert!(!is_private || !lines.any(|line| text.as_bytes().windows(line.len()).any(|part| part == line)), "{text}");
}
