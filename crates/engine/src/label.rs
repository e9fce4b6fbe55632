//! What a turn of a run is called: in plans, in reports, and in "known after".
use serde::{Deserialize, Serialize};
use std::fmt;

/// A turn's name: a document by its place in the stream, its kind and its name, or something that the engine adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum Label {
    /// A document.
    Document {
        /// Its place in the stream after expansion, counted from 1.
        number: usize,
        /// Its kind.
        kind: String,
        /// Its name, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// What the engine adds, or a stage of a run outside of its turns.
    Added(String),
}

impl Label {
    /// Something of the engine's own.
    pub fn added(name: &str) -> Self {
        Self::Added(name.to_owned())
    }

    /// Its place in the stream, if it is a document.
    pub const fn number(&self) -> Option<usize> {
        match self {
            Self::Document { number, .. } => Some(*number),
            Self::Added(_) => None,
        }
    }

    /// As another turn refers to it: `document 2 (KernelModulesConfig network)`.
    pub fn reference(&self) -> String {
        match self {
            Self::Document { number, .. } => format!("document {number} ({self})"),
            Self::Added(name) => name.clone(),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document { kind, name: Some(name), .. } => write!(f, "{kind} {name}"),
            Self::Document { kind, name: None, .. } => f.write_str(kind),
            Self::Added(name) => f.write_str(name),
        }
    }
}
