//! What is wrong with one document: every problem with its field's path, which finds its place in the tree.
use crate::{
    limits::{Budget, spend},
    printable::printable,
    report::Severity,
    tree::{Node, Place, Places},
};
use std::collections::HashSet;

/// A problem before it is known whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) severity: Severity,
    pub(crate) place: Place,
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Problem {
    pub(crate) fn error(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, place, path: path.into(), message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The problems of one document.
pub(crate) struct Findings<'a> {
    root: &'a Node,
    /// Looked up only when something is wrong.
    places: Option<Places>,
    problems: Vec<Problem>,
    budget: &'a mut Budget,
    /// Whether words of the document may be quoted.
    quotes: Quotes,
}

/// Whether words of a document may be quoted in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// Short words, fit to be shown.
    Words,
    /// None: the document came sealed.
    Nothing,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(root: &'a Node, budget: &'a mut Budget, quotes: Quotes) -> Self {
        Self { root, places: None, problems: Vec::new(), budget, quotes }
    }

    /// A word of the document as a message may quote it, if it may.
    pub(crate) fn word(&self, word: &str) -> Option<String> {
        (self.quotes == Quotes::Words).then(|| format!("`{}`", printable(word)))
    }

    /// Something is wrong with this field.
    pub(crate) fn error(&mut self, path: &str, message: impl Into<String>) -> &mut Self {
        self.add(Severity::Error, path, message.into())
    }

    /// What this field names could not be had.
    pub(crate) fn unavailable(&mut self, path: &str, message: impl Into<String>) -> &mut Self {
        self.add(Severity::Unavailable, path, message.into())
    }

    /// Something about this field is probably not meant.
    pub(crate) fn warning(&mut self, path: &str, message: impl Into<String>) -> &mut Self {
        self.add(Severity::Warning, path, message.into())
    }

    /// What to do about the problem that was just added.
    pub(crate) fn hint(&mut self, hint: impl Into<String>) {
        if let Some(problem) = self.problems.last_mut() {
            problem.hint = Some(hint.into());
        }
    }

    /// Adds a problem whose place is known.
    pub(crate) fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Takes decoded bytes from what a whole read may hold.
    pub(crate) fn spend_decoded(&mut self, bytes: usize) -> Option<()> {
        spend(&mut self.budget.decoded_bytes, bytes)
    }

    /// How many decoded bytes are left.
    pub(crate) fn decoded_left(&self) -> usize {
        self.budget.decoded_bytes
    }

    /// How many problems there are.
    pub(crate) fn count(&self) -> usize {
        self.problems.len()
    }

    /// Forgets problems that were added behind the first ones and whose paths are explained otherwise.
    pub(crate) fn forget(&mut self, first: usize, is_explained: impl Fn(&str) -> bool) {
        let added = self.problems.split_off(first.min(self.problems.len()));
        self.problems.extend(added.into_iter().filter(|problem| !is_explained(&problem.path)));
    }

    /// The paths of everything that is invalid.
    pub(crate) fn error_paths(&self) -> HashSet<String> {
        let errors = self.problems.iter().filter(|problem| problem.severity.is_error());
        errors.map(|problem| problem.path.clone()).collect()
    }

    /// Whether the document can't be used.
    pub(crate) fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity.is_error())
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Adds a problem of this severity.
    pub(crate) fn add(&mut self, severity: Severity, path: &str, message: String) -> &mut Self {
        let place = self.places.get_or_insert_with(|| self.root.places()).nearest(path);
        self.push(Problem { severity, place, path: path.to_owned(), message, hint: None });
        self
    }
}
