//! The machineadm command.
use host::linux::{self, child};
use std::{io::Write, process::ExitCode};

/// musl's own allocator goes to the kernel for every few kilobytes, and back.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// That nobody listens is no reason to die of.
fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == child::MARK) {
        tell(&format!("machineadm: {}\n", child::run_guarded(arguments)));
        return ExitCode::from(126);
    }
    // Before anything is read that a core dump could hold.
    if let Err(error) = linux::prepare_process() {
        tell(&format!("machineadm: cannot switch core dumps off: {error}\n"));
        return ExitCode::FAILURE;
    }
    ExitCode::from(machineadm::run(std::env::args_os()).code())
}
