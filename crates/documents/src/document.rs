//! What a kind is: the traits that its one file implements.
use crate::{AnyDocument, Claim, findings::Findings};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// A document kind; the type that implements it is its `spec` as people write it. Only the kinds of this crate are.
pub trait Document: closed::Closed {
    /// Group and version.
    const API_VERSION: &str;
    /// Kind.
    const KIND: &str;
    /// What it is for, in one line.
    const SUMMARY: &str;
    /// A whole document.
    const EXAMPLE: &str;
}

pub(crate) mod closed {
    /// What the table of kinds alone implements.
    pub trait Closed {}
}

/// A `spec` that can be read, checked and written.
pub(crate) trait Check: Document + DeserializeOwned + Serialize + JsonSchema {
    /// What the engine gets.
    type Checked: Into<AnyDocument>;
    /// Adds everything that is invalid to the findings. What is returned is used only if nothing is; otherwise it is
    /// compared with other documents, so that its claims must be those of the document.
    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> Self::Checked;
}

/// What a checked document says of itself.
pub trait Body {
    /// Its secrets, so that they can be looked for by value; those inside of others (a URL's password) also alone.
    fn secrets(&self) -> Vec<&[u8]> {
        Vec::new()
    }

    /// What is secret as well if the document came encrypted.
    fn confidential(&self) -> Vec<&[u8]> {
        Vec::new()
    }

    /// What it claims of the machine; the document may have a name.
    fn claims<'a>(&'a self, name: Option<&'a str>) -> Vec<Claim<'a>>;

    /// Called once if the document came encrypted.
    fn conceal(&mut self) {}
}
