//! A configuration that points elsewhere and holds sealed parts: parts of the input serve each other.
use super::world::{self, World};
use crate::{Seen, Target};
use documents::{AnyDocument, KINDS, limits};
use std::collections::BTreeSet;

pub(super) const TARGET: Target = Target {
    name: "expansion",
    inputs: 1_500,
    seeds,
    words: &[
        "\n%part\n",
        "\n%seal 1\n",
        "\n%seal 2\n",
        "\n%seal 3\n",
        "---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: RemoteConfig\n",
        "spec: {provider: file, uri: 'file:///1'}\n",
        "spec: {provider: https, uri: 'https://h/2?q=hunter2'",
        ", require: encrypted",
        ", allow: [localFiles, descriptors, loopback, linkLocal]",
        ", passphraseURIs: ['file:///passphrase']",
        ", timeout: 1s",
        "---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ScopeConfig\n",
        "spec: {machines: {hostnames: [node-7]}}\n",
        "notAfter: '2020-01-01T00:00:00Z'",
        "hunter2",
        "kind: ",
        "spec: ",
        "metadata: {name: ",
    ],
    read: target,
};

const HEAD: &str = "---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\n";

/// Configurations of several parts: the first lies on the machine, the others are served or sealed.
fn seeds() -> Vec<Vec<u8>> {
    let remote = |uri: &str, more: &str| {
        let provider = uri.split(':').next().unwrap_or_default();
        format!("{HEAD}kind: RemoteConfig\nspec: {{provider: {provider}, uri: '{uri}'{more}}}\n")
    };
    let file = |content: &str| {
        format!("{HEAD}kind: FilesConfig\nspec: {{files: [{{path: /etc/{content}, content: {content}}}]}}\n")
    };
    let scope = format!("{HEAD}kind: ScopeConfig\nspec: {{machines: {{hostnames: [node-7]}}}}\n");
    let wrong = format!("{HEAD}kind: FilesConfig\nspec: {{hunter2: [hunter2], files: [{{hunter2: hunter2}}]}}\n");
    let sealed = |number: usize| format!("\n%seal {number}\n");
    let all: String = KINDS.iter().filter(|kind| kind.kind != "EncryptedConfig").map(|kind| kind.example).collect();
    let foreign =
        "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: hunter2}\nspec: [hunter2, 1]\n".to_owned();
    let parts: [Vec<String>; 10] = [
        vec![remote("file:///1", ""), file("a")],
        vec![sealed(1), [scope.clone(), file("hunter2")].concat()],
        vec![sealed(1), wrong],
        vec![sealed(1), format!("{HEAD}kind: hunter2\nmetadata: {{name: hunter2}}\nspec: hunter2\n")],
        vec![remote("https://h/1", ", require: encrypted, allow: [localFiles]"), sealed(2), file("hunter2")],
        vec![remote("https://h/1", ", allow: [loopback]"), remote("https://h/2", ""), remote("https://h/1", "")],
        vec![sealed(1), [scope, sealed(2)].concat(), remote("https://user:hunter2@h/3?hunter2", ""), file("hunter2")],
        vec![[sealed(1), sealed(1), remote("file:///2", "")].concat(), file("a"), file("b")],
        vec![sealed(1), all],
        vec![[sealed(1), file("a")].concat(), foreign],
    ];
    parts.iter().map(|parts| parts.join(world::SEPARATOR).into_bytes()).collect()
}

/// A kind of ours, or that it is another's.
pub(super) fn known_kind(kind: &str) -> &str {
    KINDS.iter().find(|known| known.kind == kind).map_or("another's", |known| known.kind)
}

/// All is replaced or something is said about it; limits hold; no word that only lay sealed is told.
fn target(input: &[u8]) -> Seen {
    let world = World::of(input);
    let read = world.open();
    let (notes, asked) = (&read.report.notes, world.asked.borrow());
    assert!(asked.len() <= limits::FETCHES, "{} fetches", asked.len());
    assert!(asked.iter().all(|asked| asked.limit <= limits::TEXT_BYTES && !asked.timeout.is_zero()));
    assert!(asked.iter().all(|asked| asked.rights.and(asked.redirect_rights) == asked.redirect_rights));
    assert!(read.documents.len() + read.replaced.len() <= limits::DOCUMENTS && notes.len() <= limits::NOTES);
    assert!(notes.iter().all(|note| note.line >= 1 && note.column >= 1), "a problem without a place");
    let stands_for_others =
        |body: &AnyDocument| matches!(body, AnyDocument::Remote(_) | AnyDocument::Encrypted(_) | AnyDocument::Scope(_));
    if read.report.has_errors() {
        assert!(!notes.is_empty(), "an error without a word");
    } else {
        assert!(!read.documents.is_empty() || !read.replaced.is_empty(), "neither a document nor a problem");
        assert!(!read.documents.iter().any(|document| stands_for_others(&document.body)), "something was not expanded");
        assert!(read.replaced.iter().all(|document| stands_for_others(&document.body)), "too much was replaced");
    }
    assert!(!format!("{read:?}").contains(world::PASSPHRASE), "a passphrase in what is shown");
    let printed = read.report.to_string();
    assert!(world.is_in_the_open(world::SECRET) || !printed.contains(world::SECRET), "a sealed word in a report");
    assert!(!printed.chars().any(|c| c.is_control() && c != '\n'), "a control character in a report");
    let messages: BTreeSet<_> = notes.iter().map(|note| world::shape(&note.message)).collect();
    let kinds: BTreeSet<_> = read.documents.iter().map(|document| known_kind(&document.kind)).collect();
    Seen::new((kinds, messages, asked.len().min(9), read.replaced.len().min(9)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_reach_what_they_are_about() {
        let reads: Vec<_> = seeds().iter().map(|seed| World::of(seed).open()).collect();
        let sealed = |number: usize| reads[number].documents.iter().filter(|document| document.sealed).count();
        let errors: Vec<_> = reads.iter().map(|read| read.report.has_errors()).collect();
        assert_eq!(errors, [false, false, true, true, false, true, false, true, true, false]);
        assert_eq!([sealed(0), sealed(1), sealed(4), sealed(6), sealed(9)], [0, 1, 1, 1, 1]);
    }

    #[test]
    fn a_word_that_only_lies_sealed_is_not_in_the_open() {
        let worlds: Vec<_> = seeds().iter().map(|seed| World::of(seed)).collect();
        worlds.iter().for_each(|world| drop(world.open()));
        let open: Vec<_> = worlds.iter().map(|world| world.is_in_the_open(world::SECRET)).collect();
        assert!(!open[1] && !open[2] && !open[3] && !open[4], "{open:?}");
    }
}
