//! A document that has been read, checked and decoded.
use crate::{AnyDocument, Body, Claim};

/// Where a document was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file's name, or `-`; behind it, for what lay inside of another document, the way there, as in
    /// `node.yaml#2 > decrypted`.
    pub source: String,
    /// Which document of the file, counted from 1.
    pub number: usize,
    /// The line on which it begins, counted from 1.
    pub line: usize,
}

/// A document without problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Where it was found.
    pub origin: Origin,
    /// Its kind.
    pub kind: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it asks for.
    pub body: AnyDocument,
    /// Whether it came sealed: then all of it is secret.
    pub sealed: bool,
}

impl Decoded {
    /// Every secret in this document, so that whoever shows something can look for them by value.
    /// Passwords in URLs are also given by themselves. Empty values are left out, and files that everybody may read.
    /// Of a document that came sealed it is every text that could be a secret.
    pub fn secrets(&self) -> Vec<&[u8]> {
        let mut secrets = self.body.secrets();
        if self.sealed {
            secrets.extend(self.body.confidential());
        }
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }

    /// What it claims of the machine.
    pub fn claims(&self) -> Vec<Claim<'_>> {
        self.body.claims(self.name.as_deref())
    }

    /// Marks a document as one that came sealed.
    pub(crate) fn conceal(&mut self) {
        self.sealed = true;
        self.body.conceal();
    }
}
