//! The programs of others that judge our results: how a test starts one, and which ones really ran.
use crate::record::{Record, Subject};
use crate::{Error, Result, cache, doctor};
use std::path::PathBuf;
use std::process::Command;

/// What prints a program's version, where it is not `--version`.
const VERSION_WORDS: &[(&str, &str)] =
    &[("openssl", "version"), ("ignition-validate", "-version"), ("ignition", "-version")];

/// A program that Debian has, ready to be given arguments, and noted as one that judged.
///
/// `scripts/setup` installs it, or unpacks it into the cache, which comes first.
pub fn command(name: &str) -> Result<Command> {
    let path =
        find(name).ok_or_else(|| Error::Missing { what: name.to_owned(), remedy: "scripts/setup".to_owned() })?;
    ran(name, None)?;
    Ok(Command::new(path))
}

/// Notes that a program judged; without a version, the end of the run asks the program itself.
pub(crate) fn ran(name: &str, version: Option<&str>) -> Result<()> {
    Record::of_this_run()?.add(Subject::Judges, &format!("{name} {}", version.unwrap_or_default()))
}

/// Where a program of Debian lies.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let unpacked = cache::directory().ok()?.join("bin").join(name);
    if unpacked.is_file() { Some(unpacked) } else { doctor::find(name) }
}

/// Every program that judged in a run, with its version: `kubeadm 1.36.4`.
pub fn of_run(record: &Record) -> Result<Vec<String>> {
    let with_version = |line: String| match line.split_once(' ') {
        Some((name, "")) => format!("{name} {}", version(name).unwrap_or_else(|| "of unknown version".to_owned())),
        _ => line,
    };
    Ok(record.lines(Subject::Judges)?.into_iter().map(with_version).collect())
}

fn version(name: &str) -> Option<String> {
    let word = VERSION_WORDS.iter().find(|(program, _)| *program == name).map_or("--version", |(_, word)| word);
    let printed = Command::new(find(name)?).arg(word).output().ok()?;
    let printed = [printed.stdout, printed.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    first_version(&printed).map(str::to_owned)
}

/// The first number with a dot.
pub(crate) fn first_version(text: &str) -> Option<&str> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    numbers.map(|number| number.trim_matches('.')).find(|number| number.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_first_number_with_a_dot() {
        let printed = [
            ("strace -- version 6.1\nCopyright 1991-2022", "6.1"),
            ("OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19)", "3.0.19"),
            ("/usr/bin/cloud-init 22.4.2", "22.4.2"),
            ("unshare from util-linux 2.38.1.", "2.38.1"),
        ];
        for (text, version) in printed {
            assert_eq!(first_version(text), Some(version), "{text}");
        }
        assert_eq!(first_version("systemd 252 (252.39)"), Some("252.39"));
        assert_eq!(first_version("no number"), None);
    }
}
