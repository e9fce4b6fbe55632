//! A sealed document that somebody has changed: it opens to what was sealed, or not at all.
use super::world::shape;
use crate::{Seen, Target};
use documents::{
    AnyDocument, Fresh, Heading, Secret, Source, decrypt, limits, read, seal, sealed_document, v1alpha1::Sealed,
};
use std::{collections::BTreeSet, sync::LazyLock};
use zeroize::Zeroizing;

pub(super) const TARGET: Target = Target {
    name: "decryption",
    inputs: 4_000,
    seeds,
    words: &[
        "iterations: ",
        "\"1000\"",
        "1001",
        "salt: ",
        "iv: ",
        "ciphertext: ",
        "cipherAlgorithm: aes-256-gcm",
        "digestAlgorithm: sha-512",
        "keyDerivationAlgorithm: pbkdf2",
        "provider: \"file\"",
        "AAAA",
        "AAAAAAAAAAAAAAAAAAAAAA==",
        "=",
        "\"",
        "---\n",
    ],
    read: target,
};

const TEXT: &[u8] =
    b"apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: KernelModulesConfig\nspec: {modules: [a]}\n";
const PASSPHRASE: &str = "correct horse battery staple";
/// More would only take longer.
const MOST_ROUNDS: u32 = limits::ROUNDS_FEWEST + 1000;
/// Documents of one input that are opened.
const MOST: usize = 4;

static ORIGINALS: LazyLock<Vec<Sealed>> = LazyLock::new(|| {
    let sealed = |text: &[u8], salt: u8| {
        let fresh = Fresh { salt: [salt; 16], iv: [salt ^ 0x55; 12] };
        seal(text, &passphrase(), limits::ROUNDS_FEWEST, fresh).unwrap_or_else(|error| panic!("{error}"))
    };
    vec![sealed(TEXT, 1), sealed(TEXT, 2), sealed(b"", 3)]
});

fn passphrase() -> Secret<Vec<u8>> {
    Secret::new(PASSPHRASE.into())
}

fn seeds() -> Vec<Vec<u8>> {
    let uri = Secret::new("file:///passphrase".to_owned());
    let heading = Heading { name: Some("sealed"), provider: "file", passphrase_uri: &uri, certificate_authority: None };
    let each = ORIGINALS.iter().map(|sealed| format!("---\n{}", sealed_document(sealed, &heading)));
    let all: String = each.clone().collect();
    each.chain([all]).map(String::into_bytes).collect()
}

fn target(input: &[u8]) -> Seen {
    let read = read(vec![Source { name: "input".into(), bytes: Zeroizing::new(input.to_vec()) }]);
    let sealed = read.documents.iter().filter_map(|document| match &document.body {
        AnyDocument::Encrypted(encrypted) => Some(&encrypted.sealed),
        _ => None,
    });
    let opened: Vec<_> = sealed.filter(|sealed| sealed.rounds <= MOST_ROUNDS).take(MOST).map(judged).collect();
    let messages: BTreeSet<_> = read.report.notes.iter().map(|note| shape(&note.message)).collect();
    Seen::new((messages, opened))
}

/// Whether it opened, which only one of the originals may.
fn judged(sealed: &Sealed) -> String {
    assert!((limits::ROUNDS_FEWEST..=limits::ROUNDS_MOST).contains(&sealed.rounds), "rounds out of bounds");
    let is_original = ORIGINALS.contains(sealed);
    match decrypt(sealed, &passphrase()) {
        Ok(text) => {
            assert!(is_original, "something altered was opened");
            assert!(text.is_empty() || *text == TEXT, "it opened to something else");
            "opened".to_owned()
        }
        Err(error) => {
            assert!(!is_original, "an original stays closed: {error}");
            error.to_string()
        }
    }
}
