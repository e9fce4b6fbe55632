//! A tree as it lies on disk, to be compared with another: paths, types, modes, owners, contents.
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

/// One name in a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) kind: &'static str,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    /// A file's contents, a link's target.
    pub(crate) body: Vec<u8>,
}

/// Everything below a directory, by its path from there, with the directory itself under the empty path.
pub(crate) type Tree = BTreeMap<String, Entry>;

/// Looks at a tree; links are not followed.
pub(crate) fn look(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut ahead = vec![(String::new(), root.to_owned())];
    while let Some((name, path)) = ahead.pop() {
        let found = fs::symlink_metadata(&path).expect("what a listing names is there");
        let (kind, body) = match found.file_type() {
            kind if kind.is_dir() => {
                for entry in fs::read_dir(&path).expect("a directory can be listed") {
                    let entry = entry.expect("a directory can be listed to its end");
                    ahead.push((format!("{name}/{}", entry.file_name().to_string_lossy()), entry.path()));
                }
                ("directory", Vec::new())
            }
            kind if kind.is_symlink() => {
                let target = fs::read_link(&path).expect("a link can be read");
                ("link", target.into_os_string().into_encoded_bytes())
            }
            kind if kind.is_file() => ("file", fs::read(&path).expect("root reads every file")),
            kind if kind.is_fifo() => ("fifo", Vec::new()),
            _ => ("other", Vec::new()),
        };
        let owner = (found.uid(), found.gid());
        tree.insert(name, Entry { kind, mode: found.mode() & 0o7777, owner, body });
    }
    tree
}

/// The same tree with what differs from run to run reduced to its meaning: the outcome's times and the lock's text.
pub(crate) fn by_meaning(mut tree: Tree) -> Tree {
    if let Some(outcome) = tree.get_mut("/var/lib/machineadm/outcome.json") {
        outcome.body = meaning(&outcome.body);
    }
    if let Some(lock) = tree.get_mut("/run/machineadm/lock") {
        lock.body.clear();
    }
    tree
}

/// What an outcome says, apart from when, and from what an earlier run may have done already.
fn meaning(outcome: &[u8]) -> Vec<u8> {
    let outcome: Value = serde_json::from_slice(outcome).expect("an outcome is JSON");
    let phases = outcome["phases"].as_array().expect("an outcome lists its phases");
    let phases: Vec<_> = phases.iter().map(|phase| [&phase["name"], &phase["state"]]).collect();
    let kept = ["apiVersion", "kind", "machine", "mode", "state", "documents", "failure"].map(|name| &outcome[name]);
    json!([kept, phases]).to_string().into_bytes()
}

/// What differs, in words; empty when nothing does.
pub(crate) fn differences(wanted: &Tree, found: &Tree) -> Vec<String> {
    let gone = wanted.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is missing"));
    let new = found.keys().filter(|name| !wanted.contains_key(*name)).map(|name| format!("{name} is left over"));
    let other = wanted.iter().filter_map(|(name, entry)| {
        let found = found.get(name).filter(|found| *found != entry)?;
        Some(format!("{name} is {} instead of {}", shown(found), shown(entry)))
    });
    gone.chain(new).chain(other).collect()
}

fn shown(Entry { kind, mode, owner, body }: &Entry) -> String {
    format!("{kind} {mode:04o} {}:{} {:?}", owner.0, owner.1, String::from_utf8_lossy(body))
}
