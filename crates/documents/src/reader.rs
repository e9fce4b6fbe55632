//! The reader: takes sources in one after the other under one budget, and keeps documents and problems.
use crate::{
    AnyDocument, Decoded, Fault, Note, Origin, ProviderError, Read, Report, Source,
    compare::{Listed, compare},
    constraints::Constraints,
    discreet::{any_document, known_part},
    duplicates::find_duplicates,
    findings::{Findings, Problem, Quotes},
    foreign::{self, ForeignKinds},
    header::{self, Owner},
    known_format::KnownFormat,
    limits::{Budget, DOCUMENTS, spend},
    mend::mend,
    metadata::{Header, is_subdomain},
    parse::parse,
    path,
    printable::printable,
    registry::{Content, KINDS},
    schema,
    stream::{self, Piece},
    tree::{Node, Place},
    v1alpha1::check_place,
};
use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
};

/// A document with its tree, which is kept until documents have been compared with each other.
pub(crate) struct Kept {
    pub(crate) decoded: Decoded,
    pub(crate) root: Arc<Node>,
    constraints: Constraints,
    whose: Whose,
    /// The paths of what is invalid in it. A document that has some is compared with others and never used.
    invalid: HashSet<String>,
}

/// How a source is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Whether words of it may be quoted.
    pub(crate) quotes: Quotes,
    /// Whether it may begin with a ScopeConfig.
    pub(crate) scope: ScopeHere,
}

/// Where a ScopeConfig may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeHere {
    /// This was not sealed.
    Nowhere,
    /// This was sealed, or is about to be: as the first document.
    First,
    /// The same, with a word about it: nobody knows whether this is going to be sealed.
    FirstToBeSealed,
}

/// Whose problem it is.
#[derive(Clone)]
struct Whose {
    index: usize,
    source: String,
    quotes: Quotes,
    number: Option<usize>,
    kind: Option<String>,
    name: Option<String>,
}

/// What has been read so far.
pub(crate) struct Reader {
    pub(crate) budget: Budget,
    foreign: ForeignKinds,
    schemas: HashMap<&'static str, serde_json::Value>,
    sources_seen: usize,
    documents_seen: usize,
    errors: usize,
    kept: Vec<Kept>,
    /// With the number of their source, to sort by.
    notes: Vec<(usize, Note)>,
    /// The notes of the last comparison.
    comparison: Vec<(usize, Note)>,
}

impl Reader {
    /// Nothing has been read.
    pub(crate) fn new(foreign: ForeignKinds) -> Self {
        Self {
            budget: Budget::default(),
            foreign,
            schemas: HashMap::new(),
            sources_seen: 0,
            documents_seen: 0,
            errors: 0,
            kept: Vec::new(),
            notes: Vec::new(),
            comparison: Vec::new(),
        }
    }

    /// Reads one source to its end.
    pub(crate) fn source(&mut self, source: Source, manner: Manner) {
        let whose = Whose {
            index: self.sources_seen,
            source: printable_name(&source.name),
            quotes: manner.quotes,
            number: None,
            kind: None,
            name: None,
        };
        self.sources_seen += 1;
        let bytes = match stream::plain(source.bytes, &mut self.budget) {
            Ok(bytes) => bytes,
            Err(problem) => return self.note(&whose, problem),
        };
        let text = match stream::utf8(&bytes) {
            Ok(text) => text,
            Err(problem) => return self.note(&whose, problem),
        };
        let (pieces, problems) = stream::split(text);
        for problem in problems {
            self.note(&whose, problem);
        }
        for piece in pieces {
            if spend(&mut self.budget.documents, 1).is_none() {
                let place = Place { line: piece.line, column: 1 };
                return self.note(&whose, Problem::error(place, "", format!("more than {DOCUMENTS} documents")));
            }
            self.documents_seen += 1;
            let scope = if piece.number == 1 { manner.scope } else { ScopeHere::Nowhere };
            self.document(whose.clone(), &piece, scope);
        }
    }

    fn document(&mut self, mut whose: Whose, piece: &Piece<'_>, scope: ScopeHere) {
        whose.number = Some(piece.number);
        let root = match parse(piece, &mut self.budget) {
            Ok(root) => Arc::new(root),
            Err(problem) => return self.note(&whose, problem),
        };
        introduce(&root, &mut whose);
        if let Some(format) = KnownFormat::of_members(piece.text, &root) {
            let problem = Problem::error(root.place, "", format.message()).hint(format.hint);
            return self.note(&whose, problem);
        }
        let mut findings = Findings::new(&root, &mut self.budget, whose.quotes);
        let found = judge(&root, self.foreign, &mut self.schemas, &mut findings);
        if let Some((_, AnyDocument::Scope(_))) = &found {
            check_place(scope, &mut findings);
        }
        let invalid = findings.error_paths();
        for problem in findings.into_problems() {
            self.note(&whose, problem);
        }
        if let Some((Header { name, constraints }, body)) = found {
            let origin = Origin { source: whose.source.clone(), number: piece.number, line: root.place.line };
            let kind = root.get("kind").and_then(Node::text).unwrap_or_default().to_owned();
            let mut decoded = Decoded { origin, kind, name, body, sealed: false };
            if whose.quotes == Quotes::Nothing {
                decoded.conceal();
            }
            self.kept.push(Kept { decoded, root, constraints, whose, invalid });
        }
    }

