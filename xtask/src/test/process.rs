//! A job as a process: with a limit of its own, its output in a file of its own, and its record beside it.
use super::environment;
use super::job::{Job, Test, Work};
use super::room::Class;
use super::summary::TestRun;
use super::verdict::Verdict;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testbed::judges::{self, Judge};
use testbed::needs;
use testbed::programs::Tier;
use testbed::record::{self, Record, Subject};

/// Where a run leaves what its jobs print and record.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    output: PathBuf,
    records: PathBuf,
    tier: Tier,
    /// The tier whose limits hold.
    limits: Tier,
    seed: u64,
    /// Variables that no test gets.
    cleared: Vec<String>,
}

/// How a job ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

impl Place {
    /// Empty, below `target`.
    pub(super) fn below(root: &Path, tier: Tier, limits: Tier, seed: u64) -> Result<Self, String> {
        let [output, records] = ["test-output", "test-record"].map(|name| root.join("target").join(name));
        for directory in [&output, &records] {
            let removed = fs::remove_dir_all(directory);
            let gone =
                removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) });
            let made = gone.and_then(|()| fs::create_dir_all(directory));
            made.map_err(|error| format!("{}: {error}", directory.display()))?;
        }
        Ok(Self { root: root.to_owned(), output, records, tier, limits, seed, cleared: environment::cleared() })
    }

    /// Gives a test binary the environment of this run.
    pub(super) fn tell(&self, command: &mut Command) {
        environment::set(command, &self.cleared, self.seed, self.tier);
    }

    /// The program of the test bed, which lies beside this one.
    fn test_bed(&self) -> PathBuf {
        std::env::current_exe().unwrap_or_else(|_| self.root.join("target/debug/xtask")).with_file_name("testbed")
    }

    /// What a job printed.
    pub(super) fn output_of(&self, job: &Job) -> PathBuf {
        self.output.join(file_name(&job.name)).with_added_extension("txt")
    }

    fn record_of(&self, job: &Job) -> PathBuf {
        self.records.join(file_name(&job.name))
    }

    /// The programs of others that judged: a judge counts when the test that asked it has passed.
    pub(super) fn judges(&self, ended: &[TestRun]) -> Result<Vec<Judge>, String> {
        let passed = ended.iter().filter(|run| run.verdict.is_good());
        let records: Vec<Record> = passed.map(|run| Record::at(self.record_of(&run.job))).collect();
        judges::of_run(&records).map_err(|error| error.to_string())
    }
}

/// A name without what a file name can't have.
fn file_name(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || "_-.".contains(letter) { letter } else { '_' };
    name.replace("::", ".").chars().map(letter).collect()
}

/// Runs a job to its end.
pub(super) fn run(job: &Job, place: &Place) -> Ended {
    let began = Instant::now();
    let verdict = verdict(job, place).unwrap_or_else(|error| Verdict::Failed(format!("cannot run it: {error}")));
    Ended { verdict, took: began.elapsed() }
}

fn verdict(job: &Job, place: &Place) -> io::Result<Verdict> {
    let path = place.output_of(job);
    let output = File::create(&path)?;
    let errors = output.try_clone()?;
    let mut command = command(job, place);
    let status = command.stdin(Stdio::null()).stdout(output).stderr(errors).status()?;
    match &job.work {
        Work::Test(_) => {
            let named = Record::at(place.record_of(job)).lines(Subject::Needs).map_err(io::Error::other)?;
            let printed = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            Ok(Verdict::of_test(status.code(), &printed, &job.needs, named.into_iter().collect()))
        }
        Work::Check(_) | Work::Build(_) => Ok(Verdict::of_command(status.code())),
    }
}

fn command(job: &Job, place: &Place) -> Command {
    // When the run is ended, so are its jobs. What waits is given a processor first, whatever computes beside it.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "nice", "-n", if job.cost().class == Class::Waiting { "0" } else { "5" }]);
    command.args(["timeout", "--kill-after=10"]).arg(job.limit(place.limits).as_secs().to_string());
    match &job.work {
        Work::Test(test) => of_test(&mut command, test, job, place),
        Work::Check(words) => command.args(words).current_dir(&place.root),
        // cargo has built it with the tests, and would wait for the lints here.
        Work::Build(set) => command.arg(place.test_bed()).args(["build", set]).current_dir(&place.root),
    };
    command
}

fn of_test<'a>(command: &'a mut Command, test: &Test, job: &Job, place: &Place) -> &'a mut Command {
    let granted: BTreeSet<&str> = job.needs.iter().map(String::as_str).collect();
    place.tell(command);
    command.arg(&test.program).args(["--exact", &test.path]);
    command.args(test.is_long().then_some("--include-ignored"));
    command.current_dir(&test.package).env("CARGO_MANIFEST_DIR", &test.package);
    command.env(record::DIRECTORY, place.record_of(job));
    command.env(needs::GRANTED, granted.into_iter().collect::<Vec<_>>().join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_a_file_of_its_own() {
        let name = "machineadm tests/workers/main.rs worker::joins";
        assert_eq!(file_name(name), "machineadm_tests_workers_main.rs_worker.joins");
    }
}
