//! The journal: which acts started and ended on this machine, so that a second run knows whose unfinished work it meets.
use crate::Progress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const VERSION: u32 = 1;

/// What is written to disk. It belongs to one machine: on a clone of its disk it counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    version: u32,
    machine: String,
    acts: BTreeMap<String, Entry>,
}

/// The words on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    Began,
    Failed,
    Ended,
}

impl Journal {
    /// An empty journal.
    pub(crate) const fn new(machine: String) -> Self {
        Self { version: VERSION, machine, acts: BTreeMap::new() }
    }

    /// Reads a journal back; one of another machine, or one that is not readable as a journal, begins anew.
    pub(crate) fn read(bytes: &[u8], machine: &str) -> Self {
        match serde_json::from_slice::<Self>(bytes) {
            Ok(journal) if journal.version == VERSION && journal.machine == machine => journal,
            _ => Self::new(machine.to_owned()),
        }
    }

    /// The bytes to store.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// What it says of an act.
    pub(crate) fn progress(&self, act: &str) -> Progress {
        match self.acts.get(act) {
            None => Progress::New,
            Some(Entry::Began) => Progress::Started,
            Some(Entry::Failed) => Progress::Failed,
            Some(Entry::Ended) => Progress::Ended,
        }
    }

    /// The acts whose end it has not seen.
    pub(crate) fn unfinished(&self) -> Vec<String> {
        self.acts.iter().filter(|(_, entry)| **entry == Entry::Began).map(|(act, _)| act.clone()).collect()
    }

    /// Notes how far an act has come.
    pub(crate) fn note(&mut self, act: &str, progress: Progress) {
        let entry = match progress {
            Progress::New => {
                self.acts.remove(act);
                return;
            }
            Progress::Started => Entry::Began,
            Progress::Failed => Entry::Failed,
            Progress::Ended => Entry::Ended,
        };
        self.acts.insert(act.to_owned(), entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_read_back() {
        let mut journal = Journal::new("m1".into());
        let noted = [("a", Progress::Started), ("b", Progress::Ended), ("c", Progress::Failed), ("d", Progress::Ended)];
        noted.iter().for_each(|(act, progress)| journal.note(act, *progress));
        journal.note("d", Progress::New);
        let back = Journal::read(&journal.bytes(), "m1");
        assert_eq!(
            ["a", "b", "c", "d", "e"].map(|act| back.progress(act)),
            [Progress::Started, Progress::Ended, Progress::Failed, Progress::New, Progress::New]
        );
        assert_eq!(back.unfinished(), ["a"]);
    }

    #[test]
    fn a_cloned_disk_starts_fresh() {
        let mut journal = Journal::new("m1".into());
        journal.note("x", Progress::Ended);
        assert_eq!(Journal::read(&journal.bytes(), "m2").progress("x"), Progress::New);
    }

    #[test]
    fn a_torn_or_foreign_file_starts_fresh() {
        for bytes in [&b""[..], b"{", b"{\"version\":9,\"machine\":\"m1\",\"acts\":{}}"] {
            assert_eq!(Journal::read(bytes, "m1"), Journal::new("m1".into()));
        }
    }
}
