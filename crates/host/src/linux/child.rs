//! The last steps in a child before it becomes the user's command: it dies with us, dumps no core, and may change its root.
//!
//! Rust offers them only in a process of one's own, so machineadm runs itself with [`MARK`] first.
use rustix::process::{Pid, Resource, Rlimit, Signal, chroot, getppid, set_parent_process_death_signal, setrlimit};
use std::{ffi::OsString, io, os::unix::process::CommandExt, process::Command};

/// The first argument by which machineadm knows that it is such a child.
pub const MARK: &str = "internal-run";

/// `internal-run PARENT ROOT PROGRAM ARGUMENT…`: becomes the program; returns only the reason why it could not.
pub fn become_program(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let mut next = || arguments.next().ok_or_else(|| io::Error::other("internal-run is not for people"));
    let prepared = next().and_then(|parent| {
        let root = next()?;
        prepare(&parent.to_string_lossy(), &root)?;
        next()
    });
    match prepared {
        Ok(program) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

fn prepare(parent: &str, root: &OsString) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before that call.
    if getppid().map(Pid::as_raw_nonzero).map(|pid| pid.to_string()).as_deref() != Some(parent) {
        return Err(io::Error::other("machineadm is gone"));
    }
    no_core_dumps()?;
    if root != "/" {
        std::env::set_current_dir(root)?;
        chroot(".")?;
    }
    std::env::set_current_dir("/")
}

/// Core dumps would hold secrets.
pub fn no_core_dumps() -> io::Result<()> {
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}
