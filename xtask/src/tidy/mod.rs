//! Rules that hold for the whole repository, as checks over its tracked files: the list, and how it is run.
mod bans;
mod changelog;
mod dependencies_doc;
mod exceptions;
mod file_names;
mod file_sizes;
mod first_lines;
mod import_cycles;
mod kubernetes_paths;
mod layers;
mod licences;
mod links;
mod machine_side;
mod manifests;
mod markdown;
mod module_paths;
mod places;
mod port_traits;
mod recipes;
mod requirements;
mod rules_do_no_io;
mod rust_source;
mod tree;
mod words;

use std::fmt;
use std::path::Path;
use tree::Tree;

/// Something that breaks a rule, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    /// Counted from 1; 0 means the file as a whole.
    line: usize,
    message: String,
}

impl Finding {
    fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
        Finding { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.file, self.message),
            line => write!(out, "{}:{line}: {}", self.file, self.message),
        }
    }
}

/// What a finding means for the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Fails,
    Warns,
}

/// One rule: its name, what it means for the run, and how it is checked.
struct Check {
    name: &'static str,
    weight: Weight,
    run: fn(&Tree) -> Vec<Finding>,
}

const fn rule(name: &'static str, run: fn(&Tree) -> Vec<Finding>) -> Check {
    Check { name, weight: Weight::Fails, run }
}

const fn advice(name: &'static str, run: fn(&Tree) -> Vec<Finding>) -> Check {
    Check { name, weight: Weight::Warns, run }
}

/// Every check there is.
const CHECKS: &[Check] = &[
    rule("dependencies point down", layers::check),
    rule("rules do no I/O", rules_do_no_io::check),
    rule("no import cycles", import_cycles::check),
    rule("a port has few methods", port_traits::check),
    rule("banned crates stay out", bans::check_lock),
    rule("deny.toml bans the same crates", bans::check_deny),
    rule("licences are allowed", licences::check),
    rule("the machine's side stays small", machine_side::check),
    rule("a Rust file says first what it is", first_lines::check),
    rule("no file is too long", file_sizes::check_limit),
    advice("a file is getting long", file_sizes::check_long),
    rule("names say what is inside", file_names::check),
    rule("an exception carries its reason", exceptions::check),
    rule("nothing of one machine", places::check),
    rule("a path of a node is spelled once", kubernetes_paths::check),
    rule("the changelog has an Unreleased section", changelog::check),
    rule("links lead somewhere", links::check),
    rule("dependencies have their reason", dependencies_doc::check),
    rule("requirements name tests that exist", requirements::check),
    rule("recipes name every file to touch", recipes::check),
    rule("texts use the words of the field", words::check),
];

/// Runs every check over the repository, prints all findings, and fails if one of them is more than advice.
pub(crate) fn check_and_print(root: &Path) -> Result<(), String> {
    let tree = Tree::tracked(root)?;
    let report = report(CHECKS, &tree);
    for line in &report.lines {
        eprintln!("{line}");
    }
    let (proven, rows) = requirements::proven(&tree);
    eprintln!("modules in import cycles: {}", import_cycles::summary(&tree));
    eprintln!("requirements: {proven} of {rows} are proven by a test");
    match report.failures {
        0 => Ok(()),
        1 => Err("1 thing to put right".to_owned()),
        count => Err(format!("{count} things to put right")),
    }
}

/// All findings as lines to print, and how many of them are failures.
struct Report {
    lines: Vec<String>,
    failures: usize,
}

fn report(checks: &[Check], tree: &Tree) -> Report {
    let mut report = Report { lines: Vec::new(), failures: 0 };
    for check in checks {
        let mut findings = (check.run)(tree);
        findings.sort();
        findings.dedup();
        let word = match check.weight {
            Weight::Fails => "error",
            Weight::Warns => "warning",
        };
        if check.weight == Weight::Fails {
            report.failures += findings.len();
        }
        report.lines.extend(findings.iter().map(|finding| format!("{word}: {finding}  [{}]", check.name)));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        check_and_print(&crate::repository()).unwrap();
    }

    #[test]
    fn a_finding_reads_as_file_line_message() {
        assert_eq!(Finding::new("a.rs", 3, "odd").to_string(), "a.rs:3: odd");
        assert_eq!(Finding::new("a.rs", 0, "odd").to_string(), "a.rs: odd");
    }

    #[test]
    fn every_finding_is_printed_and_only_broken_rules_count() {
        fn two(_: &Tree) -> Vec<Finding> {
            vec![Finding::new("b", 1, "m"), Finding::new("a", 2, "m")]
        }
        let report = report(&[rule("r", two), advice("s", two)], &Tree::made_up(&[]));
        let lines = ["error: a:2: m  [r]", "error: b:1: m  [r]", "warning: a:2: m  [s]", "warning: b:1: m  [s]"];
        assert_eq!(report.lines, lines);
        assert_eq!(report.failures, 2);
    }
}
