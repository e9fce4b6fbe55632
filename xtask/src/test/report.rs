//! What a test binary prints about its tests, read.
use std::process::ExitStatus;

/// What marks a test of the long tier, in the words of its `ignore`.
pub(crate) const LONG: &str = "long tier: ";

/// How the tests of a binary ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Tests of the quick tier that passed.
    pub(super) quick: usize,
    /// Tests of the long tier that passed.
    pub(super) long: usize,
    /// Names of tests that failed.
    pub(super) failed: Vec<String>,
    /// Tests of the long tier that did not run, each with what it adds.
    pub(super) not_run: Vec<(String, String)>,
    /// Whether the binary itself ended well and its own count is ours.
    complete: bool,
}

impl Report {
    /// Reads the lines of Rust's test harness: its list of ignored tests, and what it printed when it ran.
    pub(super) fn read(ignored: &str, printed: &str, status: ExitStatus) -> Self {
        let of_the_long_tier: Vec<_> = ignored.lines().filter_map(|line| line.strip_suffix(": test")).collect();
        let mut report = Self::default();
        let mut counted = None;
        for line in printed.lines() {
            match line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
                Some((name, "ok")) if of_the_long_tier.contains(&own_name(name)) => report.long += 1,
                Some((_, "ok")) => report.quick += 1,
                Some((name, "FAILED")) => report.failed.push(name.to_owned()),
                Some((name, why)) if why.starts_with("ignored") => {
                    let adds = why.split_once(LONG).map_or("", |(_, adds)| adds);
                    report.not_run.push((name.to_owned(), adds.to_owned()));
                }
                _ => counted = Counts::read(line).or(counted),
            }
        }
        let counts = Counts { passed: report.passed(), failed: report.failed.len(), ignored: report.not_run.len() };
        report.complete = status.success() && counted == Some(counts);
        report
    }

    pub(super) fn passed(&self) -> usize {
        self.quick + self.long
    }

    pub(super) fn is_good(&self) -> bool {
        self.complete && self.failed.is_empty()
    }
}

/// The harness's own counts.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Counts {
    /// Those of `test result: ok. 12 passed; 0 failed; 1 ignored; ..`.
    fn read(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?;
        let count = |word: &str| counts.split_once(&format!(" {word}"))?.0.rsplit(' ').next()?.parse().ok();
        Some(Self { passed: count("passed")?, failed: count("failed")?, ignored: count("ignored")? })
    }
}

/// Without what the harness adds to the name of a test that has to panic.
fn own_name(name: &str) -> &str {
    name.strip_suffix(" - should panic").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn read(ignored: &str, printed: &str, code: i32) -> Report {
        Report::read(ignored, printed, ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn every_test_counts_in_its_tier() {
        let quick = "running 3 tests\ntest a::b ... ok\ntest c - should panic ... ok\n\
            test slow ... ignored, long tier: links the static program\n\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.0s\n";
        let report = read("slow: test\n", quick, 0);
        assert_eq!((report.quick, report.long, report.is_good()), (2, 0, true));
        assert_eq!(report.not_run, [("slow".to_owned(), "links the static program".to_owned())]);
        let both =
            "test a::b ... ok\ntest slow - should panic ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
        let report = read("slow: test\n\n1 test, 0 benchmarks\n", both, 0);
        assert_eq!((report.quick, report.long, report.is_good()), (1, 1, true));
    }

    #[test]
    fn a_failed_a_missing_and_a_killed_test_are_not_good() {
        let failed = read("", "test a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n", 101);
        assert_eq!((failed.failed.as_slice(), failed.is_good()), (["a".to_owned()].as_slice(), false));
        assert!(!read("", "test a ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\n", 0).is_good());
        assert!(!read("", "test a ... ok\n", 101).is_good());
        assert!(!read("", "test a ... ok\ntest result: ok. 1 passed; 0 failed; 1 ignored\n", 0).is_good());
        assert!(!read("", "", 0).is_good());
        assert!(!Report::default().is_good());
    }
}
