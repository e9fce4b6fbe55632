//! The journal: which acts started and ended on this machine, so that a second run knows whose unfinished work it meets.
use crate::{Error, Progress, Result, contract::JOURNAL};
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

/// What every version of the journal has.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl Journal {
    /// An empty journal.
    pub(crate) const fn new(machine: String) -> Self {
        Self { version: VERSION, machine, acts: BTreeMap::new() }
    }

    /// Reads a journal back; `machine` is empty where the system has no machine-id.
    ///
    /// Only an absent file and the journal of another machine, which is that of a cloned disk, start a new one. To start
    /// anew in any other case would run every `run: once` command again.
    pub(crate) fn read(stored: Option<&[u8]>, machine: &str) -> Result<Self> {
        let Some(bytes) = stored else { return Ok(Self::new(machine.to_owned())) };
        let header: Header = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
        if header.version != VERSION {
            return Err(other_version(header.version));
        }
        let journal: Self = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
        match (journal.machine == machine, machine.is_empty()) {
            (true, _) => Ok(journal),
            (false, false) => Ok(Self::new(machine.to_owned())),
            (false, true) => Err(unknown_machine()),
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

const DELETE_IT: &str = "or delete the journal: then every `run: once` command runs again";

fn damaged(error: &serde_json::Error) -> Error {
    Error::Record {
        what: JOURNAL.to_owned(),
        why: format!("the journal of completed commands is damaged: {error}"),
        advice: format!("restore the file from a backup, {DELETE_IT}"),
    }
}

fn other_version(found: u32) -> Error {
    Error::Record {
        what: JOURNAL.to_owned(),
        why: format!("the journal has version {found}, and this machineadm reads version {VERSION}"),
        advice: format!("use the machineadm that wrote the file, restore it from a backup, {DELETE_IT}"),
    }
}

fn unknown_machine() -> Error {
    Error::Record {
        what: JOURNAL.to_owned(),
        why: "the journal belongs to a machine-id, and /etc/machine-id is missing or holds no machine-id".into(),
        advice: format!("restore /etc/machine-id, create one with systemd-machine-id-setup, {DELETE_IT}"),
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
        let back = Journal::read(Some(&journal.bytes()), "m1").unwrap();
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
        assert_eq!(Journal::read(Some(&journal.bytes()), "m2").unwrap().progress("x"), Progress::New);
    }

    #[test]
    fn a_damaged_journal_and_one_of_another_version_do_not_count_as_empty() {
        for (bytes, why) in [
            (&b""[..], "is damaged"),
            (b"{", "is damaged"),
            (b"{\"version\":1}", "is damaged"),
            (b"{\"version\":1,\"machine\":\"m1\",\"acts\":{\"x\":\"paused\"}}", "is damaged"),
            (b"{\"version\":9,\"tasks\":[]}", "has version 9, and this machineadm reads version 1"),
        ] {
            let error = Journal::read(Some(bytes), "m1").unwrap_err();
            assert!(error.needs_operator() && error.to_string().contains(why), "{error}");
            assert!(error.advice().unwrap().contains("every `run: once` command runs again"));
        }
        assert_eq!(Journal::read(None, "m1").unwrap(), Journal::new("m1".into()));
    }

    #[test]
    fn a_missing_machine_id_does_not_empty_the_journal_of_a_machine() {
        let mut journal = Journal::new("m1".into());
        journal.note("x", Progress::Ended);
        let error = Journal::read(Some(&journal.bytes()), "").unwrap_err();
        assert!(error.needs_operator() && error.to_string().contains("/etc/machine-id"), "{error}");
        let mut of_image = Journal::new(String::new());
        of_image.note("x", Progress::Ended);
        assert_eq!(Journal::read(Some(&of_image.bytes()), "").unwrap().progress("x"), Progress::Ended);
        assert_eq!(Journal::read(None, "").unwrap(), Journal::new(String::new()));
    }
}