    /// Looks for documents that contradict each other or stand in the wrong order. Its findings replace those of an
    /// earlier comparison.
    pub(crate) fn compare(&mut self) {
        let (kept, notes) = (mem::take(&mut self.kept), mem::take(&mut self.notes));
        let listed: Vec<Listed<'_>> = kept.iter().map(|kept| Listed::new(&kept.decoded, &kept.constraints)).collect();
        for found in compare(&listed).chunk_by(|a, b| a.document == b.document) {
            let Kept { root, whose, invalid, .. } = &kept[found[0].document];
            let mut findings = Findings::new(root, &mut self.budget, whose.quotes);
            // What is invalid in itself has been reported.
            let is_reported = |path: &str| path::outwards(path).any(|path| invalid.contains(path));
            for finding in found.iter().filter(|finding| !is_reported(&finding.path)) {
                findings.add(finding.severity, &finding.path, finding.message.clone());
                if let Some(hint) = finding.hint {
                    findings.hint(hint);
                }
            }
            for problem in findings.into_problems() {
                self.note(whose, problem);
            }
        }
        self.comparison = mem::replace(&mut self.notes, notes);
        self.kept = kept;
    }

    /// Something is wrong with a field of a document that was read.
    pub(crate) fn refuse(&mut self, kept: &Kept, path: &str, message: impl Into<String>, hint: Option<String>) {
        self.refuse_for(kept, path, ProviderError { hint, ..ProviderError::new(message) });
    }

    /// A provider brought nothing for a field of a document that was read.
    pub(crate) fn refuse_for(&mut self, kept: &Kept, path: &str, error: ProviderError) {
        let ProviderError { message, hint, fault } = error;
        let mut findings = Findings::new(&kept.root, &mut self.budget, kept.whose.quotes);
        let finding = match fault {
            Fault::Document => findings.error(path, message),
            Fault::World => findings.unavailable(path, message),
        };
        if let Some(hint) = hint {
            finding.hint(hint);
        }
        for problem in findings.into_problems() {
            self.note(&kept.whose, problem);
        }
    }

    /// Something is wrong with an input as a whole.
    pub(crate) fn note_of_source(&mut self, source: &str, problem: Problem) {
        let source = printable_name(source);
        self.note(&Whose { index: 0, source, quotes: Quotes::Words, number: None, kind: None, name: None }, problem);
    }

    fn note(&mut self, whose: &Whose, problem: Problem) {
        let Whose { index, source, quotes, number, kind, name } = whose.clone();
        let Problem { severity, place, mut path, message, hint } = problem;
        if quotes == Quotes::Nothing {
            let schema = kind.as_deref().and_then(|kind| self.schemas.get(kind)).cloned();
            path = known_part(&path, &schema.unwrap_or_else(any_document)).to_owned();
        }
        let Place { line, column } = place;
        self.errors += usize::from(severity.is_error());
        let note = Note { severity, source, line, column, document: number, kind, name, path, message, hint };
        self.notes.push((index, note));
    }

    /// Whether something is wrong so far.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether there was nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.documents_seen == 0 && self.notes.is_empty()
    }

    /// Reads a source that is inside another, and returns its usable documents.
    pub(crate) fn nested(&mut self, source: Source, manner: Manner) -> Vec<Kept> {
        let before = self.take();
        self.source(source, manner);
        let mut documents = mem::replace(&mut self.kept, before);
        documents.retain(|kept| kept.invalid.is_empty());
        documents
    }

    /// Takes the documents out, to put them or others back.
    pub(crate) fn take(&mut self) -> Vec<Kept> {
        mem::take(&mut self.kept)
    }

    /// Puts a document behind the others.
    pub(crate) fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
    }

    /// What came out.
    pub(crate) fn finish(mut self) -> Read {
        self.notes.append(&mut self.comparison);
        self.notes.sort_by_key(|(index, note)| (*index, note.line, note.column));
        let report = Report::new(self.notes.into_iter().map(|(_, note)| note).collect());
        let usable = self.kept.into_iter().filter(|kept| kept.invalid.is_empty());
        let documents = usable.map(|kept| kept.decoded).collect();
        Read { documents, replaced: Vec::new(), fetched: Vec::new(), report }
    }
}

/// What a report calls the document; one that came sealed is called by its kind alone, if that is known.
fn introduce(root: &Node, whose: &mut Whose) {
    let kind = root.get("kind").and_then(Node::text);
    if whose.quotes == Quotes::Nothing {
        whose.kind = kind.filter(|kind| KINDS.iter().any(|known| known.kind == *kind)).map(str::to_owned);
        return;
    }
    whose.kind = kind.map(printable);
    let name = root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::text);
    whose.name = name.filter(|name| is_subdomain(name)).map(str::to_owned);
}

/// Form first, meaning second. Where the form is invalid, the meaning of the rest is judged all the same.
fn judge(
    root: &Arc<Node>,
    foreign: ForeignKinds,
    schemas: &mut HashMap<&'static str, serde_json::Value>,
    findings: &mut Findings<'_>,
) -> Option<Content> {
    find_duplicates(root, "", findings);
    let kind = match header::owner(root, findings)? {
        Owner::Own(kind) => kind,
        Owner::Foreign => return foreign::read(root, foreign, findings),
    };
    let schema = schemas.entry(kind.kind).or_insert_with(kind.schema);
    schema::walk(root, schema, "", findings);
    if !findings.has_errors() {
        return (kind.decode)(root, findings);
    }
    let mended = mend(root, schema);
    let before = findings.count();
    let content = (kind.decode)(&mended.root, findings);
    findings.forget(before, |path| mended.explains(path));
    content
}

/// A file's name, fit for a report; it is not cut, because it is the user's own.
fn printable_name(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
