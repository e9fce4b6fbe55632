//! The way of a configuration from bytes to documents: split, parsed, walked, decoded, checked, compared.
use crate::{
    Decoded, ForeignKinds, Report, Source,
    findings::{Problem, Quotes},
    joined::MARKER,
    reader::{Manner, Reader, ScopeHere},
    tree::Place,
};

/// What came out of reading.
#[derive(Debug)]
pub struct Read {
    /// The documents without problems, in the order of the files. They are the whole configuration only if the
    /// report has no errors.
    pub documents: Vec<Decoded>,
    /// The documents in whose place others stand now, and what was said about those; empty unless expanded.
    pub replaced: Vec<Decoded>,
    /// The SHA-256 of each part that was fetched, as it came and in that order.
    pub fetched: Vec<String>,
    /// Everything that is wrong, in the order of the files.
    pub report: Report,
}

/// Reads a configuration to its end and reports every problem at once. Nothing is fetched and nothing opened:
/// RemoteConfig and EncryptedConfig stay documents. Documents of other groups are noted as not checked.
pub fn read(sources: Vec<Source>) -> Read {
    let manner = Manner { quotes: Quotes::Words, scope: ScopeHere::FirstToBeSealed };
    whole(sources, manner, ForeignKinds::Noted).finish()
}

/// Reads documents that are about to be sealed: a ScopeConfig may stand first.
pub fn read_for_sealing(sources: Vec<Source>) -> Read {
    let manner = Manner { quotes: Quotes::Words, scope: ScopeHere::First };
    whole(sources, manner, ForeignKinds::Noted).finish()
}

/// Reads and compares; an input without a document is a problem.
pub(crate) fn whole(sources: Vec<Source>, manner: Manner, foreign: ForeignKinds) -> Reader {
    let mut reader = Reader::new(foreign);
    let mut last = String::from("-");
    for (index, source) in sources.into_iter().enumerate() {
        last.clone_from(&source.name);
        if index > 0 {
            reader.budget.text_bytes = reader.budget.text_bytes.saturating_sub(MARKER.len());
        }
        // Only what comes first in all can say whom the rest is for.
        let scope = if index == 0 { manner.scope } else { ScopeHere::Nowhere };
        reader.source(source, Manner { scope, ..manner });
    }
    reader.compare();
    if reader.is_empty() {
        reader.note_of_source(&last, Problem::error(Place::START, "", "the input contains no document"));
    }
    reader
}
