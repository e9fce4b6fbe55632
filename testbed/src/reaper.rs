//! Cleaning up: a claim's processes, control groups and files, found by the claim's id and by nothing else.
use crate::claim::{self, GROUPS, MARK};
use crate::owner::Owner;
use crate::{Result, cache, cgroup, until};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Takes down every claim whose owner is dead.
pub fn reap_dead() -> Result<Vec<String>> {
    reap(|owner| match owner {
        Owner::Process(process) => process.is_dead(),
        Owner::Kept => Ok(false),
    })
}

/// Takes down every claim that was kept on purpose, and every one whose owner is dead.
pub fn reap_kept() -> Result<Vec<String>> {
    let mut gone = reap_dead()?;
    gone.extend(reap(|owner| Ok(*owner == Owner::Kept))?);
    Ok(gone)
}

fn reap(is_due: impl Fn(&Owner) -> Result<bool>) -> Result<Vec<String>> {
    let _only_one = claim::lock()?;
    let mut gone = Vec::new();
    let Ok(entries) = fs::read_dir(claim::claims()?) else { return Ok(gone) };
    for entry in entries.flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        let Some(owner) = claim::owner(&entry.path()) else { continue };
        if is_due(&owner)? {
            take_down(&id, &entry.path())?;
            gone.push(id);
        }
    }
    Ok(gone)
}

/// Ends all processes of a claim and removes what it had.
pub(crate) fn take_down(id: &str, directory: &Path) -> Result<()> {
    let groups = noted_groups(directory);
    until(&format!("the end of all processes of {id}"), Duration::from_secs(60), || {
        let left = processes(id, &groups);
        left.iter().for_each(|pid| end(*pid));
        if left.is_empty() { Ok(()) } else { Err(format!("processes {left:?}")) }
    })?;
    cgroup::remove(&groups)?;
    remove_nspawn_traces(id)?;
    cache::remove_tree(directory)
}

/// Every process that carries the claim's mark, their children, and all in one of the claim's control groups.
pub(crate) fn processes(id: &str, groups: &[PathBuf]) -> BTreeSet<i32> {
    let mark = format!("{MARK}={id}");
    let marked = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()).then_some(pid)
    });
    // A machine's first process is the child of a marked one, and has an environment of its own.
    let with_children = marked.flat_map(|pid| {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let mut all: Vec<i32> = children.split_whitespace().filter_map(|child| child.parse().ok()).collect();
        all.push(pid);
        all
    });
    with_children.chain(cgroup::processes(groups)).collect()
}

/// The control groups that a claim made.
pub(crate) fn noted_groups(directory: &Path) -> Vec<PathBuf> {
    let notes = fs::read_to_string(directory.join(GROUPS)).unwrap_or_default();
    notes.lines().map(PathBuf::from).collect()
}

fn end(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// What systemd-nspawn leaves when it is killed: the directories that it shared with the machine.
fn remove_nspawn_traces(id: &str) -> Result<()> {
    for place in ["/run/systemd/nspawn/propagate", "/run/systemd/nspawn/unix-export"] {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let ours = entry.file_name().to_string_lossy().contains(&format!("{id}-"));
            if ours {
                cache::remove_tree(&entry.path())?;
            }
        }
    }
    Ok(())
}
