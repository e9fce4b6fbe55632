//! What the host must bring, how to see whether it does, and what brings it.
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// Programs that the test bed calls, and what installs each.
const PROGRAMS: &[(&str, &str)] = &[
    ("chroot", "apt-get install coreutils"),
    ("curl", "apt-get install curl"),
    ("go", "install Go 1.26 or newer"),
    ("ip", "apt-get install iproute2"),
    ("mmdebstrap", "apt-get install mmdebstrap"),
    ("mount", "apt-get install mount"),
    ("nsenter", "apt-get install util-linux"),
    ("setpriv", "apt-get install util-linux"),
    ("setsid", "apt-get install util-linux"),
    ("systemd-nspawn", "apt-get install systemd-container"),
    ("unshare", "apt-get install util-linux"),
];

/// Programs that only the long tier calls, for its virtual machine.
const LONG_TIER: &[(&str, &str)] =
    &[("mke2fs", "apt-get install e2fsprogs"), ("qemu-system-x86_64", "apt-get install qemu-system-x86")];

/// Capabilities without which no machine boots: their number and name.
const CAPABILITIES: &[(u32, &str)] =
    &[(1, "CAP_DAC_OVERRIDE"), (12, "CAP_NET_ADMIN"), (18, "CAP_SYS_CHROOT"), (21, "CAP_SYS_ADMIN"), (27, "CAP_MKNOD")];

/// All machines share it with the host. A node has some 25 instances.
const INOTIFY: &str = "/proc/sys/fs/inotify/max_user_instances";
const INOTIFY_INSTANCES: u32 = 1024;

/// One thing that was looked at.
#[derive(Debug)]
pub struct Finding {
    /// What.
    pub what: String,
    /// What brings it, if it is missing.
    pub remedy: Option<String>,
}

/// Looks at everything, so that a person sees all that is missing at once.
pub fn examine() -> Result<Vec<Finding>> {
    let mut findings = vec![finding("root", rustix::process::geteuid().is_root(), "run as root (sudo)")];
    let held = effective_capabilities()?;
    for (number, name) in CAPABILITIES {
        findings.push(finding(
            name,
            held >> number & 1 == 1,
            "run as root of the machine, or in a privileged container",
        ));
    }
    for (program, remedy) in PROGRAMS {
        findings.push(finding(program, find(program).is_some(), &by_setup(remedy)));
    }
    let overlay = std::fs::read_to_string("/proc/filesystems").is_ok_and(|all| all.contains("overlay"));
    findings.push(finding("overlay file system", overlay, "modprobe overlay"));
    let instances = std::fs::read_to_string(INOTIFY).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let what = format!("{INOTIFY_INSTANCES} inotify instances");
    let remedy = format!("run testbed/setup, or: sysctl -w fs.inotify.max_user_instances={INOTIFY_INSTANCES}");
    findings.push(finding(&what, instances.is_some_and(|found| found >= INOTIFY_INSTANCES), &remedy));
    let apt = crate::base::sources().is_ok();
    findings.push(finding("Debian package sources", apt, "configure apt's sources for this host's own release"));
    Ok(findings)
}

/// Fails with one line for the first of these programs that is not installed.
pub(crate) fn require(programs: &[&str]) -> Result<()> {
    programs.iter().find(|program| find(program).is_none()).map_or(Ok(()), |program| Err(missing_program(program)))
}

/// Fails with one line unless this many GiB are free where a path is.
pub(crate) fn require_disk(path: &Path, wanted: u64) -> Result<()> {
    let found = rustix::fs::statvfs(path).map_err(|errno| crate::error::file("examine", path)(errno.into()))?;
    let free = (found.f_bavail * found.f_frsize) >> 30;
    if free >= wanted {
        return Ok(());
    }
    let what = format!("disk space ({wanted} GiB needed, {free} GiB free at {})", path.display());
    Err(Error::Missing { what, remedy: "free some, or set XDG_CACHE_HOME to a larger disk".to_owned() })
}

/// Fails with one line unless machines can be run at all.
pub(crate) fn require_machines() -> Result<()> {
    match examine()?.into_iter().find(|finding| finding.remedy.is_some() && finding.what != "go") {
        Some(Finding { what, remedy }) => Err(Error::Missing { what, remedy: remedy.unwrap_or_default() }),
        None => Ok(()),
    }
}

/// The error for a program that is not installed.
pub(crate) fn missing_program(program: &str) -> Error {
    let remedy_in = |list: &[(&str, &'static str)]| list.iter().find(|(name, _)| *name == program).map(|found| found.1);
    let remedy = match (remedy_in(PROGRAMS), remedy_in(LONG_TIER)) {
        (Some(remedy), _) => by_setup(remedy),
        (None, Some(remedy)) => format!("{remedy} (or run testbed/setup --long)"),
        (None, None) => "install it".to_owned(),
    };
    Error::Missing { what: program.to_owned(), remedy }
}

fn by_setup(remedy: &str) -> String {
    if remedy.starts_with("apt-get") { format!("{remedy} (or run testbed/setup)") } else { remedy.to_owned() }
}

fn finding(what: &str, there: bool, remedy: &str) -> Finding {
    Finding { what: what.to_owned(), remedy: (!there).then(|| remedy.to_owned()) }
}

/// Where a program lies, if this host has it.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

fn effective_capabilities() -> Result<u64> {
    let status =
        std::fs::read_to_string("/proc/self/status").map_err(crate::error::file("read", "/proc/self/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    held.ok_or_else(|| Error::Unreadable { what: "/proc/self/status".to_owned(), found: "no CapEff".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_named_with_both_sizes() {
        assert!(require_disk(Path::new("/"), 0).is_ok());
        let error = require_disk(Path::new("/"), 1 << 30).unwrap_err().to_string();
        assert!(error.starts_with("disk space (1073741824 GiB needed, "), "{error}");
    }
}
