//! Control groups of a machine: the one file that knows version 1 from version 2.
//!
//! Version 1 (and the hybrid of both) was tried on a host, version 2 in the virtual machine of the long tier; see
//! docs/testbed.md.
use crate::error::file;
use crate::{Error, Result, until};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a machine gets control groups of its own on this host.
#[derive(Debug)]
pub(crate) enum Plan {
    /// A group in every hierarchy, which the process enters before it becomes the machine.
    Version1(Vec<PathBuf>),
    /// A scope that the host's systemd makes, hands over, and removes when it is empty.
    Scope {
        /// Its unit's name.
        unit: String,
        /// Its group.
        group: PathBuf,
    },
    /// One group at the top of the single hierarchy, where no systemd manages it.
    Version2(PathBuf),
}

/// Where each kind of group is mounted.
struct Mount {
    point: PathBuf,
    root: String,
    controllers: Vec<String>,
    version2: bool,
}

impl Plan {
    /// What fits this host, for a machine of this name.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let mounts = mounts()?;
        if mounts.iter().any(|mount| !mount.version2) {
            return Ok(Self::Version1(groups(&mounts)?.into_iter().map(|own| own.join(name)).collect()));
        }
        let top = mounts.first().map(|mount| &mount.point);
        let top = top.ok_or_else(|| unreadable("/proc/self/mountinfo", "no control groups are mounted"))?;
        if Path::new("/run/systemd/system").exists() {
            let unit = format!("{name}.scope");
            return Ok(Self::Scope { group: top.join("system.slice").join(&unit), unit });
        }
        // Not below our own group: one that has processes can't hand down controllers, and ours has us.
        Ok(Self::Version2(top.join(name)))
    }

    /// All groups of the machine, in which its processes are found.
    pub(crate) fn groups(&self) -> Vec<PathBuf> {
        match self {
            Self::Version1(groups) => groups.clone(),
            Self::Scope { group, .. } | Self::Version2(group) => vec![group.clone()],
        }
    }

    /// The groups that we make ourselves, and that the machine's first process must enter.
    pub(crate) fn own_groups(&self) -> Vec<PathBuf> {
        if matches!(self, Self::Scope { .. }) { Vec::new() } else { self.groups() }
    }

    /// Makes the groups, ready to be entered.
    pub(crate) fn create(&self) -> Result<()> {
        for group in self.own_groups() {
            fs::create_dir_all(&group).map_err(file("create", &group))?;
            let Some(parent) = group.parent() else { continue };
            match self {
                Self::Version1(_) => fill_cpuset(parent, &group)?,
                _ => hand_down_controllers(parent)?,
            }
        }
        Ok(())
    }

    /// What a command line must start with so that the process is in the machine's groups.
    pub(crate) fn prefix(&self) -> Vec<String> {
        match self {
            Self::Scope { unit, .. } => {
                let unit = format!("--unit={unit}");
                let words = ["systemd-run", "--scope", "--quiet", "--collect", "--property=Delegate=yes", &unit, "--"];
                words.map(str::to_owned).to_vec()
            }
            _ => Vec::new(),
        }
    }

    /// What systemd-nspawn shall show the machine: the unified hierarchy, or one per controller.
    pub(crate) fn unified(&self) -> &'static str {
        if matches!(self, Self::Version1(_)) { "0" } else { "1" }
    }
}

/// A cpuset is born empty and lets nobody in before it is filled.
fn fill_cpuset(parent: &Path, group: &Path) -> Result<()> {
    for name in ["cpuset.cpus", "cpuset.mems"] {
        let (from, to) = (parent.join(name), group.join(name));
        if to.exists() {
            let inherited = fs::read_to_string(&from).map_err(file("read", from))?;
            fs::write(&to, inherited).map_err(file("write", to))?;
        }
    }
    Ok(())
}

