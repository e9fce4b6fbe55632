//! The JSON schema over the repository's cases: it accepts every positive one, and judges every document of the negative
//! ones as the reader does, or the case's `schema.txt` says why it cannot.
//!
//! A line of `schema.txt` is `document 3: reason`, or `file: reason` where the file has no documents to judge.
use super::examples::as_json;
use crate::{
    Severity, json_schema,
    limits::Budget,
    parse::parse,
    read,
    stream::{Piece, plain, split, utf8},
    testing::source,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A document of a case by its number; `None` is the file as a whole.
type Place = Option<usize>;

/// What a case must say before it is as it should be; empty when nothing.
fn disagreements(case: &Path, schema: &jsonschema::Validator) -> Vec<String> {
    let bytes = configuration(case);
    let errors = read(vec![source("-", &bytes)]).report.notes.into_iter();
    let refused: BTreeSet<Place> =
        errors.filter(|note| note.severity == Severity::Error).map(|note| note.document).collect();
    let by_schema = verdicts(&bytes, schema);
    let reasons = reasons(case);
    let places: BTreeSet<&Place> = refused.iter().chain(by_schema.keys()).chain(reasons.keys()).collect();
    let disagrees = |place: &Place| {
        let (is_refused, refused_by_schema) = (refused.contains(place), by_schema.get(place) == Some(&Refused::Yes));
        match (is_refused, refused_by_schema, reasons.contains_key(place)) {
            (true, true, false) | (true, false, true) | (false, false, false) => None,
            (true, false, false) => Some("the schema accepts it, and schema.txt does not say why"),
            (true, true, true) => Some("the schema refuses it: its line in schema.txt is out of date"),
            (false, true, _) => Some("the schema refuses what the reader accepts"),
            (false, false, true) => Some("schema.txt explains what is not refused"),
        }
    };
    let found = places.into_iter().filter_map(|place| Some((place, disagrees(place)?)));
    found.map(|(place, why)| format!("{} {place:?}: {why}", case.display())).collect()
}

/// What the schema says of a document.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Yes,
    No,
    /// It is no document that a program for schemas could read.
    Unreadable,
}

/// The schema's verdict on each document of a file.
fn verdicts(bytes: &[u8], schema: &jsonschema::Validator) -> BTreeMap<Place, Refused> {
    let Ok(text) = plain(bytes.to_vec().into(), &mut Budget::default()) else { return BTreeMap::new() };
    let Ok(text) = utf8(&text) else { return BTreeMap::new() };
    let verdict = |piece: &Piece<'_>| match parse(piece, &mut Budget::default()) {
        Err(_) => Refused::Unreadable,
        Ok(_) if schema.is_valid(&as_json(piece.text)) => Refused::No,
        Ok(_) => Refused::Yes,
    };
    split(text).0.iter().map(|piece| (Some(piece.number), verdict(piece))).collect()
}

fn reasons(case: &Path) -> BTreeMap<Place, String> {
    let text = fs::read_to_string(case.join("schema.txt")).unwrap_or_default();
    let lines = text.lines().map(|line| {
        let (place, reason) =
            line.split_once(": ").filter(|(_, reason)| reason.len() > 10).expect("a place and a reason");
        let number = place.strip_prefix("document ").map(|number| number.parse().expect("a number"));
        assert!(number.is_some() || place == "file", "{}: {line}", case.display());
        (number, reason.to_owned())
    });
    lines.collect()
}

/// The configuration of a case, whatever its ending.
fn configuration(case: &Path) -> Vec<u8> {
    let mut files = fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path());
    let is_configuration = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("config.");
    fs::read(files.find(is_configuration).expect("the case has a configuration")).unwrap()
}

fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(kind);
    let mut cases: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

#[test]
fn the_schema_accepts_every_positive_case() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    let mut seen = 0;
    for case in cases("positive") {
        let verdicts = verdicts(&configuration(&case), &schema);
        assert!(verdicts.values().all(|verdict| *verdict == Refused::No), "{}: {verdicts:?}", case.display());
        seen += verdicts.len();
    }
    assert!(seen > 4);
}

#[test]
fn the_schema_agrees_on_every_negative_case_or_the_case_says_why_not() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    let cases = cases("negative");
    assert!(cases.len() > 20, "the cases are gone");
    let disagreements: Vec<String> = cases.iter().flat_map(|case| disagreements(case, &schema)).collect();
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}
