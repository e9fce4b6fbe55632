//! The guard between machineadm and a command: it dumps no core, may change the root, and when the machineadm process has ended, however
//! it went, ends the command with all that it started. Otherwise a next run would meet a command still at work.
//!
//! Rust offers such steps only in a process of one's own, so machineadm runs itself with [`MARK`] first.
use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::OwnedFd,
    io::Errno,
    process::{
        DumpableBehavior, PidfdFlags, Resource, Rlimit, Signal, chroot, getpgrp, getpid, getppid, kill_process,
        kill_process_group, pidfd_open, set_dumpable_behavior, setrlimit,
    },
};
use std::{
    ffi::OsString,
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus, exit},
};

/// The first argument by which machineadm knows that it is such a guard.
pub const MARK: &str = "internal-run";

/// `internal-run PARENT ROOT PROGRAM ARGUMENT…`: ends as the program does; returns only the reason why it could not run.
pub fn run_guarded(arguments: impl Iterator<Item = OsString>) -> io::Error {
    match start(arguments).and_then(|(parent, mut child)| {
        std::thread::spawn(move || end_with(&parent));
        child.wait()
    }) {
        Ok(status) => end_like(status),
        Err(error) => error,
    }
}

fn start(mut arguments: impl Iterator<Item = OsString>) -> io::Result<(OwnedFd, Child)> {
    let mut next = || arguments.next().ok_or_else(|| io::Error::other("internal-run is for machineadm itself"));
    let (parent, root, program) = (next()?, next()?, next()?);
    let parent = prepare(&parent.to_string_lossy(), &root)?;
    let failed =
        |error: io::Error| io::Error::other(format!("cannot run {}: {}", program.to_string_lossy(), reason(&error)));
    let child = Command::new(&program).args(arguments).spawn().map_err(failed)?;
    Ok((parent, child))
}

/// The system's reason, without its number.
fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(
        || error.to_string(),
        |number| {
            let text = io::Error::from_raw_os_error(number).to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        },
    )
}

/// The parent, as something that can be watched.
fn prepare(parent: &str, root: &OsString) -> io::Result<OwnedFd> {
    let gone = || io::Error::other("the machineadm process has ended");
    let pid = getppid().filter(|pid| pid.as_raw_nonzero().to_string() == parent).ok_or_else(gone)?;
    let watched = pidfd_open(pid, PidfdFlags::empty())?;
    // It may have gone, and its number to another process, before that call.
    if getppid() != Some(pid) {
        return Err(gone());
    }
    no_core_dumps()?;
    if root != "/" {
        std::env::set_current_dir(root)?;
        chroot(".")?;
    }
    std::env::set_current_dir("/")?;
    Ok(watched)
}

/// Waits for the parent's end, then ends everything in this group, this guard included.
fn end_with(parent: &OwnedFd) {
    // A watch that can't be kept ends it too: a command without its run must not go on.
    let _ = rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(parent, PollFlags::IN)], None));
    let _ = kill_process_group(getpgrp(), Signal::KILL);
}

/// Ends as the command did, so that whoever waits sees no difference.
fn end_like(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        let _ = kill_process(getpid(), signal);
    }
    exit(status.code().unwrap_or(1))
}

/// Core dumps would hold secrets. To a program that takes dumps through a pipe the kernel hands them whatever the limit,
/// unless the limit is 1 (core(5)); for a file 1 byte is too few for any dump. What this process starts has the same limit.
pub fn no_core_dumps() -> io::Result<()> {
    // This process itself is not dumped at all, nor looked into by others of its user.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match setrlimit(Resource::Core, limit(1)) {
        // Somebody has taken even that away, and only root can raise it again.
        Err(Errno::PERM) => Ok(setrlimit(Resource::Core, limit(0))?),
        set => Ok(set?),
    }
}
