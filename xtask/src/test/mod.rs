//! Every test of a tier: built by cargo, run some binaries at a time, and summed up.
//!
//! ```text
//! cargo test --no-run ──► binaries ──► run (as many at once as there are cores) ──► report ──► summary
//!                                          │                                                     ▲
//!                                          └── record: judges that ran, tests left out ──────────┘
//! ```
//! A test states its tier: `#[ignore = "long tier: WHAT IT ADDS"]` belongs to the long one, any other to the quick one.
mod binaries;
mod report;
mod summary;

use binaries::Binary;
use report::Report;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use testbed::programs::{TIER, Tier};
use testbed::record::{self, Record};
use testbed::{judges, needs};

/// Emulates a processor with two cores, in which others would starve, or it beside them.
const LAST: &str = "testbed tests/cgroup_v2.rs";

/// Take minutes, so that they start first: the last ones to run should be short, for all cores to end together.
const FIRST: [&str; 3] =
    ["machineadm tests/control_planes/main.rs", "machineadm tests/workers/main.rs", "machineadm tests/boot/main.rs"];

/// Wait for the clocks of the KMS plugin and of kube-apiserver for minutes and hardly compute: they run beside the others
/// and take no turn of theirs.
const BESIDE: [&str; 2] = ["kms-plugin tests/plugin/main.rs", "kms-plugin tests/real_api_server/main.rs"];

/// How a binary's tests went.
struct Run {
    binary: Binary,
    report: Report,
    took: Duration,
    /// What it printed, with what went wrong if it did not end well.
    printed: String,
}

/// Runs the quick tier, or with `--long` both.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let tier = match words {
        [] => Tier::Quick,
        [long] if long == "--long" => Tier::Long,
        _ => return Err("usage: cargo xtask test [--long]".to_owned()),
    };
    let binaries = binaries::build(root)?;
    let listed = FIRST.iter().chain(&BESIDE).chain([&LAST]);
    if let Some(name) = listed.into_iter().find(|name| binaries.iter().all(|binary| binary.name != **name)) {
        return Err(format!("{name} is listed in xtask/src/test/mod.rs, and there is no such test binary"));
    }
    let directory = root.join("target/test-record");
    let record = Record::at(directory.clone());
    record.clear().map_err(|error| error.to_string())?;
    let began = Instant::now();
    let runs = run_all(binaries, tier, &directory);
    let judges = judges::of_run(&record).unwrap_or_else(|error| vec![format!("the record cannot be read: {error}")]);
    summary::print(&summary::Whole { runs: &runs, tier, took: began.elapsed(), judges: &judges });
    match runs.iter().filter(|run| !run.report.is_good()).count() {
        0 => Ok(()),
        bad => Err(format!("{bad} of {} test binaries failed", runs.len())),
    }
}

/// As many binaries at once as there are cores: most tests of whole machines wait.
fn run_all(mut binaries: Vec<Binary>, tier: Tier, record: &Path) -> Vec<Run> {
    let in_first = |binary: &Binary| FIRST.iter().position(|name| *name == binary.name).unwrap_or(FIRST.len());
    binaries.sort_by_key(|binary| (binary.name == LAST, in_first(binary)));
    let beside: Vec<Binary> = binaries.extract_if(.., |binary| BESIDE.contains(&binary.name.as_str())).collect();
    let (waiting, done) = (Mutex::new(VecDeque::from(binaries)), Mutex::new(Vec::new()));
    let finish = |run: Run| {
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        summary::print_run(&run);
        done.push(run);
    };
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..cores() {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    finish(run_one(binary, tier, record));
                }
            });
        }
        for binary in beside {
            scope.spawn(|| finish(run_one(binary, tier, record)));
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How long a binary may take, for the program `timeout`: one that hangs must not hang the run.
fn limit(tier: Tier) -> &'static str {
    match tier {
        Tier::Quick => "45m",
        Tier::Long => "300m",
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn run_one(binary: Binary, tier: Tier, record: &Path) -> Run {
    let began = Instant::now();
    let (report, printed) = match output(&binary, tier, record) {
        Ok((report, printed)) => (report, printed),
        Err(error) => (Report::default(), format!("cannot run it: {error}")),
    };
    Run { binary, report, took: began.elapsed(), printed }
}

fn output(binary: &Binary, tier: Tier, record: &Path) -> io::Result<(Report, String)> {
    let command = || {
        let mut command = Command::new("timeout");
        command.arg("--kill-after=10").arg(limit(tier)).arg(&binary.program);
        command.current_dir(&binary.package).env("CARGO_MANIFEST_DIR", &binary.package).stdin(Stdio::null());
        command.env(record::DIRECTORY, record).env(needs::COMPLETE, "1");
        // With one thread the harness writes a test's name before and its result after what the test prints.
        command.env("RUST_TEST_THREADS", cores().max(2).to_string());
        command
    };
    let listed = command().args(["--list", "--ignored"]).output()?;
    if !listed.status.success() {
        return Err(io::Error::other(format!("its tests cannot be listed: {}", listed.status)));
    }
    let of_the_long_tier = String::from_utf8_lossy(&listed.stdout);
    let mut command = command();
    match tier {
        // The same cases of property tests each time: what lands must not depend on luck.
        Tier::Quick => command.env(TIER, "quick").env("PROPTEST_RNG_SEED", "1"),
        Tier::Long => command.env(TIER, "long").arg("--include-ignored"),
    };
    let output = command.output()?;
    let [printed, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((Report::read(&of_the_long_tier, &printed, output.status), printed + &errors))
}
