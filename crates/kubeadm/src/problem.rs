//! What is wrong with a file: where, why, and what to do.
use objects::printable;
use serde::Serialize;
use std::fmt;

/// A path or a sentence with names from the file, fit for a terminal.
pub fn shown(text: &str) -> String {
    printable(text, 300)
}

/// Whether a problem stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can be done with the file.
    Error,
    /// kubeadm would go on, and so do we.
    Warning,
}

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Whether it stands in the way.
    pub severity: Severity,
    /// The file.
    pub file: String,
    /// The line, counted from 1: that of the problem if it is known, otherwise that of its document.
    pub line: usize,
    /// Which document of the file, counted from 1; absent for a problem of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// The document's kind, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The field's path, beginning with its kind; empty for a document as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        write!(f, "{severity}: {}:{}: ", self.file, self.line)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  remedy: {remedy}"),
            None => Ok(()),
        }
    }
}
