//! What a directory holds before files are written into it together, and what of it forbids that.
use crate::{DirectoryState, file_set::FileSet, linux::root::open_dir};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Statx, StatxAttributes, StatxFlags, fstat, statx, unlinkat},
    io::Errno,
};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// A directory with everything below it. Two are equal if nobody has created, deleted or replaced an entry meanwhile.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) state: DirectoryState,
    pub(super) directories: BTreeMap<OsString, Tree>,
    /// Everything but directories.
    pub(super) leaves: BTreeMap<OsString, Leaf>,
    inode: u64,
    fixed: Option<&'static str>,
}

/// An entry that is not a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    kind: FileType,
    inode: u64,
    fixed: Option<&'static str>,
}

/// A file system, as statx(2) numbers it.
type Device = (u32, u32);

impl Tree {
    /// Looks at an open directory, which is an entry of `parent`.
    pub(super) fn survey(parent: impl AsFd, directory: &OwnedFd) -> rustix::io::Result<Self> {
        let above = look(parent, OsStr::new(""))?;
        Self::survey_on((above.stx_dev_major, above.stx_dev_minor), directory)
    }

    fn survey_on(above: Device, directory: &OwnedFd) -> rustix::io::Result<Self> {
        let found = look(directory, OsStr::new(""))?;
        let device = (found.stx_dev_major, found.stx_dev_minor);
        let (mut directories, mut leaves) = (BTreeMap::new(), BTreeMap::new());
        for name in names(directory)? {
            let entry = look(directory, &name)?;
            match FileType::from_raw_mode(entry.stx_mode.into()) {
                FileType::Directory => {
                    let below = Self::survey_on(device, &open_dir(directory, &name)?)?;
                    directories.insert(name, below);
                }
                kind => drop(leaves.insert(name, Leaf { kind, inode: entry.stx_ino, fixed: fixed(&entry) })),
            }
        }
        let state = DirectoryState { mode: u32::from(found.stx_mode) & 0o7777, uid: found.stx_uid, gid: found.stx_gid };
        let other_device = (device != above).then_some("is on a file system of its own");
        Ok(Self { state, directories, leaves, inode: found.stx_ino, fixed: fixed(&found).or(other_device) })
    }

    /// Whether all of it can be deleted once another directory has its name.
    pub(super) fn is_movable(&self) -> bool {
        self.fixed.is_none()
            && self.leaves.values().all(|leaf| leaf.fixed.is_none())
            && self.directories.values().all(Self::is_movable)
    }

    /// Why the files of a set cannot be written into it.
    pub(super) fn problems(&self, set: &FileSet<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        self.add_problems(set, Path::new(""), &mut problems);
        problems
    }

    fn add_problems(&self, set: &FileSet<'_>, path: &Path, problems: &mut Vec<String>) {
        let mut add = |name: &OsStr, why: &str| problems.push(format!("{} {why}", path.join(name).display()));
        for (name, leaf) in &self.leaves {
            let replaced = set.files.contains_key(name.as_os_str());
            match leaf.kind {
                FileType::RegularFile | FileType::Symlink if set.directories.contains_key(name.as_os_str()) => {
                    add(name, "is not a directory");
                }
                FileType::RegularFile if replaced => leaf.fixed.into_iter().for_each(|why| add(name, why)),
                FileType::Symlink if replaced => add(name, "is a symbolic link"),
                FileType::RegularFile | FileType::Symlink => {}
                _ => add(name, "is a FIFO, a socket or a device"),
            }
        }
        for (name, _) in self.directories.iter().filter(|(name, _)| set.files.contains_key(name.as_os_str())) {
            add(name, "is a directory");
        }
        for (name, below) in self.directories.iter().filter(|(name, _)| set.directories.contains_key(name.as_os_str()))
        {
            below.fixed.into_iter().for_each(|why| add(name, why));
        }
        let nothing = FileSet::default();
        for (name, below) in &self.directories {
            below.add_problems(set.directories.get(name.as_os_str()).unwrap_or(&nothing), &path.join(name), problems);
        }
    }
}

fn names(directory: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Deletes a file, or a directory with everything below it; links are not followed, other file systems not entered.
pub(in crate::linux) fn remove_tree(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        removed => return removed,
    }
    let directory = open_dir(parent, name)?;
    if fstat(&directory)?.st_dev != fstat(parent)?.st_dev {
        return Err(Errno::XDEV);
    }
    names(&directory)?.iter().try_for_each(|name| remove_tree(&directory, name))?;
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

fn look(directory: impl AsFd, name: &OsStr) -> rustix::io::Result<Statx> {
    statx(directory, name, AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)
}

/// Why an entry cannot be renamed or deleted, whatever its directory's mode. Kernels before 5.8 do not report mount
/// points; there, another file system is one, and a mount of the same file system cannot be linked from.
fn fixed(entry: &Statx) -> Option<&'static str> {
    match entry.stx_attributes {
        flags if flags.contains(StatxAttributes::MOUNT_ROOT) => Some("is a mount point"),
        flags if flags.intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND) => {
            Some("has the attribute immutable or append-only (see chattr)")
        }
        _ => None,
    }
}
