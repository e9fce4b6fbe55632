//! The last tests that cargo runs: they list what the others did not try, so that nothing is left out silently.
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use testbed::needs;
use testbed::record::{Record, Subject};

const LONG: &str = "#[ignore = \"long tier: ";

/// A test of the long tier: its name and what it adds.
type LongTest = (String, String);

#[test]
fn what_this_run_left_out_is_listed_at_its_end() {
    let record = Record::of_this_run().unwrap();
    let lines = record.lines(Subject::LeftOut).unwrap();
    if std::env::var_os(needs::COMPLETE).is_some() {
        assert_eq!(lines, [""; 0], "a complete run leaves nothing out");
        return;
    }
    let long = long_tests(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap());
    assert!(!long.is_empty(), "the long tier has tests");
    // Past the harness, which would keep it back.
    let mut out = std::io::stdout();
    writeln!(out, "\nleft to the long tier (scripts/test --long): {} tests", long.len()).unwrap();
    long.iter().for_each(|(test, adds)| writeln!(out, "  {test}: {adds}").unwrap());
    writeln!(out, "left out because this machine lacks something (as root, scripts/setup brings it): {}", lines.len())
        .unwrap();
    lines.iter().for_each(|line| writeln!(out, "  {line}").unwrap());
    record.clear().unwrap();
}

fn long_tests(root: &Path) -> Vec<LongTest> {
    let mut found: Vec<LongTest> = sources(root).iter().flat_map(|path| long_tests_in(path)).collect();
    found.sort();
    found
}

fn long_tests_in(path: &Path) -> Vec<LongTest> {
    let text = fs::read_to_string(path).expect("a source file");
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let test = |(at, line): (usize, &&str)| {
        let adds = line.strip_prefix(LONG)?.strip_suffix("\"]")?;
        let name = lines[at..].iter().find_map(|line| line.strip_prefix("fn "))?.split('(').next()?;
        Some((format!("{file}::{name}"), adds.to_owned()))
    };
    lines.iter().enumerate().filter_map(test).collect()
}

/// The Rust files below the folders of the workspace.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["benches", "crates", "fuzz", "testbed", "xtask"].map(|folder| root.join(folder)).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files
}
