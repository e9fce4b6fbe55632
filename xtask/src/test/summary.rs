//! What a run tells: a line for what failed or took long, what it is doing, and at its end times, judges and counts.
use super::committed_judges;
use super::job::{Job, Test, Work};
use super::process::Place;
use super::room::{Busy, Class};
use super::verdict::Verdict;
use std::fs;
use std::path::Path;
use std::time::Duration;
use testbed::judges::Judge;
use testbed::programs::Tier;

/// As many of the jobs that took longest are named.
const SLOWEST: usize = 15;
/// A job that takes longer gets a line when it ends.
const WORTH_A_LINE: Duration = Duration::from_secs(20);

/// A job that has ended.
#[derive(Debug)]
pub(super) struct TestRun {
    pub(super) job: Job,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

impl TestRun {
    fn test(&self) -> Option<&Test> {
        if let Work::Test(test) = &self.job.work { Some(test) } else { None }
    }
}

/// A run that has ended.
pub(super) struct Report {
    pub(super) ended: Vec<TestRun>,
    pub(super) tier: Tier,
    pub(super) took: Duration,
    pub(super) seed: u64,
    /// What the processors had done when it started.
    pub(super) busy: Busy,
    /// The programs of others that judged.
    pub(super) judges: Vec<Judge>,
    /// Tests of the long tier that were left to it.
    pub(super) not_run: Vec<Test>,
    /// What is wrong with the run as a whole.
    pub(super) problems: Vec<String>,
}

/// One line, and all that was printed if it did not go well.
pub(super) fn print_run(run: &TestRun, place: &Place) {
    let output = place.output_of(&run.job);
    let printed = fs::read(&output).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let seconds = run.took.as_secs_f64();
    match &run.verdict {
        Verdict::Passed => {
            if run.took >= WORTH_A_LINE {
                println!("ok     {seconds:>6.1} s  {}", run.job.name);
            }
            let notes = printed.lines().filter(|line| line.starts_with("note: "));
            notes.for_each(|note| println!("       {note}"));
        }
        Verdict::Failed(why) | Verdict::NotRun(why) => {
            println!("FAILED {seconds:>6.1} s  {}: {why}\n{printed}", run.job.name);
            println!("FAILED {}: the output above is {}", run.job.name, shown(&output));
        }
        Verdict::Needs(_) => {}
    }
}

/// Without the directory that only this machine has.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(3)..].join("/")
}

/// What the run is doing, for those who watch.
pub(super) fn news(running: &[&str], ended: usize, total: usize) {
    println!("{ended} of {total} done; running: {}", running.join(", "));
}

impl Report {
    pub(super) fn failed(&self) -> usize {
        self.ended.iter().filter(|run| !run.verdict.is_good()).count() + self.problems.len()
    }

    pub(super) fn print(&self) {
        let mut slowest: Vec<&TestRun> = self.ended.iter().collect();
        slowest.sort_by_key(|run| std::cmp::Reverse(run.took));
        println!("\n== slowest of {}", self.ended.len());
        for run in slowest.iter().take(SLOWEST) {
            println!("{:>6.1} s  {}", run.took.as_secs_f64(), run.job.name);
        }
        println!("== programs of others that judged");
        self.judges.iter().for_each(|judge| println!("  {judge}"));
        self.shares().iter().for_each(|line| println!("{line}"));
        println!("== tests");
        self.counts().iter().for_each(|line| println!("{line}"));
    }

    /// Where the time went.
    fn shares(&self) -> Vec<String> {
        let sum = |class: Class| -> f64 {
            // An empty sum is -0.0.
            self.ended.iter().filter(|run| run.job.cost().class == class).map(|run| run.took.as_secs_f64()).sum::<f64>()
                + 0.0
        };
        let [building, waiting, alone] = [Class::Building, Class::Waiting, Class::Alone].map(sum);
        let computing = sum(Class::Computing) + sum(Class::Compiling);
        let all = (computing + building + waiting + alone).max(f64::MIN_POSITIVE);
        let share = |seconds: f64| seconds * 100.0 / all;
        let took = self.took.as_secs_f64();
        vec![
            format!(
                "== times, {took:.0} s in all, with the processors busy for {:.0} %",
                Busy::now().share_since(self.busy)
            ),
            format!(
                "  computing {computing:>6.0} s ({:.0} %), building programs of others {building:.0} s",
                share(computing)
            ),
            format!("  waiting   {waiting:>6.0} s ({:.0} %), measuring alone {alone:.0} s", share(waiting)),
            format!("  {:.1} jobs at once", (computing + building + waiting + alone) / took.max(1.0)),
        ]
    }

    /// What ran and what did not, by tier, with the names of what failed.
    fn counts(&self) -> Vec<String> {
        let tests = || self.ended.iter().filter_map(|run| Some((run, run.test()?)));
        let passed = |long: bool| tests().filter(|(run, test)| run.verdict.is_good() && test.is_long() == long).count();
        let (quick, long) = (passed(false), passed(true));
        let mut lines = vec![format!("quick tier: {quick} passed")];
        match self.tier {
            Tier::Long => lines.push(format!("long tier:  {long} passed")),
            Tier::Quick => {
                let count = self.not_run.len();
                lines.push(format!("long tier:  {count} tests not run; scripts/test --long adds them:"));
                let line = |test: &Test| format!("  {}: {}", test.name(), test.adds.as_deref().unwrap_or_default());
                lines.extend(self.not_run.iter().map(line));
            }
        }
        let failed = tests().filter(|(run, _)| !run.verdict.is_good()).count();
        lines.push(format!("{} passed, {failed} failed", quick + long));
        lines.extend(self.ended.iter().filter_map(|run| failure(run, self.seed)));
        lines.extend(self.problems.iter().map(|problem| format!("FAILED {problem}")));
        if self.problems.iter().any(|problem| problem.contains(committed_judges::FILE)) {
            lines.push(format!("the list is {}", committed_judges::FILE));
        }
        lines
    }
}

/// The line of a failed job, and what runs it alone.
fn failure(run: &TestRun, seed: u64) -> Option<String> {
    let (Verdict::Failed(why) | Verdict::NotRun(why)) = &run.verdict else { return None };
    let alone = match &run.job.work {
        Work::Test(test) => test.alone(seed),
        Work::Check(words) => words.join(" "),
        Work::Build(set) => format!("cargo run -p testbed -- build {set}"),
    };
    Some(format!("FAILED {}: {why}\n  alone: {alone}", run.job.name))
}
