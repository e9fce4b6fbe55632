//! Before and after which others a document stands: two annotations that the management side resolves. The machine only
//! refuses a stream that violates them.
use crate::{findings::Findings, metadata::is_subdomain, path};

/// The annotation that names the documents before which this one stands.
pub(crate) const BEFORE: &str = "machineadm.cluster.x-k8s.io/before";
/// The annotation that names the documents after which this one stands.
pub(crate) const AFTER: &str = "machineadm.cluster.x-k8s.io/after";

/// More than this is no order that somebody wrote.
const MOST: usize = 64;

/// What a document says about its position.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Constraints {
    pub(crate) before: Vec<Reference>,
    pub(crate) after: Vec<Reference>,
}

/// Documents of a kind, or the one of this name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    kind: String,
    name: Option<String>,
}

impl Reference {
    /// Whether a document is meant.
    pub(crate) fn names(&self, kind: &str, name: Option<&str>) -> bool {
        self.kind == kind && self.name.as_deref().is_none_or(|wanted| Some(wanted) == name)
    }
}

impl Constraints {
    /// Reads the two annotations, and reports what is wrong with them.
    pub(crate) fn read<'a>(annotation: impl Fn(&str) -> Option<&'a str>, findings: &mut Findings<'_>) -> Self {
        let mut references = |key: &str| match annotation(key).map(references) {
            None => Vec::new(),
            Some(Some(references)) => references,
            Some(None) => {
                let message = format!("must be at most {MOST} kinds or names such as `InitConfig, FilesConfig/motd`");
                findings.error(&field(key), message);
                Vec::new()
            }
        };
        Self { before: references(BEFORE), after: references(AFTER) }
    }
}

/// The path of an annotation.
pub(crate) fn field(annotation: &str) -> String {
    path::member("metadata.annotations", annotation)
}

fn references(text: &str) -> Option<Vec<Reference>> {
    let references: Option<Vec<Reference>> = text.split(',').take(MOST + 1).map(reference).collect();
    references.filter(|references| references.len() <= MOST)
}

fn reference(text: &str) -> Option<Reference> {
    let (kind, name) = match text.trim().split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (text.trim(), None),
    };
    (is_kind(kind) && name.is_none_or(is_subdomain))
        .then(|| Reference { kind: kind.to_owned(), name: name.map(str::to_owned) })
}

/// Whether this can be a kind's name.
pub(crate) fn is_kind(name: &str) -> bool {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    letters && name.len() <= 63 && name.starts_with(|first: char| first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_kind_or_a_document_of_it() {
        let listed = references(" InitConfig ,FilesConfig/a.b").unwrap();
        assert!(listed[0].names("InitConfig", None) && listed[0].names("InitConfig", Some("x")));
        assert!(listed[1].names("FilesConfig", Some("a.b")));
        assert!(!listed[1].names("FilesConfig", Some("a")) && !listed[1].names("FilesConfig", None));
        assert!(!listed[1].names("InitConfig", Some("a.b")));
    }

    #[test]
    fn anything_else_is_malformed() {
        for text in ["", ",", "A,", "A B", "1A", "A/", "A/B", "A/b/c", "/a", "A;B", &"a".repeat(64)] {
            assert_eq!(references(text), None, "{text}");
        }
        assert!(references(&vec!["A"; 64].join(",")).is_some());
        assert_eq!(references(&vec!["A"; 65].join(",")), None);
    }
}
