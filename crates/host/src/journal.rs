//! The journal: which acts began and ended on this machine, so that a second run knows whose half-done work it meets.
use crate::{Act, Progress};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    Began,
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

    /// The bytes to keep.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// What it says of an act.
    pub(crate) fn progress(&self, act: &Act) -> Progress {
        match self.acts.get(&act.id()) {
            None => Progress::New,
            Some(Entry::Began) => Progress::Began,
            Some(Entry::Ended) => Progress::Ended,
        }
    }

    /// Notes that an act begins.
    pub(crate) fn begin(&mut self, act: &Act) {
        self.acts.insert(act.id(), Entry::Began);
    }

    /// Notes that an act is done.
    pub(crate) fn end(&mut self, act: &Act) {
        self.acts.insert(act.id(), Entry::Ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::v1alpha1::{Command, Program, Repeat};
    use std::time::Duration;

    fn act(word: &str) -> Act {
        Act::Command(Command {
            name: "a".into(),
            program: Program::Argv(vec![word.into()]),
            repeat: Repeat::Once,
            creates: None,
            unless: None,
            environment: BTreeMap::new(),
            timeout: Duration::from_secs(1),
            needs_reboot: false,
        })
    }

    #[test]
    fn what_was_noted_is_read_back() {
        let mut journal = Journal::new("m1".into());
        journal.begin(&act("x"));
        journal.begin(&act("y"));
        journal.end(&act("y"));
        let back = Journal::read(&journal.bytes(), "m1");
        let said = ["x", "y", "z"].map(|word| back.progress(&act(word)));
        assert_eq!(said, [Progress::Began, Progress::Ended, Progress::New]);
    }

    #[test]
    fn a_cloned_disk_starts_fresh() {
        let mut journal = Journal::new("m1".into());
        journal.end(&act("x"));
        assert_eq!(Journal::read(&journal.bytes(), "m2").progress(&act("x")), Progress::New);
    }

    #[test]
    fn a_torn_or_foreign_file_starts_fresh() {
        for bytes in [&b""[..], b"{", b"{\"version\":9,\"machine\":\"m1\",\"acts\":{}}"] {
            assert_eq!(Journal::read(bytes, "m1"), Journal::new("m1".into()));
        }
    }
}
