//! Directories of a played machine, with everything below them.
use super::{Memory, USUAL_DIRECTORY};
use crate::{DirectoryState, EntrySort, FileState, Result, TreeEntry};
use std::{collections::BTreeMap, path::Path};

impl Memory {
    pub(super) fn tree_of(&self, directory: &str) -> Vec<TreeEntry> {
        let mut entries = BTreeMap::new();
        for path in self.files.keys().chain(self.links.keys()).chain(self.directories.keys()) {
            // A directory may be there only because something is below it.
            let above = Path::new(path).ancestors().filter_map(Path::to_str);
            for path in above.take_while(|above| Path::new(above).starts_with(directory)) {
                entries.insert(path.to_owned(), self.entry_at(path));
            }
        }
        entries.into_values().collect()
    }

    /// The power may fail before each entry goes.
    pub(super) fn remove_tree_of(&mut self, path: &str) -> Result<()> {
        for entry in self.tree_of(path).iter().rev() {
            self.spend()?;
            self.remove(&entry.path);
        }
        Ok(())
    }

    fn entry_at(&self, path: &str) -> TreeEntry {
        let (sort, mode, uid, gid) = match (self.files.get(path), self.links.get(path)) {
            (Some(FileState { mode, uid, gid, .. }), _) => (EntrySort::File, *mode, *uid, *gid),
            (None, Some(_)) => (EntrySort::Link, 0o777, 0, 0),
            (None, None) => {
                let DirectoryState { mode, uid, gid } = self.directories.get(path).copied().unwrap_or(USUAL_DIRECTORY);
                (EntrySort::Directory, mode, uid, gid)
            }
        };
        TreeEntry { path: path.to_owned(), sort, mode, uid, gid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Host, Inspect};
    use secret::Secret;

    #[test]
    fn a_tree_has_directories_that_only_hold_something_and_goes_from_the_bottom_up() {
        let mut memory = Memory { power: Some(1), ..Memory::default() };
        let file = FileState { contents: Secret::new(Vec::new()), mode: 0o600, uid: 0, gid: 0 };
        memory.files.insert("/a/b/c".into(), file.clone());
        memory.files.insert("/ab".into(), file);
        memory.links.insert("/a/d".into(), "x".into());
        let paths =
            |memory: &Memory| memory.tree("/a").unwrap().into_iter().map(|entry| entry.path).collect::<Vec<_>>();
        assert_eq!(paths(&memory), ["/a", "/a/b", "/a/b/c", "/a/d"]);
        assert!(matches!(memory.remove_tree("/a"), Err(Error::PowerFailed)));
        assert_eq!(paths(&memory), ["/a", "/a/b", "/a/b/c"]);
        memory.power = None;
        memory.remove_tree("/a").unwrap();
        assert_eq!((paths(&memory), memory.files.len()), (Vec::new(), 1));
    }
}
