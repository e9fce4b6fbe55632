//! What a document of ours does not take over from kubeadm's: fields without a place, and notes on the others.
use documents::Document;
use kubeadm::shown;
use serde::Serialize;
use std::fmt;

/// A field of kubeadm's that the document has no place for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnsupportedField {
    /// Its path, beginning with the kind of its document.
    pub path: String,
    /// Its value, whole; never a secret.
    pub value: String,
    /// Why it has no place.
    pub why: String,
}

impl fmt::Display for UnsupportedField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", shown(&self.path), self.why)
    }
}

/// Something to know of a field that is not lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldNote {
    /// Its path, beginning with the kind of its document.
    pub path: String,
    /// What follows the path in a sentence, such as `is set by spec.without`.
    pub text: String,
}

/// Collects both while a document is converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportReport {
    /// The kind of our document.
    pub kind: &'static str,
    /// Fields that are lost.
    pub unsupported: Vec<UnsupportedField>,
    /// What there is to know of others.
    pub notes: Vec<FieldNote>,
}

/// In the place of a value that may be secret.
pub(crate) const SECRET: &str = "[secret]";

impl ImportReport {
    /// For a document of this kind of ours.
    pub(crate) const fn of<D: Document>() -> Self {
        Self { kind: D::KIND, unsupported: Vec::new(), notes: Vec::new() }
    }

    /// Why a field has no place, unless there is more to say.
    pub fn no_field(&self) -> String {
        let article = if self.kind.starts_with('I') { "an" } else { "a" };
        format!("{article} {} has no field for it", self.kind)
    }

    /// A field that the document has none for.
    pub(crate) fn unsupported(&mut self, path: impl Into<String>, value: impl ToString) {
        let why = self.no_field();
        self.refused(path, value, why);
    }

    /// The same, if it is set.
    pub(crate) fn unsupported_if_set<T: ToString>(&mut self, path: impl Into<String>, value: Option<T>) {
        if let Some(value) = value {
            self.unsupported(path, value);
        }
    }

    /// A field that has no place for a reason of its own.
    pub fn refused(&mut self, path: impl Into<String>, value: impl ToString, why: impl Into<String>) {
        self.unsupported.push(UnsupportedField { path: path.into(), value: value.to_string(), why: why.into() });
    }

    /// Something to know of a field.
    pub fn note(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.notes.push(FieldNote { path: path.into(), text: text.into() });
    }
}

/// A phase of kubeadm's that is not skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPhase {
    /// As it was named.
    pub phase: String,
    /// Why not, and what to do instead.
    pub why: String,
}
