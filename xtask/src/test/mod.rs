//! Every test of a tier: one queue of tests, each in a process of its own, with lints and builds beside those that wait.
//!
//! ```text
//! cargo test --no-run ──► binaries ──list──► tests ─┐                      ┌─► output, one file each
//! lints, static programs ───────────────────────────┼─► queue ──► process ─┤
//! pinned programs ──────────────────────────────────┘     ▲               ├─► verdict ──► summary
//!                                                          │               └─► judges ──► committed list
//!          times and needs of the last run ────────────────┘
//! ```
//! - A test states its tier: `#[ignore = "long tier: WHAT IT ADDS"]` belongs to the long one, any other to the quick one.
//! - It states its needs (`testbed::needs!`), from which its class follows: [`room::Class`]. A test whose needs are not
//!   known yet is started, names them and ends; it is started again when there is room and its programs are built.
//! - The longest is started first, by the times of the last run (`history.rs`).
mod binaries;
mod committed_judges;
mod environment;
mod history;
mod job;
mod process;
mod queue;
mod room;
mod seed;
mod sources;
mod summary;
mod verdict;

use history::History;
use job::{Job, Test, Work};
use process::{Ended, Place};
use queue::Queue;
use room::Room;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use summary::{Report, TestRun};
use testbed::programs::Tier;
use verdict::Verdict;

const USAGE: &str = "usage: cargo xtask test [--long] [NAME...]
NAME is part of a test's name, as the summary prints it; without one, lints and static programs are tried as well";
/// How often a run says what it is doing.
const NEWS_EVERY: Duration = Duration::from_secs(60);

/// What was asked for.
struct Asked {
    tier: Tier,
    /// Parts of names; all tests without one.
    names: Vec<String>,
}

impl Asked {
    fn read(words: &[String]) -> Result<Self, String> {
        let mut asked = Self { tier: Tier::Quick, names: Vec::new() };
        for word in words {
            match word.as_str() {
                "--long" => asked.tier = Tier::Long,
                option if option.starts_with('-') => return Err(USAGE.to_owned()),
                name => asked.names.push(name.to_owned()),
            }
        }
        Ok(asked)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }

    /// Whether this is a whole tier, which then has to be complete. Of a few tests each builds the programs that it needs.
    fn is_whole(&self) -> bool {
        self.names.is_empty()
    }
}

/// Runs the quick tier, or with `--long` both, or what has one of these names.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let asked = Asked::read(words)?;
    let began = Instant::now();
    let busy = room::Busy::now();
    let binaries = binaries::build(root)?;
    sources::check(root, &binaries)?;
    let seed = seed::of(asked.tier);
    environment::cleared().iter().for_each(|name| println!("{name} is set: the tests run without it"));
    println!("seed of property tests and of what is random: {seed}");
    let place = Place::below(root, asked.tier, if asked.is_whole() { asked.tier } else { Tier::Long }, seed)?;
    let history = History::load();
    let listed = binaries.iter().map(|binary| binary.tests(&place)).collect::<Result<Vec<_>, _>>()?.concat();
    let is_asked_for = |test: &&Test| asked.wants(&test.name()) && (asked.tier == Tier::Long || !test.is_long());
    let tests: Vec<Test> = listed.iter().filter(is_asked_for).cloned().collect();
    if let Some(name) = asked.names.iter().find(|name| !tests.iter().any(|test| test.name().contains(name.as_str()))) {
        return Err(format!("no test of this tier has a name with `{name}`"));
    }
    let mut jobs: Vec<Job> = tests.iter().map(|test| Job::of_test(test.clone(), &history)).collect();
    if asked.is_whole() {
        jobs.extend(job::programs(asked.tier)?);
        jobs.extend(job::checks(asked.tier));
    }
    let ended = Run { place: &place, room: Room::of_this_machine()?, total: jobs.len(), ended: Vec::new() }.all(jobs);
    history.with(&ended).save();
    let mut problems = missing(&tests, &ended);
    let judges = place.judges(&ended)?;
    if asked.is_whole() {
        problems.extend(committed_judges::differences(&judges, asked.tier));
    }
    let not_run = listed.iter().filter(|test| asked.tier == Tier::Quick && test.is_long() && asked.wants(&test.name()));
    let not_run = not_run.cloned().collect();
    let report = Report { ended, tier: asked.tier, took: began.elapsed(), seed, busy, judges, not_run, problems };
    report.print();
    match report.failed() {
        0 => Ok(()),
        some => Err(format!("{some} of {} failed", report.ended.len())),
    }
}

/// Tests that were to run and have no verdict, each as a sentence.
fn missing(tests: &[Test], ended: &[TestRun]) -> Vec<String> {
    let has_ended = |test: &&Test| ended.iter().any(|run| matches!(&run.job.work, Work::Test(ran) if ran == *test));
    tests
        .iter()
        .filter(|test| !has_ended(test))
        .map(|test| format!("{} was listed and did not run", test.name()))
        .collect()
}

/// A run at work.
struct Run<'a> {
    place: &'a Place,
    room: Room,
    total: usize,
    ended: Vec<TestRun>,
}

impl Run<'_> {
    /// Runs all jobs, each as soon as there is room.
    fn all(mut self, jobs: Vec<Job>) -> Vec<TestRun> {
        let mut queue = Queue::of(jobs);
        let (tell, told) = mpsc::channel();
        let mut news = Instant::now();
        std::thread::scope(|scope| {
            loop {
                while let Some(job) = queue.start_next(&self.room) {
                    let (tell, place) = (tell.clone(), self.place);
                    scope.spawn(move || {
                        let ended = process::run(&job, place);
                        // The other end lives until every job has ended.
                        let _ = tell.send((job, ended));
                    });
                }
                if queue.nothing_runs() {
                    break;
                }
                if let Ok((job, ended)) = told.recv_timeout(NEWS_EVERY) {
                    self.finish(&mut queue, job, ended);
                }
                if news.elapsed() >= NEWS_EVERY {
                    news = Instant::now();
                    summary::news(&queue.running(), self.ended.len(), self.total);
                }
            }
        });
        for job in queue.never_started() {
            let verdict = Verdict::NotRun("it needs programs that could not be built".to_owned());
            self.ended.push(TestRun { job, verdict, took: Duration::ZERO });
        }
        self.ended
    }

    fn finish(&mut self, queue: &mut Queue, job: Job, ended: Ended) {
        queue.end(&job, ended.verdict.is_good());
        if let Verdict::Needs(needs) = ended.verdict {
            queue.add(job.with_needs(needs));
            return;
        }
        let run = TestRun { job, verdict: ended.verdict, took: ended.took };
        summary::print_run(&run, self.place);
        self.ended.push(run);
    }
}
