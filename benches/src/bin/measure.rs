//! `measure RUNS PROGRAM ARGUMENT…`: runs a program and prints what that cost, as JSON.
//!
//! It is a process of its own, since the system counts CPU time and memory over all children of one process.
use machineadm_benches::Cost;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::{
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let runs: Option<u32> = arguments.next().and_then(|runs| runs.to_str()?.parse().ok());
    let (Some(runs), Some(program)) = (runs, arguments.next()) else {
        eprintln!("usage: measure RUNS PROGRAM ARGUMENT…");
        return ExitCode::from(2);
    };
    let arguments: Vec<_> = arguments.collect();
    let mut slowest_ms = 0.0_f64;
    let mut exit = None;
    for _ in 0..runs {
        let start = Instant::now();
        let mut command = Command::new(&program);
        command.args(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) => exit = status.code(),
            Err(error) => {
                eprintln!("measure: {}: {error}", program.display());
                return ExitCode::FAILURE;
            }
        }
        slowest_ms = slowest_ms.max(start.elapsed().as_secs_f64() * 1000.0);
    }
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return ExitCode::FAILURE };
    let cpu = usage.user_time() + usage.system_time();
    let cost = Cost {
        cpu_ms: cpu.num_microseconds() as f64 / 1000.0 / f64::from(runs),
        peak_mb: usage.max_rss() as f64 / 1024.0,
        slowest_ms,
        exit,
    };
    println!("{}", serde_json::json!(cost));
    ExitCode::SUCCESS
}
