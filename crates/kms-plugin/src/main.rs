//! The machineadm-kms-plugin command.
use std::process::ExitCode;

/// musl's own allocator goes to the kernel for every few kilobytes, and back.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    machineadm_kms_plugin::run(std::env::args_os())
}
