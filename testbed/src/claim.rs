//! A claim: the directory, the name and the mark under which one bed or control plane keeps all its belongings.
//!
//! Everything that outlives a call is found again through the claim's id: processes carry it in their environment,
//! control groups are listed in its directory, namespaces live in its processes. So a later run can clean up after
//! one that was killed, and can't touch anything else.
use crate::cache::{self, Lock};
use crate::error::file;
use crate::owner::{Owner, Process};
use crate::{Result, digest, reaper};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable that marks every process that we start.
pub(crate) const MARK: &str = "MACHINEADM_TESTBED";

static COUNT: AtomicU32 = AtomicU32::new(0);
static REAPED: Once = Once::new();

/// A bed's or control plane's own place.
#[derive(Debug)]
pub(crate) struct Claim {
    id: String,
    directory: PathBuf,
}

impl Claim {
    /// A fresh claim of this process; the first one of a process also cleans up after dead ones.
    pub(crate) fn new() -> Result<Self> {
        REAPED.call_once(|| {
            if let Err(error) = reaper::reap_dead() {
                eprintln!("testbed: cannot clean up after an earlier run: {error}");
            }
        });
        let owner = Process::current()?;
        let unique = format!("{owner:?} {}", COUNT.fetch_add(1, Ordering::Relaxed));
        let id = format!("ma{}", digest::short(unique));
        let directory = claims()?.join(&id);
        let nascent = claims()?.join(format!(".{id}"));
        fs::create_dir_all(&nascent).map_err(file("create", &nascent))?;
        write_owner(&nascent, &Owner::Process(owner))?;
        fs::rename(&nascent, &directory).map_err(file("create", &directory))?;
        Ok(Self { id, directory })
    }

    /// Short, unique on this machine, good as part of any name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// A directory on disk that is the claim's alone.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A command whose process is marked as this claim's and has a session of its own.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setsid");
        command.arg(program).env(MARK, &self.id);
        command
    }

    /// Notes control groups before they are made, so that they are found again.
    pub(crate) fn note_groups(&self, groups: &[PathBuf]) -> Result<()> {
        let path = self.directory.join(GROUPS);
        let mut notes = fs::OpenOptions::new().create(true).append(true).open(&path).map_err(file("open", &path))?;
        let lines: String = groups.iter().map(|group| format!("{}\n", group.display())).collect();
        notes.write_all(lines.as_bytes()).map_err(file("write", &path))
    }

    /// From now on it outlives this process, until [`reaper::take_down`].
    pub(crate) fn keep(&self) -> Result<()> {
        write_owner(&self.directory, &Owner::Kept)
    }
}

/// The file in a claim's directory that lists its control groups.
pub(crate) const GROUPS: &str = "control-groups";

/// The directory of all claims.
pub(crate) fn claims() -> Result<PathBuf> {
    Ok(cache::directory()?.join("beds"))
}

/// The directories of the claims that were kept.
pub(crate) fn kept() -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(claims()?).into_iter().flatten().flatten().map(|entry| entry.path());
    Ok(entries.filter(|directory| owner(directory) == Some(Owner::Kept)).collect())
}

/// Held while claims are cleaned up, so that two runs don't do it at once.
pub(crate) fn lock() -> Result<Lock> {
    Lock::take(&cache::directory()?.join("beds.lock"))
}

/// The owner of the claim in a directory; `None` when the claim is being made or removed this moment.
pub(crate) fn owner(directory: &Path) -> Option<Owner> {
    serde_json::from_slice(&fs::read(directory.join("owner")).ok()?).ok()
}

fn write_owner(directory: &Path, owner: &Owner) -> Result<()> {
    let path = directory.join("owner");
    let fresh = directory.join("owner.new");
    fs::write(&fresh, serde_json::json!(owner).to_string()).map_err(file("write", &fresh))?;
    fs::rename(&fresh, &path).map_err(file("write", path))
}
