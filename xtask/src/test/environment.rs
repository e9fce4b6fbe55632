//! The environment of tests: cleared of what rewrites expected files or makes tests smaller, with what a run says to them.
use std::process::Command;
use testbed::needs;
use testbed::programs::{TIER, Tier};
use testbed::random::SEED;

/// Variables that change what tests do, or the beginnings of their names.
const SWITCHES: &[&str] = &["MACHINEADM_", "PROPTEST_", "RUST_TEST_", "UPDATE_"];

fn is_switch(name: &str) -> bool {
    SWITCHES.iter().any(|switch| name.starts_with(switch))
}

/// The switches among the variables that are set, which no test gets.
pub(super) fn cleared() -> Vec<String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| is_switch(name)).collect()
}

/// Takes these away from a command, and tells it of the run.
pub(super) fn set(command: &mut Command, cleared: &[String], seed: u64, tier: Tier) {
    cleared.iter().for_each(|name| _ = command.env_remove(name));
    command.env(needs::COMPLETE, "1").env(SEED, seed.to_string()).env("PROPTEST_RNG_SEED", seed.to_string());
    // With one thread the harness writes a test's name before and its result after what the test prints.
    command.env("RUST_TEST_THREADS", "2");
    command.env(TIER, if tier == Tier::Quick { "quick" } else { "long" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// What test code may read of the environment that is there.
    const LEFT: &[&str] = &["CARGO", "HOME", "PATH", "TMPDIR", "XDG_CACHE_HOME"];

    #[test]
    fn a_switch_of_the_caller_does_not_reach_a_test() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo ${UPDATE_CASES-none} ${GOFLAGS-none} $MACHINEADM_TESTS_SEED $MACHINEADM_TIER"]);
        command.env("UPDATE_CASES", "1").env("GOFLAGS", "-v");
        let names = ["GOFLAGS", "UPDATE_CASES"].map(str::to_owned);
        let switches: Vec<String> = names.into_iter().filter(|name| is_switch(name)).collect();
        set(&mut command, &switches, 7, Tier::Quick);
        assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap().trim(), "none -v 7 quick");
        assert!(["UPDATE_HELP", "PROPTEST_CASES", "MACHINEADM_X"].iter().all(|name| is_switch(name)));
    }

    #[test]
    fn every_variable_that_test_code_reads_is_cleared_or_known_to_be_harmless() {
        let names = read_by_tests(&crate::repository());
        assert!(names.iter().any(|name| name == "UPDATE_HELP"), "the search finds them: {names:?}");
        let unknown = names.iter().filter(|name| !is_switch(name) && !LEFT.contains(&name.as_str()));
        assert_eq!(unknown.collect::<Vec<_>>(), [""; 0], "name it in SWITCHES or LEFT");
    }

    /// The names in `env::var("NAME")`, `env::var(NAME)` and their like below the folders of tests.
    fn read_by_tests(root: &Path) -> Vec<String> {
        let tracked = Command::new("git").current_dir(root).args(["ls-files", "--", "*.rs"]).output().unwrap();
        let tracked = String::from_utf8(tracked.stdout).unwrap();
        let is_test = |file: &&str| file.contains("/tests/") || file.starts_with("testbed/");
        let texts: Vec<_> =
            tracked.lines().filter(is_test).map(|file| std::fs::read_to_string(root.join(file))).collect();
        let texts: String = texts.into_iter().map(Result::unwrap).collect();
        let argument = |rest: &str| rest.split([')', ',']).next().unwrap_or_default().to_owned();
        let arguments =
            ["env::var(", "env::var_os("].map(|call| texts.split(call).skip(1).map(argument).collect::<Vec<String>>());
        let constant = |name: &str| {
            let name = name.rsplit("::").next().unwrap_or_default();
            let value = texts.split_once(&format!("const {name}: &str = \""))?.1.split('"').next()?;
            Some(value.to_owned())
        };
        let name = |argument: &String| match argument.strip_prefix('"') {
            Some(literal) => Some(literal.trim_end_matches('"').to_owned()),
            None if argument.chars().any(|letter| letter.is_ascii_lowercase()) && !argument.contains("::") => None,
            None => Some(constant(argument).unwrap_or_else(|| argument.clone())),
        };
        arguments.concat().iter().filter_map(name).collect()
    }
}
