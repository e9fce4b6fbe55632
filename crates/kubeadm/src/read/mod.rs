//! Reads kubeadm's files, of any API version and mixed, by kubeadm's own rules.
mod component;
mod document;
mod other_format;
mod split;

pub(crate) use document::decode_into;

use crate::{
    hub::Documents,
    kind::Kind,
    problem::{Problem, Severity, shown},
    version::ApiVersion,
};
use std::collections::BTreeMap;

/// A file and what is in it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// Its name, for people.
    pub name: &'s str,
    /// What is in it.
    pub text: &'s str,
}

/// What to do about fields that no type has, and about keys that stand twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Refuse them, as `kubeadm config validate` does.
    Strict,
    /// Warn and go on without them, as `kubeadm init` and `kubeadm join` do.
    Tolerant,
}

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What to do about unknown fields.
    pub strictness: Strictness,
    /// Read as the kubeadm of this minor would; `None` reads every API version.
    pub minor: Option<u32>,
}

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// kubeadm's documents.
    pub documents: Documents,
    /// The API version of each.
    pub versions: BTreeMap<Kind, ApiVersion>,
    /// Where each starts.
    pub locations: BTreeMap<Kind, Location>,
    /// Documents of the kubelet and kube-proxy, untouched.
    pub component_configs: Vec<ComponentConfig>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Read {
    /// Whether something stands in the way.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Where a document starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its file.
    pub file: String,
    /// The line of the file, counted from 1.
    pub line: usize,
    /// Which document of the file it is, counted from 1.
    pub document: usize,
}

/// A document that kubeadm passes on to another component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentConfig {
    /// Its kind.
    pub kind: String,
    /// Its text, as it stood in the file.
    pub text: String,
}

/// Reads files that belong together; every problem is found, not only the first.
pub fn read(sources: &[Source<'_>], rules: Rules) -> Read {
    let mut reader = Reader { rules, read: Read::default(), seen: Vec::new() };
    for source in sources {
        reader.source(*source);
    }
    reader.read.documents.settle();
    reader.read
}

struct Reader {
    rules: Rules,
    read: Read,
    /// Kinds that have been there, of whatever group and version.
    seen: Vec<String>,
}

/// Where problems are.
#[derive(Clone, Copy)]
struct Place<'s> {
    file: &'s str,
    line: usize,
    /// Which document of the file, and its kind.
    document: Option<usize>,
    kind: Option<&'s str>,
}

impl<'s> Place<'s> {
    const fn of_file(file: &'s str, line: usize) -> Self {
        Self { file, line, document: None, kind: None }
    }
}

impl Reader {
    fn source(&mut self, source: Source<'_>) {
        let pieces = match split::split(source.text) {
            Ok(pieces) => pieces,
            Err(split::BadSeparator { line }) => {
                let place = Place::of_file(source.name, line);
                let problem = self.error(place, "", "only a comment may follow `---`".to_owned());
                problem.remedy = Some("start the document on the next line".to_owned());
                return;
            }
        };
        if pieces.is_empty() {
            self.error(Place::of_file(source.name, 1), "", "the file is empty".to_owned());
        }
        for (index, piece) in pieces.into_iter().enumerate() {
            let place = Place { document: Some(index + 1), ..Place::of_file(source.name, piece.line) };
            self.document(place, &piece.text);
        }
    }

    fn error(&mut self, place: Place<'_>, path: &str, message: String) -> &mut Problem {
        self.problem(Severity::Error, place, path, message)
    }

    /// A problem over which `kubeadm init` only warns.
    fn lenient(&mut self, place: Place<'_>, path: &str, message: String) -> &mut Problem {
        let severity = match self.rules.strictness {
            Strictness::Strict => Severity::Error,
            Strictness::Tolerant => Severity::Warning,
        };
        self.problem(severity, place, path, message)
    }

    fn problem(&mut self, severity: Severity, place: Place<'_>, path: &str, message: String) -> &mut Problem {
        let (file, path, message) = (place.file.to_owned(), shown(path), shown(&message));
        let Place { line, document, .. } = place;
        let kind = place.kind.map(shown);
        let problem = Problem { severity, file, line, document, kind, path, message, remedy: None };
        let at = self.read.problems.len();
        self.read.problems.push(problem);
        &mut self.read.problems[at]
    }
}
