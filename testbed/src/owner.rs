//! Who a run's belongings belong to: a process, told apart from a later one with the same number.
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;

/// The owner of a claim, as its `owner` file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Owner {
    /// It ends with this process.
    Process(Process),
    /// It stays until somebody takes it down.
    Kept,
}

/// A process, by everything that another one would not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pid: u32,
    started: String,
    boot: String,
    pid_namespace: String,
}

impl Process {
    /// This very process.
    pub(crate) fn current() -> Result<Self> {
        let pid = std::process::id();
        let started = start_time(pid).ok_or_else(|| unreadable("/proc/self/stat"))?;
        Ok(Self { pid, started, boot: boot()?, pid_namespace: pid_namespace()? })
    }

    /// Whether it is certain that the process is gone; of another pid namespace nothing is certain.
    pub(crate) fn is_dead(&self) -> Result<bool> {
        if self.boot != boot()? {
            return Ok(true);
        }
        Ok(self.pid_namespace == pid_namespace()? && start_time(self.pid).as_ref() != Some(&self.started))
    }
}

/// When a process started, in clock ticks since boot; `None` when there is no such process, or only its exit code.
pub(crate) fn start_time(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets too; field 22 counts from before it.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if state == "Z" { None } else { fields.nth(18).map(str::to_owned) }
}

fn boot() -> Result<String> {
    let path = "/proc/sys/kernel/random/boot_id";
    fs::read_to_string(path).map(|id| id.trim().to_owned()).map_err(crate::error::file("read", path))
}

fn pid_namespace() -> Result<String> {
    let path = "/proc/self/ns/pid";
    fs::read_link(path).map(|link| link.display().to_string()).map_err(crate::error::file("read", path))
}

fn unreadable(path: &str) -> Error {
    Error::Unreadable { what: path.to_owned(), found: "no start time".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_to_itself_and_a_namesake_is_not_it() {
        let mut process = Process::current().unwrap();
        assert!(!process.is_dead().unwrap());
        process.started = "1".to_owned();
        assert!(process.is_dead().unwrap());
    }

    #[test]
    fn nothing_is_certain_of_another_pid_namespace() {
        let mut process = Process::current().unwrap();
        process.pid_namespace = "pid:[1]".to_owned();
        process.started = "1".to_owned();
        assert!(!process.is_dead().unwrap());
    }
}
