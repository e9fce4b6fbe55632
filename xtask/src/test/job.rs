//! What a run has to do: tests, lints, static programs, pinned programs of others. Each says what it needs.
use super::history::History;
use super::room::{Class, Cost};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use testbed::needs::{self, COMPLETE};
use testbed::programs::{SETS, Tier};
use testbed::random::SEED;

/// A test, as the harness lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    /// The package and its target: `machineadm tests/workers/main.rs`.
    pub(super) binary: String,
    pub(super) program: PathBuf,
    /// The package's directory, where its tests run.
    pub(super) package: PathBuf,
    /// The words by which cargo starts the binary: `-p machineadm --test workers`.
    pub(super) cargo_words: String,
    /// Its path in the binary.
    pub(super) path: String,
    /// What it adds, if it belongs to the long tier.
    pub(super) adds: Option<String>,
}

impl Test {
    /// As the summary prints it.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.binary, self.path)
    }

    pub(super) fn is_long(&self) -> bool {
        self.adds.is_some()
    }

    /// What runs it alone, as this run has: complete, and with the same seed.
    pub(super) fn alone(&self, seed: u64) -> String {
        let ignored = if self.is_long() { " --include-ignored" } else { "" };
        let set = format!("{COMPLETE}=1 {SEED}={seed} PROPTEST_RNG_SEED={seed}");
        format!("{set} cargo test {} -- --exact {}{ignored}", self.cargo_words, self.path)
    }
}

/// What a job does.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Test(Test),
    /// A command in the repository's top folder.
    Check(Vec<&'static str>),
    /// Builds a set of pinned programs.
    Build(&'static str),
}

/// Something to do.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) work: Work,
    /// The lines of `testbed::needs`.
    pub(super) needs: BTreeSet<String>,
    /// How long it took last time.
    pub(super) expected: Duration,
}

impl Job {
    pub(super) fn of_test(test: Test, history: &History) -> Self {
        let name = test.name();
        let known = history.get(&name);
        // Tests beside the code need nothing; what others need is learned soon.
        let unknown =
            if test.binary.ends_with(".rs") && test.binary.contains(" tests/") { UNKNOWN } else { Duration::ZERO };
        Self {
            needs: known.map(|known| known.needs.clone()).unwrap_or_default(),
            expected: known.map_or(unknown, |known| known.took()),
            work: Work::Test(test),
            name,
        }
    }

    pub(super) fn with_needs(mut self, needs: BTreeSet<String>) -> Self {
        self.needs.extend(needs);
        self
    }

    /// What it takes of the machine while it runs.
    pub(super) fn cost(&self) -> Cost {
        match self.work {
            Work::Test(_) => Cost::of_needs(&self.needs),
            Work::Check(_) => Cost::of(Class::Compiling),
            Work::Build(_) => Cost::of(Class::Building),
        }
    }

    /// The pinned sets that have to be built before.
    pub(super) fn sets(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().filter_map(|line| line.strip_prefix(needs::PROGRAMS)?.strip_prefix(' '))
    }

    /// How long it may take in a run of a whole tier: one that hangs must not hang the run.
    pub(super) fn limit(&self, tier: Tier) -> Duration {
        let minutes = match (&self.work, tier) {
            (Work::Test(_), Tier::Quick) => match self.cost().class {
                Class::Computing => 8,
                _ => 25,
            },
            (Work::Test(_), Tier::Long) => LONG_LIMIT,
            (Work::Check(_) | Work::Build(_), _) => 45,
        };
        Duration::from_secs(minutes * 60)
    }
}

/// In minutes. A few tests by name may have to build Kubernetes first.
const LONG_LIMIT: u64 = 100;
/// Longer than any test, so that the needs of those that no run knows yet are learned first.
const UNKNOWN: Duration = Duration::from_secs(24 * 60 * 60);

