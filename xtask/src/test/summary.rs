//! What a run tells: a line for each binary as it ends, and at its end times, judges and counts by tier.
use super::Run;
use std::time::Duration;
use testbed::programs::Tier;

/// As many of the binaries that took longest are named.
const SLOWEST: usize = 10;

/// A run that has ended.
pub(super) struct Whole<'a> {
    pub(super) runs: &'a [Run],
    pub(super) tier: Tier,
    pub(super) took: Duration,
    /// The programs of others that judged.
    pub(super) judges: &'a [String],
}

/// One line, and all that was printed if it did not go well.
pub(super) fn print_run(run: &Run) {
    let report = &run.report;
    let result = if report.is_good() { "ok" } else { "FAILED" };
    println!("{result:<6} {:>6.1} s {:>4} passed  {}", run.took.as_secs_f64(), report.passed(), run.binary.name);
    let notes = run.printed.lines().filter(|line| line.starts_with("note: "));
    notes.for_each(|note| println!("       {note}"));
    if !report.is_good() {
        println!("{}", run.printed);
    }
}

pub(super) fn print(whole: &Whole<'_>) {
    let mut slowest: Vec<&Run> = whole.runs.iter().collect();
    slowest.sort_by_key(|run| std::cmp::Reverse(run.took));
    println!("\n== slowest of {} test binaries, {:.0} s in all", whole.runs.len(), whole.took.as_secs_f64());
    for run in slowest.iter().take(SLOWEST) {
        println!("{:>6.1} s  {}", run.took.as_secs_f64(), run.binary.name);
    }
    println!("== programs of others that judged");
    whole.judges.iter().for_each(|judge| println!("  {judge}"));
    println!("== tests");
    counts(whole).iter().for_each(|line| println!("{line}"));
}

/// What ran and what did not, by tier, with the names of what failed.
fn counts(whole: &Whole<'_>) -> Vec<String> {
    let sum = |count: fn(&Run) -> usize| whole.runs.iter().map(count).sum::<usize>();
    let (quick, long) = (sum(|run| run.report.quick), sum(|run| run.report.long));
    let failed = sum(|run| run.report.failed.len());
    let mut lines = vec![format!("quick tier: {quick} passed"), format!("long tier:  {long} passed")];
    if whole.tier == Tier::Quick {
        lines[1] = format!(
            "long tier:  {} tests not run; scripts/test --long adds them:",
            sum(|run| run.report.not_run.len())
        );
        lines.extend(whole.runs.iter().flat_map(not_run));
    }
    lines.push(format!("{} passed, {failed} failed", quick + long));
    let bad = whole.runs.iter().filter(|run| !run.report.is_good());
    lines.extend(bad.map(|run| format!("FAILED {}: {}", run.binary.name, run.report.failed.join(", "))));
    lines
}

fn not_run(run: &Run) -> impl Iterator<Item = String> {
    run.report.not_run.iter().map(|(test, adds)| format!("  {} {test}: {adds}", run.binary.name))
}
