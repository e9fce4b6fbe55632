//! What the process takes from itself before it reads a key: files that it does not need (landlock), and system calls
//! that it never makes (seccomp), where the kernel has them.
use crate::paths::{Directories, directories_of};
use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetStatus,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The newest version of landlock that we know; older kernels enforce what they have.
const LANDLOCK: ABI = ABI::V5;

/// What TLS and the resolver of names read.
const SYSTEM: &[&str] =
    &["/etc", "/usr", "/lib", "/lib64", "/run/systemd/resolve", "/var/lib/ca-certificates", "/dev/urandom"];

/// What they read beside, as the machine says.
struct SystemFiles {
    /// Often a link to a directory of the program that writes it.
    resolver: PathBuf,
    /// Further CA certificates: a file, and a list of directories.
    certificate_file: Option<OsString>,
    certificate_directories: Option<OsString>,
}

impl SystemFiles {
    fn find() -> Self {
        Self {
            resolver: "/etc/resolv.conf".into(),
            certificate_file: std::env::var_os("SSL_CERT_FILE"),
            certificate_directories: std::env::var_os("SSL_CERT_DIR"),
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        let Self { resolver, certificate_file, certificate_directories } = self;
        let files = certificate_file.iter().map(Path::new).chain([resolver.as_path()]);
        let listed = certificate_directories.iter().flat_map(std::env::split_paths);
        let all = SYSTEM.iter().map(PathBuf::from).chain(files.flat_map(directories_of)).chain(listed);
        // Never the root, below which everything is.
        let all = all.filter(|directory| directory.parent().is_some());
        all.chain(certificate_file.iter().map(PathBuf::from)).collect()
    }
}

/// System calls that a server of four calls never makes: other programs, other processes, other namespaces, the kernel.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_mknodat,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_capset,
];

/// Flags of clone that make other namespaces. Without them it starts threads.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

const MODULE: &str = "no key had a PKCS#11 module when the plugin started, and landlock now forbids the files of one: restart \
    the plugin";

const ROOT: &str =
    "enforced in part, since a path of the configuration lies in /, which leaves all files: move it to a directory";

/// What is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Confinement {
    /// The directories that are left, if the kernel enforces that.
    pub(crate) left: Option<Directories>,
    /// What landlock does, for the log.
    pub(crate) landlock: &'static str,
    /// What seccomp does, for the log.
    pub(crate) seccomp: &'static str,
}

impl Confinement {
    /// Confines the calling thread and all that it starts. An error is why a kernel that has these refused them.
    pub(crate) fn enter(directories: &Directories) -> Result<Self, String> {
        let failed = |error| format!("cannot confine the process: {error}");
        let status = match directories.has_module {
            true => None,
            false => Some(restrict_files(directories).map_err(failed)?),
        };
        let landlock = shown(status.as_ref(), directories);
        let is_confined = matches!(status, Some(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced));
        let left = is_confined.then(|| directories.clone());
        let seccomp = match restrict_calls() {
            Ok(()) => "enforced",
            Err(seccompiler::Error::Prctl(_) | seccompiler::Error::Seccomp(_)) => "not in this kernel",
            Err(error) => return Err(format!("cannot confine the process: {error}")),
        };
        Ok(Self { left, landlock, seccomp })
    }

    /// Why a key can't be served by this process, if it needs a directory that was given up.
    pub(crate) fn refuses(&self, wanted: &Directories) -> Option<String> {
        let left = self.left.as_ref()?;
        if wanted.has_module {
            return Some(MODULE.to_owned());
        }
        let lacking = left.lacks(wanted)?;
        Some(format!(
            "the directory {} was not in the configuration when the plugin started, and landlock now forbids it: restart the plugin",
            lacking.display()
        ))
    }
}

/// What landlock does; without a status, it was not asked.
fn shown(status: Option<&RulesetStatus>, directories: &Directories) -> &'static str {
    let has_root = directories.read.iter().chain(&directories.write).any(|path| path.parent().is_none());
    match status {
        Some(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) if has_root => ROOT,
        Some(RulesetStatus::FullyEnforced) => "enforced",
        Some(RulesetStatus::PartiallyEnforced) => "enforced in part",
        Some(RulesetStatus::NotEnforced) => "not in this kernel",
        None => "off, since only a PKCS#11 module knows which files it opens",
    }
}

fn restrict_files(directories: &Directories) -> Result<RulesetStatus, landlock::RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = read | AccessFs::WriteFile | AccessFs::MakeReg | AccessFs::MakeSock | AccessFs::RemoveFile;
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(LANDLOCK))?.create()?;
    let system = SystemFiles::find().paths().into_iter();
    for path in system.chain(directories.read.iter().map(|path| existing(path))) {
        rules = allow(rules, &path, read)?;
    }
    for path in &directories.write {
        rules = allow(rules, path, write)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// What does not exist needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(open) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(LANDLOCK) };
    rules.add_rule(PathBeneath::new(open, access))
}

