//! What of a claim can be found on the host, and the host's settings: both for proofs that nothing is left or changed.
use crate::{Result, claim, reaper};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Every process, control group, mount, socket and directory that carries a bed's id.
pub fn of(id: &str) -> Result<Vec<String>> {
    let mut traces: Vec<String> = reaper::processes(id, &[]).into_iter().map(|pid| format!("process {pid}")).collect();
    let mut named = Vec::new();
    for place in ["/sys/fs/cgroup", "/run/systemd/nspawn", "/run/netns"] {
        directories(Path::new(place), &mut named);
    }
    named.push(claim::claims()?.join(id));
    let ours = named.iter().filter(|path| path.exists() && path.to_string_lossy().contains(id));
    traces.extend(ours.map(|path| path.display().to_string()));
    for table in ["/proc/self/mountinfo", "/proc/net/unix"] {
        let text = fs::read_to_string(table).map_err(crate::error::file("read", table))?;
        traces.extend(text.lines().filter(|line| line.contains(id)).map(str::to_owned));
    }
    Ok(traces)
}

/// Every setting of the host's kernel that can be written, by its path.
pub fn host_settings() -> BTreeMap<PathBuf, String> {
    let mut settings = BTreeMap::new();
    read_settings(Path::new("/proc/sys"), &mut settings);
    // The number of the latest process is no setting.
    settings.remove(Path::new("/proc/sys/kernel/ns_last_pid"));
    settings
}

fn directories(place: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            directories(&entry.path(), found);
            found.push(entry.path());
        }
    }
}

fn read_settings(place: &Path, settings: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            read_settings(&entry.path(), settings);
        } else if metadata.permissions().mode() & 0o200 != 0
            && let Ok(value) = fs::read_to_string(entry.path())
        {
            settings.insert(entry.path(), value);
        }
    }
}
