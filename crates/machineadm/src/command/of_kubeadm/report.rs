//! What a document of ours does not take over from kubeadm's: fields without a place, and notes on the others.
use crate::command_error::CommandError;
use documents::Document;
use kubeadm::shown;
use serde::Serialize;

/// A field of kubeadm's that the document has no place for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::command) struct UnsupportedField {
    /// Its path, beginning with the kind of its document.
    pub(in crate::command) path: String,
    /// Its value, whole; never a secret.
    pub(in crate::command) value: String,
    /// Why it has no place.
    pub(in crate::command) why: String,
}

/// Something to know of a field that is not lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::command) struct FieldNote {
    /// Its path, beginning with the kind of its document.
    pub(in crate::command) path: String,
    /// What follows the path in a sentence, such as `is set by spec.without`.
    pub(in crate::command) text: String,
}

/// Collects both while a document is converted.
#[derive(Debug)]
pub(in crate::command) struct ImportReport {
    /// The kind of our document.
    pub(in crate::command) kind: &'static str,
    /// Fields that are lost.
    pub(in crate::command) unsupported: Vec<UnsupportedField>,
    /// What there is to know of others.
    pub(in crate::command) notes: Vec<FieldNote>,
}

/// In the place of a value that may be secret.
pub(super) const SECRET: &str = "[secret]";

impl ImportReport {
    /// For a document of this kind of ours.
    pub(super) const fn of<D: Document>() -> Self {
        Self { kind: D::KIND, unsupported: Vec::new(), notes: Vec::new() }
    }

    /// Why a field has no place, unless there is more to say.
    pub(in crate::command) fn no_field(&self) -> String {
        let article = if self.kind.starts_with('I') { "an" } else { "a" };
        format!("{article} {} has no field for it", self.kind)
    }

    /// A field that the document has none for.
    pub(super) fn unsupported(&mut self, path: impl Into<String>, value: impl ToString) {
        let why = self.no_field();
        self.refused(path, value, why);
    }

    /// The same, if it is set.
    pub(super) fn unsupported_if_set<T: ToString>(&mut self, path: impl Into<String>, value: Option<T>) {
        if let Some(value) = value {
            self.unsupported(path, value);
        }
    }

    /// A field that has no place for a reason of its own.
    pub(in crate::command) fn refused(
        &mut self,
        path: impl Into<String>,
        value: impl ToString,
        why: impl Into<String>,
    ) {
        self.unsupported.push(UnsupportedField { path: path.into(), value: value.to_string(), why: why.into() });
    }

    /// Something to know of a field.
    pub(in crate::command) fn note(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.notes.push(FieldNote { path: path.into(), text: text.into() });
    }

    /// An error that names every unsupported field, if there is one.
    pub(in crate::command) fn refuse_unsupported(&self) -> Result<(), CommandError> {
        let problem = |field: &UnsupportedField| format!("{}: {}", shown(&field.path), field.why);
        match self.unsupported.is_empty() {
            true => Ok(()),
            false => Err(CommandError::invalid_input(self.unsupported.iter().map(problem))),
        }
    }
}
