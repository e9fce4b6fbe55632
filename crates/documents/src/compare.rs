//! Rules over all documents together, in the order in which they stand.
use crate::{Claim, Decoded, Severity, conflicts, constraints::Constraints, control_plane_conflicts, order};

/// A document of the stream, with what the rules compare.
pub(crate) struct Listed<'a> {
    pub(crate) document: &'a Decoded,
    pub(crate) claims: Vec<Claim<'a>>,
    pub(crate) constraints: &'a Constraints,
}

impl<'a> Listed<'a> {
    pub(crate) fn new(document: &'a Decoded, constraints: &'a Constraints) -> Self {
        Self { document, claims: document.claims(), constraints }
    }
}

/// What is wrong between two documents, at the later of them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Which document, by its index.
    pub(crate) document: usize,
    pub(crate) severity: Severity,
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

/// Every finding of every rule, document by document.
pub(crate) fn compare(documents: &[Listed<'_>]) -> Vec<Finding> {
    let mut findings = conflicts::find(documents);
    findings.extend(control_plane_conflicts::find(documents));
    findings.extend(order::find(documents));
    findings.sort_by_key(|finding| finding.document);
    findings
}

/// Where the earlier of two documents stands, as the later one's reader would say it.
pub(crate) fn earlier_of(documents: &[Listed<'_>], earlier: usize, later: usize) -> String {
    let (origin, here) = (&documents[earlier].document.origin, &documents[later].document.origin);
    match (earlier == later, origin.source == here.source) {
        (true, _) => "this document".to_owned(),
        (false, true) => format!("document {}", origin.number),
        (false, false) => format!("document {} of {}", origin.number, origin.source),
    }
}
