//! A picture of a machine's file tree, to be compared with a later one.
use super::Machine;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Prints each entry as `type mode user group size path NUL target NUL`, then a `sha256 path NUL` per regular file.
const SCRIPT: &str = r#"
find "$@" -xdev -printf '%y %m %U %G %s %p\0%l\0'
printf '\0'
find "$@" -xdev -type f -print0 | xargs -0 --no-run-if-empty sha256sum --zero --
"#;

/// One entry of a file tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As `find` calls it: `f` a file, `d` a directory, `l` a symbolic link, and so on.
    pub kind: char,
    /// Permission bits.
    pub mode: u32,
    /// The owner's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
    /// Bytes of a file; 0 for what is not one.
    pub size: u64,
    /// The digest of a file's content.
    pub sha256: Option<String>,
    /// Where a link points.
    pub target: Option<String>,
}

/// A file tree by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// All entries below the paths that were asked for, these included.
    pub entries: BTreeMap<String, Entry>,
}

impl Snapshot {
    /// What is different in a later picture: `+ path`, `- path` or `~ path`, in the order of paths.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let paths: std::collections::BTreeSet<&String> = self.entries.keys().chain(later.entries.keys()).collect();
        let change = |path: &&String| match (self.entries.get(*path), later.entries.get(*path)) {
            (None, Some(_)) => Some(format!("+ {path}")),
            (Some(_), None) => Some(format!("- {path}")),
            (before, after) => (before != after).then(|| format!("~ {path}")),
        };
        paths.iter().filter_map(change).collect()
    }
}

impl Machine {
    /// The file tree below these paths, without other file systems mounted in it.
    pub fn snapshot(&self, paths: &[&str]) -> Result<Snapshot> {
        let mut words = vec!["sh", "-euc", SCRIPT, "snapshot"];
        words.extend(paths);
        let printed = self.check(&words)?;
        parse(&printed)
            .ok_or_else(|| Error::Unreadable { what: format!("the file tree of {}", self.name()), found: printed })
    }
}

fn parse(printed: &str) -> Option<Snapshot> {
    let mut snapshot = Snapshot::default();
    let mut fields = printed.split('\0');
    loop {
        let entry = fields.next()?;
        if entry.is_empty() {
            break;
        }
        let mut words = entry.splitn(6, ' ');
        let kind = words.next()?.chars().next()?;
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        let (user, group) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let size = words.next()?.parse().ok()?;
        let path = words.next()?.to_owned();
        let target = fields.next().filter(|target| !target.is_empty()).map(str::to_owned);
        let size = if kind == 'f' { size } else { 0 };
        snapshot.entries.insert(path, Entry { kind, mode, user, group, size, sha256: None, target });
    }
    for line in fields.filter(|line| !line.is_empty()) {
        let (sha256, path) = line.split_once("  ")?;
        snapshot.entries.get_mut(path)?.sha256 = Some(sha256.to_owned());
    }
    Some(snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_mode_content_or_presence_shows() {
        let before =
            parse("d 755 0 0 4096 /a\0\0f 644 0 0 3 /a/b c\0\0f 600 0 0 1 /a/d\0\0\0aa  /a/b c\0bb  /a/d\0").unwrap();
        let after = parse("d 700 0 0 4096 /a\0\0f 644 0 0 3 /a/b c\0\0l 777 0 0 1 /a/e\0b c\0\0cc  /a/b c\0").unwrap();
        assert_eq!(before.changes(&after), ["~ /a", "~ /a/b c", "- /a/d", "+ /a/e"]);
        assert_eq!(after.entries["/a/e"].target.as_deref(), Some("b c"));
        assert!(before.changes(&before).is_empty());
    }
}
