//! How a test ended, from its exit code and from what Rust's harness printed.
use std::collections::{BTreeMap, BTreeSet};
use testbed::needs;

/// What marks a test of the long tier, in the words of its `ignore`.
pub(crate) const LONG: &str = "long tier: ";
/// How `timeout` ends when the time was over, and when it had to kill.
const TIMED_OUT: [i32; 2] = [124, 137];

/// How a job ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// It names its needs and wants to be started again.
    Needs(BTreeSet<String>),
    Failed(String),
    /// It was never started.
    NotRun(String),
}

impl Verdict {
    /// Of a test that was granted these needs and has named those.
    pub(super) fn of_test(
        code: Option<i32>,
        printed: &str,
        granted: &BTreeSet<String>,
        named: BTreeSet<String>,
    ) -> Self {
        match code {
            Some(needs::NOT_GRANTED) if !named.is_subset(granted) => Self::Needs(named),
            Some(needs::NOT_GRANTED) => Self::Failed("it names no need that it was not granted".to_owned()),
            Some(0) => match counts(printed) {
                Some((1, 0, 0)) => Self::Passed,
                counted => Self::Failed(format!("one test was to pass, and the harness counts {counted:?}")),
            },
            code => Self::of_command(code),
        }
    }

    pub(super) fn of_command(code: Option<i32>) -> Self {
        match code {
            Some(0) => Self::Passed,
            Some(code) if TIMED_OUT.contains(&code) => Self::Failed("its time was over".to_owned()),
            Some(code) => Self::Failed(format!("exit code {code}")),
            None => Self::Failed("it was killed by a signal".to_owned()),
        }
    }

    pub(super) fn is_good(&self) -> bool {
        *self == Self::Passed
    }
}

/// The harness's own counts (passed, failed, ignored), from `test result: ok. 1 passed; 0 failed; 0 ignored; ..`.
fn counts(printed: &str) -> Option<(usize, usize, usize)> {
    let counts = printed.lines().rev().find_map(|line| line.strip_prefix("test result: "))?;
    let count = |word: &str| counts.split_once(&format!(" {word}"))?.0.rsplit(' ').next()?.parse().ok();
    Some((count("passed")?, count("failed")?, count("ignored")?))
}

/// Tests that the harness passed over because they belong to the long tier, each with what it adds.
pub(super) fn ignored(printed: &str) -> BTreeMap<String, String> {
    let line = |line: &str| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let (_, adds) = result.strip_prefix("ignored")?.split_once(LONG)?;
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        Some((name.to_owned(), adds.to_owned()))
    };
    printed.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(passed: usize, failed: usize) -> String {
        format!(
            "test a::b ... ok\n\ntest result: ok. {passed} passed; {failed} failed; 0 ignored; 0 measured; 9 filtered out\n"
        )
    }

    fn verdict(code: i32, printed: &str) -> Verdict {
        Verdict::of_test(Some(code), printed, &BTreeSet::new(), BTreeSet::new())
    }

    #[test]
    fn a_test_that_the_harness_did_not_run_has_vanished_and_is_a_failure() {
        assert_eq!(verdict(0, &result(1, 0)), Verdict::Passed);
        for printed in [result(0, 0), result(2, 0), String::new(), "test a::b ... ok\n".to_owned()] {
            assert!(matches!(verdict(0, &printed), Verdict::Failed(_)), "{printed}");
        }
    }

    #[test]
    fn a_test_that_fails_is_killed_or_takes_too_long_is_a_failure() {
        assert_eq!(verdict(101, &result(0, 1)), Verdict::Failed("exit code 101".to_owned()));
        assert_eq!(verdict(124, ""), Verdict::Failed("its time was over".to_owned()));
        assert!(matches!(Verdict::of_command(None), Verdict::Failed(_)));
    }

    #[test]
    fn needs_are_learned_once_and_not_asked_for_again_and_again() {
        let nodes: BTreeSet<String> = ["nodes".to_owned()].into();
        let code = Some(needs::NOT_GRANTED);
        assert_eq!(Verdict::of_test(code, "", &BTreeSet::new(), nodes.clone()), Verdict::Needs(nodes.clone()));
        assert!(matches!(Verdict::of_test(code, "", &nodes, nodes.clone()), Verdict::Failed(_)));
        assert!(matches!(verdict(needs::NOT_GRANTED, ""), Verdict::Failed(_)));
    }

    #[test]
    fn the_reason_of_an_ignored_test_is_what_it_adds() {
        let printed = "test a::b ... ignored, long tier: kills\ntest a::c - should panic ... ignored, long tier: x\n\
            test a::d ... ignored, broken\ntest a::e ... ok\n";
        let found = [("a::b", "kills"), ("a::c", "x")].map(|(name, adds)| (name.to_owned(), adds.to_owned()));
        assert_eq!(ignored(printed), found.into());
    }
}
