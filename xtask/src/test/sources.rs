//! Whether every Rust file of the workspace is in some test binary: one whose `mod` was forgotten tests nothing.
use super::binaries::Binary;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that no test binary has: benchmarks without a harness, programs that run while something is built, and what only
/// the static programs have.
const OUTSIDE: &[&str] = &["/build.rs", "benches/benches/", "crates/kms/src/pkcs11/unsupported.rs"];

/// Fails with the names of the files that no binary was compiled from.
pub(super) fn check(root: &Path, binaries: &[Binary]) -> Result<(), String> {
    let ours = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "--", "*.rs"])
        .output();
    let ours = ours.map_err(|error| format!("cannot run git: {error}"))?;
    let mut compiled = BTreeSet::new();
    for binary in binaries {
        // cargo writes beside each binary which files it was compiled from.
        let list = binary.program.with_extension("d");
        let text = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
        compiled.extend(files_of(&text, root));
    }
    match forgotten(&String::from_utf8_lossy(&ours.stdout), &compiled).as_slice() {
        [] => Ok(()),
        files => Err(format!("no test binary has these files; is a `mod` missing? {}", files.join(", "))),
    }
}

/// The files of a list of dependencies as make reads it, below the root.
fn files_of(list: &str, root: &Path) -> BTreeSet<String> {
    let below = |word: &str| Path::new(word).strip_prefix(root).unwrap_or(Path::new(word)).to_owned();
    let clean = |word: &str| below(word).components().fold(Vec::new(), step).join("/");
    list.split_whitespace().map(|word| clean(word.trim_end_matches(':'))).collect()
}

/// `a/b/../c` is `a/c`.
fn step(mut path: Vec<String>, part: std::path::Component<'_>) -> Vec<String> {
    match part {
        std::path::Component::ParentDir => _ = path.pop(),
        part => path.push(part.as_os_str().to_string_lossy().into_owned()),
    }
    path
}

fn forgotten(tracked: &str, compiled: &BTreeSet<String>) -> Vec<String> {
    let is_inside = |file: &&str| !OUTSIDE.iter().any(|outside| file.contains(outside));
    tracked.lines().filter(is_inside).filter(|file| !compiled.contains(*file)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_mod_was_dropped_is_found() {
        let list = "/r/target/debug/deps/workers-1: crates/machineadm/tests/workers/main.rs \
            crates/machineadm/tests/workers/../support/seed.rs /r/crates/host/src/lib.rs\n\
            crates/machineadm/tests/workers/main.rs:\n";
        let compiled = files_of(list, Path::new("/r"));
        let tracked = "crates/host/src/lib.rs\ncrates/machineadm/tests/support/seed.rs\n\
            crates/machineadm/tests/workers/main.rs\n";
        assert_eq!(forgotten(tracked, &compiled), [""; 0]);
        let more = format!("{tracked}crates/machineadm/tests/workers/ways.rs\nbenches/benches/kms.rs\n");
        assert_eq!(forgotten(&more, &compiled), ["crates/machineadm/tests/workers/ways.rs"]);
    }
}
