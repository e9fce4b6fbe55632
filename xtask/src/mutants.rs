//! Faults that are put into the rules one at a time, to see whether a test notices (`cargo mutants`).
//!
//! A run takes the change since the last release, in every crate, and one shard of all rules crates; the day decides which,
//! so that runs on different days go through all of it. A fault that no test needs to notice stands in `.cargo/mutants.toml` with its
//! reason; any other that is not noticed fails the run.
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::Path;
use std::process::Command;

/// The crates whose faults their own tests have to notice, by package.
const RULES: &[&str] = &[
    "machineadm-certs",
    "machineadm-discovery",
    "machineadm-documents",
    "machineadm-etcd",
    "machineadm-kubeadm",
    "machineadm-kubeadm-import",
    "machineadm-objects",
    "machineadm-outcome",
    "machineadm-secret",
];
/// So many that one takes about a quarter of an hour on two cores.
const SHARDS: i64 = 40;
/// Below the repository's top folder.
const PLACE: &str = "target/mutants";
/// Exit codes of cargo mutants that tell of the faults, and not of itself.
const NOT_NOTICED: i32 = 2;
const NEVER_ENDED: i32 = 3;
const SECONDS_A_DAY: i64 = 24 * 60 * 60;

/// What became of the faults of one run, by file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Scores(BTreeMap<String, Score>);

/// What became of the faults of one file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    noticed: usize,
    /// Each as cargo mutants names it.
    not_noticed: Vec<String>,
    /// Those that the compiler refuses.
    not_built: usize,
}

/// Tries one shard and the change since the last release, or with `--file PATTERN...` all faults of these files.
pub(crate) fn run(root: &Path, options: &[String]) -> Result<(), String> {
    let now = jiff::Timestamp::now();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut runs = Vec::new();
    match options {
        [file, patterns @ ..] if file == "--file" && !patterns.is_empty() => {
            let files = patterns.iter().flat_map(|pattern| words(&["--file", pattern]));
            runs.push((format!("all of {}", patterns.join(", ")), files.collect()));
        }
        [] => {
            let shard = format!("{}/{SHARDS}", now.as_second() / SECONDS_A_DAY % SHARDS);
            let rules = RULES.iter().flat_map(|package| words(&["--package", package]));
            let options = rules.chain(words(&["--shard", &shard])).collect();
            runs.push((format!("shard {shard} of {}", RULES.join(", ")), options));
            runs.extend(change_since_release(root)?);
        }
        _ => return Err("usage: cargo xtask mutants [--file PATTERN...]".to_owned()),
    }
    let mut not_noticed = 0;
    for (what, options) in runs {
        println!("mutants: {what}, {now:.0}");
        match tried(root, options)? {
            Some(scores) => not_noticed += scores.print(),
            None => println!("  nothing to put a fault into"),
        }
    }
    match not_noticed {
        0 => Ok(()),
        some => {
            Err(format!("{some} faults are noticed by no test: add one, or name the reason in .cargo/mutants.toml"))
        }
    }
}

