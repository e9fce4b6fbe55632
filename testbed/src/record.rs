//! What the tests of one run leave for its end: lines in files, one file for each subject.
//!
//! Test binaries are processes of their own, and nothing but files outlives them. The files of a run lie in a directory
//! that the runner names ([`DIRECTORY`]), or, below plain `cargo test`, in one beside the binaries that carries the number
//! of the cargo process that started them.
use crate::Result;
use crate::error::file;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// The variable that names a run's directory to its tests.
pub const DIRECTORY: &str = "MACHINEADM_TEST_RECORD";

/// What lines are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Tests that this machine can't run.
    LeftOut,
    /// Programs of others whose verdict a test asked for.
    Judges,
    /// What a test needs that it was not granted.
    Needs,
}

impl Subject {
    fn file_name(self) -> &'static str {
        match self {
            Self::LeftOut => "left-out",
            Self::Judges => "judges",
            Self::Needs => "needs",
        }
    }
}

/// The record of one run.
#[derive(Debug)]
pub struct Record {
    directory: PathBuf,
}

impl Record {
    /// The one in this directory.
    pub fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// That of the run that this process belongs to.
    pub fn of_this_run() -> Result<Self> {
        if let Some(named) = std::env::var_os(DIRECTORY) {
            return Ok(Self::at(named.into()));
        }
        // target/debug/deps/NAME-DIGEST
        let itself = std::env::current_exe().map_err(file("find", "this program"))?;
        let built = itself.ancestors().nth(2).unwrap_or(&itself);
        let cargo = rustix::process::getppid().map_or(0, |parent| parent.as_raw_nonzero().get());
        Ok(Self::at(built.join("test-records").join(cargo.to_string())))
    }

    /// Adds a line.
    pub fn add(&self, subject: Subject, line: &str) -> Result<()> {
        fs::create_dir_all(&self.directory).map_err(file("create", &self.directory))?;
        let path = self.directory.join(subject.file_name());
        let mut record = OpenOptions::new().create(true).append(true).open(&path).map_err(file("open", &path))?;
        // One write, so that lines of processes that run at once do not mix.
        record.write_all(format!("{line}\n").as_bytes()).map_err(file("write", &path))
    }

    /// The different lines, sorted; none if nothing was recorded.
    pub fn lines(&self, subject: Subject) -> Result<Vec<String>> {
        let path = self.directory.join(subject.file_name());
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(file("read", path)(error)),
        }
    }

    /// Removes it.
    pub fn clear(&self) -> Result<()> {
        crate::cache::remove_tree(&self.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_processes_come_back_once_each() {
        let place = std::env::temp_dir().join(format!("testbed-record-{}", std::process::id()));
        let record = Record::at(place);
        assert_eq!(record.lines(Subject::Judges).unwrap(), [""; 0]);
        for line in ["strace", "kubeadm 1.36.4", "strace"] {
            record.add(Subject::Judges, line).unwrap();
        }
        assert_eq!(record.lines(Subject::Judges).unwrap(), ["kubeadm 1.36.4", "strace"]);
        assert_eq!(record.lines(Subject::LeftOut).unwrap(), [""; 0]);
        record.clear().unwrap();
        assert_eq!(record.lines(Subject::Judges).unwrap(), [""; 0]);
    }
}
