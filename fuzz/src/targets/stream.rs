//! A configuration as it comes from user data.
use crate::{Seen, Target};
use documents::{KINDS, Source, limits, read};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

pub(super) const TARGET: Target = Target {
    name: "stream",
    inputs: 1_500,
    seeds,
    words: &[
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\n",
        "kind: ",
        "FilesConfig",
        "EncryptedConfig",
        "metadata:\n  name: ",
        "spec:\n",
        "- ",
        "  ",
        ": ",
        "\"",
        "content: ",
        "encoding: gzip+base64",
        "H4sIAAAAAAAA",
        "&a ",
        "*a",
        "<<: ",
        "!!str ",
        "|\n",
        "# ",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    let examples = KINDS.iter().map(|kind| kind.example.as_bytes().to_vec());
    let all = KINDS.iter().map(|kind| kind.example).collect::<Vec<_>>().join("---\n");
    let foreign = b"apiVersion: example.com/v1\nkind: Widget\nspec: {a: [1, ~, 0x1F]}\n".to_vec();
    examples.chain([all.into_bytes(), foreign, b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec()]).collect()
}

/// Either every document is usable or something is said about it, and what is said stays short.
fn target(input: &[u8]) -> Seen {
    let read = read(vec![Source { name: "input".into(), bytes: Zeroizing::new(input.to_vec()) }]);
    let notes = &read.report.notes;
    assert!(read.report.has_errors() || !read.documents.is_empty(), "neither a document nor a problem");
    assert!(read.documents.len() <= limits::DOCUMENTS && notes.len() <= limits::NOTES);
    assert!(notes.iter().all(|note| note.line >= 1 && note.column >= 1), "a problem without a place");
    let printed = read.report.to_string();
    assert!(!printed.chars().any(|c| c.is_control() && c != '\n'), "a control character in a report");
    let messages: BTreeSet<_> = notes.iter().map(|note| &note.message).collect();
    let kinds: BTreeSet<_> =
        read.documents.iter().map(|document| super::expansion::known_kind(&document.kind)).collect();
    Seen::new((kinds, messages))
}
