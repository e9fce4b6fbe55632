//! A directory and what is below it: listed without reading files, or deleted.
use super::{
    root::{Missing, Root, Spot, open_dir},
    together::remove_entry,
};
use crate::{EntrySort, Error, Result, TreeEntry};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, Stat, fstat, fsync, statat},
    io::Errno,
};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

/// A directory and everything below it, in order.
pub(super) fn tree(root: &Root, path: &str) -> Result<Vec<TreeEntry>> {
    let Some(Spot { found: Some(found), .. }) = root.walk_unfollowed(path, Missing::Report)? else {
        return Ok(Vec::new());
    };
    let mut entries = vec![entry(path.to_owned(), &found)];
    // A link to the directory is an entry of its own, and the directory is where it leads.
    if let Some(Spot { dir, name, found: Some(found) }) = root.walk(path, Missing::Report)?
        && FileType::from_raw_mode(found.st_mode) == FileType::Directory
    {
        let directory = open_dir(&dir, &name).map_err(Error::system(format!("open the directory {path}")))?;
        list(&directory, path, &mut entries).map_err(Error::system(format!("list {path}")))?;
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// Deletes a file, or a directory with everything below it.
pub(super) fn remove(root: &Root, path: &str) -> Result<()> {
    let Some(Spot { dir, name, .. }) = root.walk_unfollowed(path, Missing::Report)? else { return Ok(()) };
    let doing = || format!("delete {path}");
    match remove_entry(&dir, &name) {
        Err(Errno::XDEV) => {
            let why = "another file system is mounted at it or below it".to_owned();
            Err(Error::Unfit { what: path.to_owned(), why, advice: "unmount it, then run again".to_owned() })
        }
        removed => removed.and_then(|()| fsync(&dir)).map_err(Error::system(doing())),
    }
}

fn list(directory: &OwnedFd, path: &str, entries: &mut Vec<TreeEntry>) -> rustix::io::Result<()> {
    let device = fstat(directory)?.st_dev;
    for found in Dir::read_from(directory)? {
        let name = found?.file_name().to_owned();
        let Ok(text) = name.to_str() else {
            // No path can name it: that there is something is all that is known.
            let path = format!("{path}/{}", name.to_string_lossy());
            entries.push(TreeEntry { path, sort: EntrySort::Special, mode: 0, uid: 0, gid: 0 });
            continue;
        };
        if [".", ".."].contains(&text) {
            continue;
        }
        // One that has gone meanwhile is not listed.
        let Ok(stat) = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let below = format!("{path}/{text}");
        let is_entered = FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_dev == device;
        entries.push(entry(below.clone(), &stat));
        if is_entered {
            match open_dir(directory, OsStr::from_bytes(name.to_bytes())) {
                Err(Errno::NOENT) => {}
                inner => list(&inner?, &below, entries)?,
            }
        }
    }
    Ok(())
}

fn entry(path: String, stat: &Stat) -> TreeEntry {
    let sort = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntrySort::File,
        FileType::Directory => EntrySort::Directory,
        FileType::Symlink => EntrySort::Link,
        _ => EntrySort::Special,
    };
    TreeEntry { path, sort, mode: stat.st_mode & 0o7777, uid: stat.st_uid, gid: stat.st_gid }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
    };

    fn filled() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().expect("a directory");
        let pki = dir.path().join("etc/kubernetes/pki");
        fs::create_dir_all(&pki).expect("a directory");
        fs::write(pki.join("ca.key"), "12345").expect("a file");
        fs::set_permissions(pki.join("ca.key"), fs::Permissions::from_mode(0o600)).expect("a mode");
        symlink("/elsewhere", pki.join("link")).expect("a link");
        fs::create_dir(dir.path().join("elsewhere")).expect("a directory");
        fs::write(dir.path().join("elsewhere/kept"), "").expect("a file");
        let root = Root::open(dir.path()).expect("a root");
        (dir, root)
    }

    fn paths(entries: &[TreeEntry]) -> Vec<(&str, EntrySort)> {
        entries.iter().map(|entry| (entry.path.as_str(), entry.sort)).collect()
    }

    #[test]
    fn a_tree_has_the_directory_itself_and_follows_no_link_in_it() {
        let (_dir, root) = filled();
        let found = tree(&root, "/etc/kubernetes/pki").expect("it is read");
        assert_eq!(
            paths(&found),
            [
                ("/etc/kubernetes/pki", EntrySort::Directory),
                ("/etc/kubernetes/pki/ca.key", EntrySort::File),
                ("/etc/kubernetes/pki/link", EntrySort::Link)
            ]
        );
        assert_eq!(found[1].mode, 0o600);
        assert_eq!(tree(&root, "/etc/none").expect("it is read"), []);
    }

    #[test]
    fn a_link_to_a_directory_is_listed_with_what_is_in_the_directory() {
        let (dir, root) = filled();
        symlink("elsewhere", dir.path().join("kubelet")).expect("a link");
        let found = tree(&root, "/kubelet").expect("it is read");
        assert_eq!(paths(&found), [("/kubelet", EntrySort::Link), ("/kubelet/kept", EntrySort::File)]);
    }

    #[test]
    fn what_has_a_name_that_is_no_text_is_listed() {
        let (dir, root) = filled();
        fs::write(dir.path().join("elsewhere").join(OsStr::from_bytes(b"Schl\xfcssel")), "k").expect("a file");
        let found = tree(&root, "/elsewhere").expect("it is read");
        assert_eq!(paths(&found)[1], ("/elsewhere/Schl\u{fffd}ssel", EntrySort::Special));
    }

    #[test]
    fn a_tree_is_deleted_and_what_its_links_point_to_stays() {
        let (dir, root) = filled();
        remove(&root, "/etc/kubernetes").expect("it is deleted");
        remove(&root, "/etc/kubernetes").expect("it is gone");
        assert!(!Path::new(&dir.path().join("etc/kubernetes")).exists());
        assert!(dir.path().join("elsewhere/kept").exists());
    }
}