/// The pinned sets of a tier that are not built yet, those first that the most sets of tests wait for.
pub(super) fn programs(tier: Tier) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for (at, set) in SETS.iter().filter(|set| set.tier <= tier).enumerate() {
        if !set.is_built().map_err(|error| error.to_string())? {
            // In the order of the list, and before anything else that computes.
            let expected = UNKNOWN * 2 - Duration::from_secs(at as u64);
            let name = format!("build {}", set.name);
            jobs.push(Job { name, work: Work::Build(set.name), needs: BTreeSet::new(), expected });
        }
    }
    Ok(jobs)
}

const CLIPPY: &[&str] = &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];

/// What a whole tier tries beside its tests, first of all: the static programs, which tests on machines wait for, in the
/// long tier as they ship, and the lints.
pub(super) fn checks(tier: Tier) -> Vec<Job> {
    let build = |package, profile| {
        let words = ["cargo", "build", "--locked", "--target", "x86_64-unknown-linux-musl", "-p", package];
        [&words[..], &["--profile", profile]].concat()
    };
    let [machineadm, plugin] = match tier {
        Tier::Quick => ["dev", "dev"],
        Tier::Long => ["release", "kms-plugin"],
    };
    let checks = [
        ("static program", build("machineadm", machineadm)),
        ("static KMS plugin", build("machineadm-kms-plugin", plugin)),
        ("lints", CLIPPY.to_vec()),
    ];
    let job = |(at, (name, words)): (usize, (&str, Vec<&'static str>))| {
        let expected = UNKNOWN * 3 - Duration::from_secs(at as u64);
        Job { name: name.to_owned(), work: Work::Check(words), needs: BTreeSet::new(), expected }
    };
    checks.into_iter().enumerate().map(job).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::test) fn test(path: &str, adds: Option<&str>) -> Test {
        Test {
            binary: "machineadm tests/workers/main.rs".to_owned(),
            program: "/t/workers-1".into(),
            package: "/r/crates/machineadm".into(),
            cargo_words: "-p machineadm --test workers".to_owned(),
            path: path.to_owned(),
            adds: adds.map(str::to_owned),
        }
    }

    #[test]
    fn a_test_names_the_command_that_runs_it_alone() {
        let quick = test("worker::joins", None);
        assert_eq!(quick.name(), "machineadm tests/workers/main.rs worker::joins");
        let words = "cargo test -p machineadm --test workers -- --exact worker::joins";
        let set = "MACHINEADM_TESTS_COMPLETE=1 MACHINEADM_TESTS_SEED=7 PROPTEST_RNG_SEED=7";
        assert_eq!(quick.alone(7), format!("{set} {words}"));
        assert_eq!(test("worker::joins", Some("kills")).alone(7), format!("{set} {words} --include-ignored"));
    }

    #[test]
    fn needs_of_the_last_run_are_known_and_those_of_a_new_test_are_learned_first() {
        let history = History::read(
            r#"{"machineadm tests/workers/main.rs worker::joins": {"seconds": 30.0, "needs": ["nodes", "programs etcd-1"]}}"#,
        );
        let known = Job::of_test(test("worker::joins", None), &history);
        assert_eq!((known.expected, known.cost().class), (Duration::from_secs(30), Class::Waiting));
        assert_eq!(known.sets().collect::<Vec<_>>(), ["etcd-1"]);
        let new = Job::of_test(test("worker::leaves", None), &history);
        assert!(new.expected > known.expected && new.cost().class == Class::Computing);
        let learned = new.with_needs(["machines".to_owned()].into());
        assert_eq!(learned.cost().class, Class::Waiting);
    }

    #[test]
    fn a_whole_tier_tries_the_lints_and_both_static_programs() {
        let words = |job: &Job| if let Work::Check(words) = &job.work { words.join(" ") } else { String::new() };
        let all = |tier| checks(tier).iter().map(words).collect::<Vec<_>>();
        let [program, plugin, lints] = &all(Tier::Long)[..] else { panic!("three") };
        assert!(program.ends_with("-p machineadm --profile release"), "{program}");
        assert!(plugin.ends_with("-p machineadm-kms-plugin --profile kms-plugin"), "{plugin}");
        assert!(lints.ends_with("-D warnings") && all(Tier::Quick).contains(lints), "{lints}");
        assert!(all(Tier::Quick)[0].ends_with("-p machineadm --profile dev"));
    }
}
