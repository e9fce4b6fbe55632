//! What the running system has: swap, memory, processors, disk space, control groups, the clock, names and programs.
use super::{kernel, program, systemd::Shown};
use crate::{CgroupVersion, Cgroups, Clock, DiskSpace, Error, Result, Service};
use rustix::io::Errno;
use std::{
    fs, io,
    net::ToSocketAddrs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::mpsc,
    thread,
    time::{Duration, SystemTime},
};

const CGROUPS: &str = "/sys/fs/cgroup";
/// `CGROUP2_SUPER_MAGIC` of linux/magic.h.
const CGROUP2_SUPER_MAGIC: u64 = 0x6367_7270;
/// systemd-timesyncd creates it when it has set the clock; see systemd-timesyncd.service(8).
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";

/// The areas that memory is swapped to.
pub(super) fn swaps() -> Result<Vec<String>> {
    Ok(optional("/proc/swaps")?.map(|text| swap_areas(&text)).unwrap_or_default())
}

fn swap_areas(text: &str) -> Vec<String> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// All memory in bytes, as kubeadm counts it.
pub(super) fn memory() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(u64::from(info.mem_unit))
}

/// The processors that this process may use, as Go counts them.
pub(super) fn processors() -> Result<usize> {
    let set = rustix::thread::sched_getaffinity(None).map_err(Error::system("count the processors"))?;
    Ok(usize::try_from(set.count()).unwrap_or(usize::MAX))
}

/// The space of the file system that a path is on, or will be on once it exists.
pub(super) fn space(path: &str) -> Result<DiskSpace> {
    for path in Path::new(path).ancestors() {
        let found = match rustix::fs::statvfs(path) {
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            found => found.map_err(Error::system(format!("read the disk space of {}", path.display())))?,
        };
        return Ok(DiskSpace {
            bytes: found.f_blocks.saturating_mul(found.f_frsize),
            available: found.f_bavail.saturating_mul(found.f_frsize),
            inodes: found.f_files,
            available_inodes: found.f_favail,
        });
    }
    Err(Error::System { doing: format!("read the disk space of {path}"), source: io::ErrorKind::NotFound.into() })
}

/// Control groups, as the kubelet sees them.
pub(super) fn cgroups() -> Result<Cgroups> {
    let found = rustix::fs::statfs(CGROUPS).map_err(Error::system(format!("read {CGROUPS}")))?;
    if u64::try_from(found.f_type).is_ok_and(|magic| magic == CGROUP2_SUPER_MAGIC) {
        let text = optional(&format!("{CGROUPS}/cgroup.controllers"))?.unwrap_or_default();
        let controllers = text.split_whitespace().map(str::to_owned).collect();
        return Ok(Cgroups { version: CgroupVersion::V2, controllers });
    }
    let controllers = enabled_controllers(&optional("/proc/cgroups")?.unwrap_or_default());
    Ok(Cgroups { version: CgroupVersion::V1, controllers: controllers.into_iter().collect() })
}

/// The rows of `/proc/cgroups` whose last column is not 0.
fn enabled_controllers(text: &str) -> Vec<String> {
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let words = rows.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.filter(|words| words.get(3).is_some_and(|enabled| *enabled != "0")).map(|words| words[0].to_owned()).collect()
}

/// The clock. Only systemd-timesyncd leaves a mark when it has set it.
pub(super) fn clock() -> Result<Clock> {
    let synchronized = match Shown::of("systemd-timesyncd.service", "LoadState,ActiveState") {
        Ok(shown) if shown.activity() == Service::Active => Some(Path::new(SYNCHRONIZED).exists()),
        _ => None,
    };
    Ok(Clock { now: SystemTime::now(), synchronized })
}

/// Whether the system's resolver has an address for a name. It may have to ask servers that do not answer.
pub(super) fn resolves(name: &str, within: Duration) -> Result<bool> {
    let (sender, receiver) = mpsc::channel();
    let name = name.to_owned();
    let asking = move || {
        let found = (name.as_str(), 0).to_socket_addrs().is_ok_and(|mut addresses| addresses.next().is_some());
        // Nobody may wait for it any more.
        let _ = sender.send(found);
    };
    thread::Builder::new().name("resolver".into()).spawn(asking).map_err(Error::io("start the resolver"))?;
    Ok(receiver.recv_timeout(within).unwrap_or(false))
}

/// Whether a program is in the PATH that kubeadm gets.
pub(super) fn has_program(name: &str) -> bool {
    let directories =
        program::ENVIRONMENT.iter().filter(|(key, _)| *key == "PATH").flat_map(|(_, path)| path.split(':'));
    let is_executable =
        |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    directories.map(|directory| Path::new(directory).join(name)).any(|path| is_executable(&path))
}

/// Whether a module is there, or could be loaded.
pub(super) fn provides_module(name: &str) -> Result<bool> {
    if kernel::has_module(name)? {
        return Ok(true);
    }
    let release = rustix::system::uname();
    let list = format!("/lib/modules/{}/modules.dep", release.release().to_string_lossy());
    let wanted = name.replace('-', "_");
    let listed = |line: &str| {
        let file = line.split(':').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        file.split('.').next().is_some_and(|stem| stem.replace('-', "_") == wanted)
    };
    Ok(optional(&list)?.is_some_and(|text| text.lines().any(listed)))
}

fn optional(path: &str) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::System { doing: format!("read {path}"), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_areas_are_the_rows_below_the_heading() {
        let text = "Filename\t\t\tType\t\tSize\n/dev/sda2   partition\t1000\n/swapfile file 10\n";
        assert_eq!(swap_areas(text), ["/dev/sda2", "/swapfile"]);
        assert_eq!(swap_areas("Filename\tType\n"), [""; 0]);
    }

    #[test]
    fn a_controller_that_is_disabled_does_not_count() {
        let text = "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t3\t7\t1\nmemory\t0\t90\t0\n";
        assert_eq!(enabled_controllers(text), ["cpuset"]);
    }

    #[test]
    fn the_space_of_a_path_that_does_not_exist_yet_is_that_of_its_file_system() {
        let here = space("/").unwrap();
        assert_eq!(space("/no/such/directory").unwrap().bytes, here.bytes);
        assert!(here.available <= here.bytes && here.bytes > 0);
    }

    #[test]
    fn programs_are_found_by_their_names_alone() {
        assert!(has_program("mount") && !has_program("no-such-program") && !has_program("../../etc/passwd"));
    }

    #[test]
    fn an_address_resolves_without_anybody_being_asked() {
        assert!(resolves("127.0.0.1", Duration::from_secs(5)).unwrap());
    }

    #[test]
    fn this_machine_has_memory_processors_and_control_groups() {
        assert!(memory() > 1 << 26 && processors().unwrap() > 0 && !cgroups().unwrap().controllers.is_empty());
    }
}
