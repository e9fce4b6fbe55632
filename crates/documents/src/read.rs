//! The way of a configuration from bytes to documents: split, parsed, walked, decoded, checked, compared.
use crate::{
    Decoded, Note, Origin, Report, Source, conflicts,
    duplicates::find_duplicates,
    findings::{Findings, Problem},
    limits::{Budget, DOCUMENTS, NOTES, spend},
    metadata::is_subdomain,
    parse::parse,
    printable::printable,
    registry::{self, Kind},
    report::Severity,
    schema,
    stream::{self, Piece},
    tree::{Node, Place},
};
use std::collections::HashMap;

/// What came out of reading.
#[derive(Debug)]
pub struct Read {
    /// The documents without problems, in the order of the files. They are the whole configuration only if the
    /// report has no errors.
    pub documents: Vec<Decoded>,
    /// Everything that is wrong, in the order of the files.
    pub report: Report,
}

/// Reads a configuration to its end and reports every problem at once.
pub fn read(sources: Vec<Source>) -> Read {
    let mut reader = Reader::default();
    let mut last = String::from("-");
    for (index, source) in sources.into_iter().enumerate() {
        last = printable_name(&source.name);
        reader.source(index, source);
    }
    reader.compare();
    if reader.documents_seen == 0 && reader.notes.is_empty() {
        let problem = Problem::error(Place::START, "", "the input holds no document");
        reader.note(&Scope::of_source(0, last), problem);
    }
    reader.finish()
}

/// A document with its tree, which is kept until documents have been compared with each other.
pub(crate) struct Kept {
    pub(crate) decoded: Decoded,
    pub(crate) root: Node,
    scope: Scope,
}

/// Whose problem it is.
#[derive(Clone)]
struct Scope {
    index: usize,
    source: String,
    number: Option<usize>,
    kind: Option<String>,
    name: Option<String>,
}

impl Scope {
    fn of_source(index: usize, source: String) -> Self {
        Self { index, source, number: None, kind: None, name: None }
    }
}

#[derive(Default)]
struct Reader {
    budget: Budget,
    schemas: HashMap<&'static str, serde_json::Value>,
    documents_seen: usize,
    kept: Vec<Kept>,
    /// With the number of their source, to sort by.
    notes: Vec<(usize, Note)>,
}

impl Reader {
    fn source(&mut self, index: usize, source: Source) {
        let scope = Scope::of_source(index, printable_name(&source.name));
        let bytes = match stream::plain(source.bytes, &mut self.budget) {
            Ok(bytes) => bytes,
            Err(problem) => return self.note(&scope, problem),
        };
        let text = match stream::utf8(&bytes) {
            Ok(text) => text,
            Err(problem) => return self.note(&scope, problem),
        };
        let (pieces, problems) = stream::split(text);
        for problem in problems {
            self.note(&scope, problem);
        }
        for piece in pieces {
            if spend(&mut self.budget.documents, 1).is_none() {
                let place = Place { line: piece.line, column: 1 };
                return self.note(&scope, Problem::error(place, "", format!("more than {DOCUMENTS} documents")));
            }
            self.documents_seen += 1;
            self.document(scope.clone(), &piece);
        }
    }

    fn document(&mut self, mut scope: Scope, piece: &Piece<'_>) {
        scope.number = Some(piece.number);
        let root = match parse(piece, &mut self.budget) {
            Ok(root) => root,
            Err(problem) => return self.note(&scope, problem),
        };
        scope.kind = root.get("kind").and_then(Node::text).map(printable);
        let name = root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::text);
        scope.name = name.filter(|name| is_subdomain(name)).map(str::to_owned);
        let mut findings = Findings::new(&root, &mut self.budget);
        let found = judge(&root, &mut self.schemas, &mut findings);
        let usable = !findings.has_errors();
        for problem in findings.into_problems() {
            self.note(&scope, problem);
        }
        if let Some((kind, (name, body))) = found.filter(|_| usable) {
            let origin = Origin { source: scope.source.clone(), number: piece.number, line: root.place.line };
            self.kept.push(Kept { decoded: Decoded { origin, kind: kind.kind, name, body }, root, scope });
        }
    }

    /// Looks for documents that contradict each other.
    fn compare(&mut self) {
        let decoded: Vec<&Decoded> = self.kept.iter().map(|kept| &kept.decoded).collect();
        let mut notes = Vec::new();
        for conflict in conflicts::find(&decoded) {
            let Kept { root, scope, .. } = &self.kept[conflict.document];
            let mut findings = Findings::new(root, &mut self.budget);
            findings.error(&conflict.path, conflict.message);
            notes.extend(findings.into_problems().into_iter().map(|problem| (scope.clone(), problem)));
        }
        for (scope, problem) in notes {
            self.note(&scope, problem);
        }
    }

    fn note(&mut self, scope: &Scope, problem: Problem) {
        let Scope { index, source, number, kind, name } = scope.clone();
        let Problem { severity, place, path, message, hint } = problem;
        let Place { line, column } = place;
        let note = Note { severity, source, line, column, document: number, kind, name, path, message, hint };
        self.notes.push((index, note));
    }

    fn finish(mut self) -> Read {
        self.notes.sort_by_key(|(index, note)| (*index, note.line, note.column));
        let mut notes: Vec<Note> = self.notes.into_iter().map(|(_, note)| note).collect();
        if notes.len() > NOTES {
            let message = format!("and {} more problems", notes.len() - NOTES);
            notes.truncate(NOTES);
            let last = notes[NOTES - 1].clone();
            notes.push(Note { severity: Severity::Error, path: String::new(), message, hint: None, ..last });
        }
        Read { documents: self.kept.into_iter().map(|kept| kept.decoded).collect(), report: Report { notes } }
    }
}

/// Form first, meaning second: a document is decoded and checked only once its form is right.
fn judge(
    root: &Node,
    schemas: &mut HashMap<&'static str, serde_json::Value>,
    findings: &mut Findings<'_>,
) -> Option<(&'static Kind, registry::Body)> {
    find_duplicates(root, "", findings);
    let kind = registry::find(root, findings)?;
    schema::walk(root, schemas.entry(kind.kind).or_insert_with(kind.schema), "", findings);
    if findings.has_errors() {
        return None;
    }
    (kind.decode)(root, findings).map(|body| (kind, body))
}

/// A file's name, fit for a report; it is not cut, because it is the user's own.
fn printable_name(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
