//! A tree as it lies on disk, to be compared with another: paths, types, modes, owners, contents.
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