/// The path, or what exists above it: a Secret may be mounted later. Never the root, below which everything is.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).filter(|found| found.parent().is_some()).unwrap_or(path).to_owned()
}

fn restrict_calls() -> Result<(), seccompiler::Error> {
    let mut rules: Rules = FORBIDDEN.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, other_namespaces()?);
    refuse(rules, libc::EPERM)?;
    // Its flags are in memory, where no filter sees them. Libraries that are told that it does not exist use clone.
    refuse([(libc::SYS_clone3, Vec::new())].into(), libc::ENOSYS)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn refuse(rules: Rules, errno: libc::c_int) -> Result<(), seccompiler::Error> {
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, arch)?;
    let program = BpfProgram::try_from(filter)?;
    seccompiler::apply_filter(&program)
}

/// What matches a clone with any of the flags.
fn other_namespaces() -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let rule = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        let has_flag = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
        Ok(SeccompRule::new(vec![has_flag])?)
    };
    NAMESPACES.iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::{fs, io};
    use tempfile::TempDir;

    /// Runs on a thread of its own, which alone is confined.
    fn confined<T: Send>(directories: &Directories, work: impl FnOnce(Confinement) -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(|| work(Confinement::enter(directories).unwrap())).join().unwrap())
    }

    #[test]
    fn a_path_that_leaves_all_files_is_told() {
        let others = TempDir::new().unwrap();
        fs::write(others.path().join("key"), "secret").unwrap();
        let directories = Directories { read: vec!["/".into()], ..Directories::default() };
        confined(&directories, |confinement| {
            let is_left = fs::read(others.path().join("key")).is_ok();
            assert_eq!((is_left, confinement.landlock), (true, ROOT));
        });
    }

    #[test]
    fn paths_and_calls_that_are_not_needed_are_refused_and_needed_ones_are_not() {
        let (keys, sockets, others) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
        for directory in [&keys, &others] {
            fs::write(directory.path().join("key"), "secret").unwrap();
        }
        let directories = Directories {
            read: vec![keys.path().to_owned()],
            write: vec![sockets.path().to_owned()],
            has_module: false,
        };
        let denied = io::ErrorKind::PermissionDenied;
        confined(&directories, |confinement| {
            assert_eq!(confinement.seccomp, "enforced");
            assert!(confinement.landlock.starts_with("enforced"), "{confinement:?}");
            let exec = Command::new("/bin/true").status().unwrap_err();
            assert_eq!(exec.kind(), denied);
            let root = rustix::process::chroot("/").unwrap_err();
            assert_eq!(root, rustix::io::Errno::PERM);
            assert_eq!(fs::read_to_string(keys.path().join("key")).unwrap(), "secret");
            assert_eq!(fs::read_to_string(others.path().join("key")).unwrap_err().kind(), denied);
            assert_eq!(fs::write(keys.path().join("key"), "x").unwrap_err().kind(), denied);
            UnixListener::bind(sockets.path().join("s.new")).unwrap();
            fs::rename(sockets.path().join("s.new"), sockets.path().join("s")).unwrap();
            fs::remove_file(sockets.path().join("s")).unwrap();
            assert!(fs::read_to_string("/etc/hosts").is_ok());
            let elsewhere = Directories { read: vec![others.path().to_owned()], ..Directories::default() };
            assert!(confinement.refuses(&elsewhere).unwrap().ends_with("restart the plugin"));
            assert_eq!(confinement.refuses(&directories), None);
        });
        assert!(fs::read_to_string(others.path().join("key")).is_ok(), "the test itself is not confined");
    }

    #[test]
    fn what_does_not_exist_yet_opens_what_exists_above_it_and_never_the_root() {
        let directory = TempDir::new().unwrap();
        assert_eq!(existing(&directory.path().join("later/still")), directory.path());
        let absent = Path::new("/no-such-directory/credentials");
        assert_eq!(existing(absent), absent);
    }

    #[test]
    fn a_resolver_behind_a_link_and_all_ca_certificates_are_readable() {
        let [etc, run, certificates] = [(); 3].map(|()| TempDir::new().unwrap());
        let resolver = etc.path().join("resolv.conf");
        fs::write(run.path().join("resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
        std::os::unix::fs::symlink(run.path().join("resolv.conf"), &resolver).unwrap();
        let listed = std::env::join_paths([certificates.path(), Path::new("/srv/ca")]).unwrap();
        let files = |certificate_file: &str| SystemFiles {
            resolver: resolver.clone(),
            certificate_file: Some(certificate_file.into()),
            certificate_directories: Some(listed.clone()),
        };
        let found = files("/srv/bundle/ca.crt").paths();
        for wanted in [run.path(), certificates.path(), Path::new("/srv/ca"), Path::new("/srv/bundle")] {
            assert!(found.iter().any(|own| own == wanted), "{} is not in {found:?}", wanted.display());
        }
        let found = files("/ca.crt").paths();
        assert!(found.contains(&"/ca.crt".into()) && !found.contains(&"/".into()), "{found:?}");
    }
}
