//! The programs of others that judge our results: how a test starts one, and which ones really ran.
use crate::record::{Record, Subject};
use crate::{Error, Result, cache, doctor};
use std::collections::BTreeSet;
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
    ran(name, Version::Asked)?;
    Ok(Command::new(path))
}

/// How the version of a program is known.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Version<'a> {
    /// This repository pins it.
    Pinned(&'a str),
    /// A machine has it from its distribution.
    Found(&'a str),
    /// The end of the run asks the program itself.
    Asked,
}

/// What stands between the name and a pinned version in the record.
const PINNED: &str = " = ";

/// Notes that a program judged.
pub(crate) fn ran(name: &str, version: Version<'_>) -> Result<()> {
    let line = match version {
        Version::Pinned(version) => format!("{name}{PINNED}{version}"),
        Version::Found(version) => format!("{name} {version}"),
        Version::Asked => name.to_owned(),
    };
    Record::of_this_run()?.add(Subject::Judges, &line)
}

/// Where a program of Debian lies.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let unpacked = cache::directory().ok()?.join("bin").join(name);
    if unpacked.is_file() { Some(unpacked) } else { doctor::find(name) }
}

/// A program of others that judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judge {
    name: String,
    version: String,
    is_pinned: bool,
}

impl Judge {
    /// From a line of the record.
    fn of(line: &str) -> Self {
        let pinned = line.split_once(PINNED).map(|(name, version)| (name, version.to_owned()));
        let is_pinned = pinned.is_some();
        let found = || line.split_once(' ').map(|(name, version)| (name, version.to_owned()));
        let asked = || (line, version(line).unwrap_or_else(|| "of unknown version".to_owned()));
        let (name, version) = pinned.or_else(found).unwrap_or_else(asked);
        Self { name: name.to_owned(), version, is_pinned }
    }

    /// The name, and the version where this repository pins it.
    pub fn pin(&self) -> String {
        if self.is_pinned { self.to_string() } else { self.name.clone() }
    }
}

impl std::fmt::Display for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Every program that judged in these records.
pub fn of_run(records: &[Record]) -> Result<Vec<Judge>> {
    let lines = records.iter().map(|record| record.lines(Subject::Judges)).collect::<Result<Vec<_>>>()?;
    let lines: BTreeSet<String> = lines.into_iter().flatten().collect();
    Ok(lines.iter().map(|line| Judge::of(line)).collect())
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
    fn a_version_belongs_to_a_judge_where_this_repository_pins_it() {
        let pins = ["kubeadm = 1.36.4", "systemctl 252.39", "no-such-program"].map(|line| Judge::of(line).pin());
        assert_eq!(pins, ["kubeadm 1.36.4", "systemctl", "no-such-program"]);
        assert_eq!(Judge::of("systemctl 252.39").to_string(), "systemctl 252.39");
        assert_eq!(Judge::of("no-such-program").to_string(), "no-such-program of unknown version");
    }

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
