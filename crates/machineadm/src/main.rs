//! The machineadm command.
use clap::Parser;
use host::linux::{self, child};
use machineadm::{Cli, run};
use std::process::ExitCode;

/// musl's own allocator goes to the kernel for every few kilobytes, and back.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == child::MARK) {
        eprintln!("machineadm: {}", child::run_guarded(arguments));
        return ExitCode::from(126);
    }
    // Before anything is read that a core dump could hold.
    if let Err(error) = linux::prepare_process() {
        eprintln!("machineadm: cannot switch core dumps off: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::from(run(Cli::parse()).code())
}