/// A group of version 2 has only the controllers that the one above it hands down.
fn hand_down_controllers(parent: &Path) -> Result<()> {
    let handed = fs::write(parent.join("cgroup.subtree_control"), "+cpu +cpuset +io +memory +pids");
    handed.map_err(|error| Error::Missing {
        what: format!("a control group that can be divided ({}: {error})", parent.display()),
        remedy: "run where systemd is the first process, or with the host's own control groups (--cgroupns=host)"
            .to_owned(),
    })
}

/// The processes in these groups and below.
pub(crate) fn processes(groups: &[PathBuf]) -> Vec<i32> {
    let all = groups.iter().flat_map(|group| tree(group));
    let listed = all.filter_map(|group| fs::read_to_string(group.join("cgroup.procs")).ok());
    // A process that this pid namespace can't see is listed as 0.
    listed
        .flat_map(|text| text.lines().filter_map(|line| line.parse().ok()).collect::<Vec<_>>())
        .filter(|pid| *pid > 0)
        .collect()
}

/// Removes empty groups, deepest first; the kernel may need a moment after the last process has gone.
pub(crate) fn remove(groups: &[PathBuf]) -> Result<()> {
    until("the end of the machine's control groups", Duration::from_secs(60), || {
        let mut left = Vec::new();
        for group in groups.iter().flat_map(|group| tree(group)) {
            if let Err(error) = fs::remove_dir(&group) {
                left.push(format!("{}: {error}", group.display()));
            }
        }
        if left.is_empty() { Ok(()) } else { Err(left.join(", ")) }
    })
}

/// A group and all below it, children before parents.
fn tree(group: &Path) -> Vec<PathBuf> {
    let children = fs::read_dir(group).into_iter().flatten().flatten();
    let children = children.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut all: Vec<PathBuf> = children.flat_map(|child| tree(&child.path())).collect();
    all.extend(group.is_dir().then(|| group.to_owned()));
    all
}

/// This process's own group in every mounted hierarchy.
fn groups(mounts: &[Mount]) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string("/proc/self/cgroup").map_err(file("read", "/proc/self/cgroup"))?;
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            return Err(unreadable("/proc/self/cgroup", line));
        };
        let wanted: Vec<&str> = controllers.split(',').filter(|name| !name.is_empty()).collect();
        let mount = mounts.iter().find(|mount| {
            mount.version2 == wanted.is_empty()
                && wanted.iter().all(|name| mount.controllers.iter().any(|own| own == name))
        });
        if let Some(mount) = mount {
            let below = path.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or(path);
            groups.push(mount.point.join(below.trim_start_matches('/')));
        }
    }
    Ok(groups)
}

fn mounts() -> Result<Vec<Mount>> {
    let text = fs::read_to_string("/proc/self/mountinfo").map_err(file("read", "/proc/self/mountinfo"))?;
    Ok(text.lines().filter_map(mount).collect())
}

/// One line of mountinfo: `… root point options … - type source super-options`.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let kind = after.next()?;
    let options = after.nth(1)?;
    let mut before = before.split(' ').skip(3);
    let (root, point) = (before.next()?.to_owned(), PathBuf::from(before.next()?));
    let controllers = options.split(',').map(str::to_owned).collect();
    matches!(kind, "cgroup" | "cgroup2").then(|| Mount { point, root, controllers, version2: kind == "cgroup2" })
}

fn unreadable(what: &str, found: &str) -> Error {
    Error::Unreadable { what: what.to_owned(), found: found.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_tells_version_and_controllers() {
        let line = "31 25 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct";
        let found = mount(line).unwrap();
        assert_eq!((found.version2, found.point), (false, PathBuf::from("/sys/fs/cgroup/cpu")));
        assert!(found.controllers.contains(&"cpuacct".to_owned()));
        assert!(mount("25 1 0:22 / /sys rw - sysfs sysfs rw").is_none());
    }

    #[test]
    fn this_process_has_a_group_on_this_host() {
        assert!(!groups(&mounts().unwrap()).unwrap().is_empty());
    }
}
