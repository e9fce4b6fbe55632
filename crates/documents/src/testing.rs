//! Builders for tests: a document from its kind and the rest of its text.
use crate::{
    AnyDocument, KINDS, Kind, Read, Source, limits::Budget, parse::parse, read, stream::Piece, tree::Node,
    v1alpha1::API_VERSION,
};
use zeroize::Zeroizing;

/// A source of this name.
pub(crate) fn source(name: &str, bytes: &[u8]) -> Source {
    Source { name: name.to_owned(), bytes: Zeroizing::new(bytes.to_vec()) }
}

/// The tree of one document.
pub(crate) fn parsed(text: &str) -> Node {
    parse(&Piece { number: 1, line: 1, text }, &mut Budget::default()).unwrap()
}

/// Reads one text.
pub(crate) fn read_text(text: &str) -> Read {
    read(vec![source("node.yaml", text.as_bytes())])
}

/// A document with its marker line.
pub(crate) fn document(kind: &str, rest: &str) -> String {
    format!("---\napiVersion: {API_VERSION}\nkind: {kind}\n{rest}\n")
}

/// A document with this spec.
pub(crate) fn with_spec(kind: &str, spec: &str) -> String {
    document(kind, &format!("spec:\n  {}", spec.trim_start().replace('\n', "\n  ")))
}

/// The kinds that may all stand in one file: what ScopeConfig says counts only inside of something sealed.
pub(crate) fn kinds_of_one_file() -> impl Iterator<Item = &'static Kind> {
    // A machine becomes one node: InitConfig stands for JoinConfig too.
    KINDS.iter().filter(|kind| !["ScopeConfig", "JoinConfig"].contains(&kind.kind))
}

/// `path: message` of every note.
pub(crate) fn found(text: &str) -> Vec<String> {
    read_text(text).report.notes.into_iter().map(|note| format!("{}: {}", note.path, note.message)).collect()
}

/// What one document without errors comes to.
pub(crate) fn read_one(kind: &str, rest: &str) -> AnyDocument {
    let mut read = read_text(&document(kind, rest));
    assert!(!read.report.has_errors(), "{}", read.report);
    read.documents.remove(0).body
}

/// What a spec without errors comes to.
pub(crate) fn spec(kind: &str, spec: &str) -> AnyDocument {
    let text = with_spec(kind, spec);
    read_one(kind, text.split_once("kind: ").and_then(|(_, rest)| rest.split_once('\n')).unwrap().1)
}

/// The paths of all problems of a spec.
pub(crate) fn problems(kind: &str, spec: &str) -> Vec<String> {
    read_text(&with_spec(kind, spec)).report.notes.into_iter().map(|note| note.path).collect()
}
