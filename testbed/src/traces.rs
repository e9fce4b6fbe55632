//! What of a bed or control plane can be found on the host, and the host's settings: both for proofs that nothing is left
//! or changed.
//!
//! Namespaces have no names and outlive nothing that could be searched for by an id. So a proof notes them while the bed
//! is alive ([`Traces::of`]), and looks afterwards for anything that still holds one of them ([`Traces::found`]). The
//! kernel gives the number of a namespace that is gone to the next one, so only who was there with the bed counts: a
//! neighbour that began later can have such a number and nothing of the bed.
use crate::error::file;
use crate::{Error, Result, owner, reaper};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a bed or control plane has on the host while it is alive.
#[derive(Debug)]
pub struct Traces {
    id: String,
    directory: PathBuf,
    /// As the kernel writes them: `net:[4026532000]`.
    namespaces: BTreeSet<String>,
    groups: Vec<PathBuf>,
    /// The processes of the whole host, each with the time when it started.
    processes: BTreeSet<(u32, String)>,
    /// Where its namespaces were mounted, as lines of mountinfo.
    mounted: BTreeSet<String>,
}

impl Traces {
    /// Those of the bed or control plane in this directory.
    pub fn of(directory: &Path) -> Result<Self> {
        let id = directory.file_name().and_then(|name| name.to_str());
        let id = id.ok_or_else(|| Error::Misused(format!("{} is no bed", directory.display())))?.to_owned();
        let groups = reaper::noted_groups(directory);
        let of_host = namespaces("self");
        let processes = reaper::processes(&id, &groups);
        let theirs = processes.iter().flat_map(|pid| namespaces(&pid.to_string()));
        let namespaces: BTreeSet<_> = theirs.filter(|namespace| !of_host.contains(namespace)).collect();
        let processes = self::processes();
        // A namespace that is mounted is the root of its mount.
        let is_theirs = |line: &String| namespaces.iter().any(|own| line.contains(own));
        let mounted = processes.iter().flat_map(|(pid, _)| mounts(*pid)).filter(is_theirs).collect();
        Ok(Self { id, directory: directory.to_owned(), namespaces, groups, processes, mounted })
    }

    /// Every process, namespace, control group, mount, socket and directory of it that is there now.
    pub fn found(&self) -> Result<Vec<String>> {
        let marked = reaper::processes(&self.id, &self.groups);
        let mut found: BTreeSet<String> = marked.into_iter().map(|pid| format!("process {pid}")).collect();
        for process in processes() {
            found.extend(self.held_by(&process));
        }
        found.extend(self.directories().into_iter().map(|path| path.display().to_string()));
        let sockets = fs::read_to_string("/proc/net/unix").map_err(file("read", "/proc/net/unix"))?;
        found.extend(sockets.lines().filter(|line| line.contains(&self.id)).map(|line| format!("socket {line}")));
        Ok(found.into_iter().collect())
    }

    /// Namespaces that a process lives in or has open, and mounts that it sees.
    fn held_by(&self, process: &(u32, String)) -> BTreeSet<String> {
        let pid = process.0;
        let is_ours = |line: &String| line.contains(&self.id) || self.mounted.contains(line);
        let mut held: BTreeSet<_> = mounts(pid).filter(is_ours).map(|line| format!("mount {line}")).collect();
        if self.processes.contains(process) {
            let links = namespaces(&pid.to_string()).into_iter().chain(links(&format!("/proc/{pid}/fd")));
            let namespaces = links.filter(|link| self.namespaces.contains(link));
            held.extend(namespaces.map(|namespace| format!("namespace {namespace} of process {pid}")));
        }
        held
    }

    fn directories(&self) -> Vec<PathBuf> {
        let mut named = Vec::new();
        for place in ["/sys/fs/cgroup", "/run/systemd/nspawn"] {
            directories(Path::new(place), &mut named);
        }
        named.retain(|path| path.to_string_lossy().contains(&self.id));
        named.extend(self.groups.iter().chain([&self.directory]).filter(|path| path.exists()).cloned());
        named
    }
}

/// Every setting of the host's kernel that can be written, by its path.
pub fn host_settings() -> BTreeMap<PathBuf, String> {
    let mut settings = BTreeMap::new();
    read_settings(Path::new("/proc/sys"), &mut settings);
    // The number of the latest process is no setting.
    settings.remove(Path::new("/proc/sys/kernel/ns_last_pid"));
    settings
}

/// All processes; one that has ended and waits for its parent's look holds nothing but its number.
fn processes() -> BTreeSet<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|pid| Some((pid, owner::start_time(pid)?))).collect()
}

/// What a process sees mounted; nothing when it has just ended.
fn mounts(pid: u32) -> impl Iterator<Item = String> {
    let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
    mounts.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The namespaces of a process; none when it has just ended.
fn namespaces(pid: &str) -> BTreeSet<String> {
    links(&format!("/proc/{pid}/ns"))
}

/// Where the links of a directory lead.
fn links(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned())).collect()
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