/// Runs cargo mutants; what it writes stays below `target/mutants`. `None` if it found nothing to try.
fn tried(root: &Path, options: Vec<String>) -> Result<Option<Scores>, String> {
    let output = root.join(PLACE);
    // Otherwise a run that tries nothing would be read as the one before.
    let of_before = fs::remove_dir_all(&output);
    of_before.or_else(|error| if error.kind() == NotFound { Ok(()) } else { Err(failed(&output)(error)) })?;
    fs::create_dir_all(&output).map_err(failed(&output))?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).env("PATH", path_with_tools()).env("PROPTEST_RNG_SEED", "1");
    cargo.args(["mutants", "--no-shuffle", "--colors=never", "--output"]).arg(&output).args(options);
    let status =
        cargo.status().map_err(|error| format!("cannot run cargo mutants: {error}; run scripts/setup --long"))?;
    let read = |name: &str| fs::read_to_string(output.join("mutants.out").join(name));
    match (status.code(), read("mutants.json"), read("outcomes.json")) {
        (Some(0), Err(_), Err(_)) => Ok(None),
        (Some(0 | NOT_NOTICED | NEVER_ENDED), Ok(planned), Ok(outcomes)) => {
            let scores = Scores::read(&planned, &outcomes).ok_or("the record of cargo mutants is not complete")?;
            Ok(Some(scores))
        }
        _ => Err(format!("cargo mutants ended with {status}; is it there? run scripts/setup --long")),
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

/// `scripts/setup --long` installs cargo mutants into the cache.
fn path_with_tools() -> std::ffi::OsString {
    let tools = testbed::cache::directory().map(|cache| cache.join("cargo/bin")).unwrap_or_default();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([tools].into_iter().chain(std::env::split_paths(&usual))).unwrap_or(usual)
}

/// What to try of the change since the last release's tag; nothing before the first release.
fn change_since_release(root: &Path) -> Result<Option<(String, Vec<String>)>, String> {
    let git = |words: &[&str]| {
        let output = Command::new("git").current_dir(root).args(words).output();
        output.map_err(|error| format!("cannot run git: {error}"))
    };
    let tag = git(&["describe", "--tags", "--abbrev=0", "--match", "v*"])?;
    if !tag.status.success() {
        println!("mutants: there is no release yet, so no change since one");
        return Ok(None);
    }
    let tag = String::from_utf8_lossy(&tag.stdout).trim().to_owned();
    let change = git(&["diff", &tag])?;
    if !change.status.success() {
        return Err(format!("git cannot compare with {tag}: {}", String::from_utf8_lossy(&change.stderr)));
    }
    let file = root.join(PLACE).with_extension("diff");
    fs::write(&file, change.stdout).map_err(failed(&file))?;
    Ok(Some((format!("the change since {tag}"), vec!["--in-diff".to_owned(), file.display().to_string()])))
}

impl Scores {
    /// Reads the record that cargo mutants keeps, if it has all that was planned. A test that never ends has noticed the
    /// fault.
    fn read(planned: &str, outcomes: &str) -> Option<Self> {
        let planned = serde_json::from_str::<Value>(planned).ok()?.as_array()?.len();
        let record: Value = serde_json::from_str(outcomes).ok()?;
        let mut scores = Self::default();
        for outcome in record["outcomes"].as_array()? {
            let mutant = &outcome["scenario"]["Mutant"];
            let summary = outcome["summary"].as_str()?;
            let Some(name) = mutant["name"].as_str() else {
                // The tests without any fault: if they fail, nothing was tried.
                (summary == "Success").then_some(())?;
                continue;
            };
            let score = scores.0.entry(mutant["file"].as_str()?.to_owned()).or_default();
            match summary {
                "CaughtMutant" | "Timeout" => score.noticed += 1,
                "MissedMutant" => score.not_noticed.push(name.to_owned()),
                "Unviable" => score.not_built += 1,
                _ => return None,
            }
        }
        (scores.0.values().map(Score::all).sum::<usize>() == planned).then_some(scores)
    }

    /// Prints a line for each file and one for all, and returns how many were not noticed.
    fn print(&self) -> usize {
        let mut all = Score::default();
        for (file, score) in &self.0 {
            println!("  {score}  {file}");
            score.not_noticed.iter().for_each(|name| println!("    not noticed: {name}"));
            all.noticed += score.noticed;
            all.not_noticed.extend(score.not_noticed.iter().cloned());
            all.not_built += score.not_built;
        }
        println!("  {all}  in all");
        all.not_noticed.len()
    }
}

impl Score {
    fn all(&self) -> usize {
        self.noticed + self.not_noticed.len() + self.not_built
    }
}

impl fmt::Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noticed, not_noticed, not_built } = self;
        let tried = noticed + not_noticed.len();
        let percent = if tried == 0 { 100.0 } else { *noticed as f64 * 100.0 / tried as f64 };
        write!(out, "{noticed:>4} of {tried:>4} noticed ({percent:5.1} %), {not_built:>3} do not build")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(outcomes: &[(&str, Option<&str>)]) -> String {
        let scenario = |name: &Option<&str>| match name {
            Some(name) => serde_json::json!({"Mutant": {"name": name, "file": "a.rs"}}),
            None => "Baseline".into(),
        };
        let outcome = |(summary, name)| serde_json::json!({"summary": summary, "scenario": scenario(name)});
        let outcomes: Vec<Value> = outcomes.iter().map(|(summary, name)| outcome((summary, name))).collect();
        serde_json::json!({"outcomes": outcomes}).to_string()
    }

    #[test]
    fn a_fault_is_noticed_by_a_failed_test_and_by_one_that_never_ends() {
        let text = record(&[
            ("Success", None),
            ("CaughtMutant", Some("a")),
            ("Timeout", Some("b")),
            ("MissedMutant", Some("c")),
            ("Unviable", Some("d")),
        ]);
        let score = Score { noticed: 2, not_noticed: vec!["c".to_owned()], not_built: 1 };
        assert_eq!(score.to_string(), "   2 of    3 noticed ( 66.7 %),   1 do not build");
        assert_eq!(Scores::read("[1, 2, 3, 4]", &text), Some(Scores([("a.rs".to_owned(), score)].into())));
        assert_eq!(Scores::read("[1, 2, 3, 4, 5]", &text), None, "a run that was ended is no score");
    }

    #[test]
    fn tests_that_fail_without_a_fault_are_no_score() {
        assert_eq!(Scores::read("[]", &record(&[("Failure", None)])), None);
        assert_eq!(Scores::read("[]", "{}"), None);
    }
}
