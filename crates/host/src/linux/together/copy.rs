//! The copy of a directory: hard links to what stays, new files beside them.
use super::{Failure, Outcome, tree::Tree};
use crate::{
    DirectoryState, Error,
    file_set::FileSet,
    linux::{
        attributes,
        files::{self, DIRECTORY},
        paths::{NEW_DIRECTORY, set_rights},
        root::open_dir,
        state::our_owner,
    },
};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Mode, OFlags, fchmod, fsync, linkat, mkdirat, openat},
    io::Errno,
};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::File,
    path::Path,
};

/// Fills an empty directory with the files of a set and with what else an old one has, and makes it durable.
///
/// Only its owner can enter it until it is complete. It gets the old one's label before its files, which inherit it.
pub(super) fn fill(copy: &OwnedFd, old: Option<(&OwnedFd, &Tree)>, set: &FileSet<'_>, path: &Path) -> Outcome {
    let shown = path.to_string_lossy();
    let fail = |errno| Error::system(format!("write files below {shown}"))(errno);
    let (uid, gid) = our_owner();
    let mut state = DirectoryState { mode: DIRECTORY, uid, gid };
    if let Some((old, tree)) = old {
        attributes::copy(old, copy, &shown)?;
        fchmod(copy, Mode::from_raw_mode(NEW_DIRECTORY)).map_err(fail)?;
        for name in tree.leaves.keys().filter(|name| !set.files.contains_key(name.as_os_str())) {
            let doing = format!("link {}", path.join(name).display());
            linkat(old, name, copy, name, AtFlags::empty()).map_err(Failure::of(doing))?;
        }
        state = tree.state;
    }
    for (name, file) in &set.files {
        let replaced = old.map_or(Ok(None), |(old, _)| existing(old, name)).map_err(fail)?;
        let new = files::new_draft(copy, *name).map_err(fail)?;
        files::fill(new, replaced.as_ref(), file, &path.join(name).to_string_lossy())?;
    }
    fill_directories(copy, old, set, path)?;
    set_rights(copy, &shown, state)?;
    fsync(copy).map_err(|errno| fail(errno).into())
}

fn fill_directories(copy: &OwnedFd, old: Option<(&OwnedFd, &Tree)>, set: &FileSet<'_>, path: &Path) -> Outcome {
    let kept = old.into_iter().flat_map(|(_, tree)| tree.directories.keys().map(OsString::as_os_str));
    let names: BTreeSet<&OsStr> = kept.chain(set.directories.keys().copied()).collect();
    let nothing = FileSet::default();
    for name in names {
        let path = path.join(name);
        let fail = |errno| Error::system(format!("copy the directory {}", path.display()))(errno);
        mkdirat(copy, name, Mode::from_raw_mode(NEW_DIRECTORY)).map_err(fail)?;
        let below = open_dir(copy, name).map_err(fail)?;
        let set = set.directories.get(name).unwrap_or(&nothing);
        match old.and_then(|(old, tree)| Some((old, tree.directories.get(name)?))) {
            None => fill(&below, None, set, &path)?,
            Some((old, tree)) => fill(&below, Some((&open_dir(old, name).map_err(fail)?, tree)), set, &path)?,
        }
    }
    Ok(())
}

/// The file that a new one replaces.
pub(super) fn existing(directory: &OwnedFd, name: &OsStr) -> rustix::io::Result<Option<File>> {
    // Not blocking, since meanwhile there may be a FIFO.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match openat(directory, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        opened => Ok(Some(opened?.into())),
    }
}

/// The directory and the name of a path below a directory; missing directories are created, links are not followed.
pub(super) fn place(directory: &OwnedFd, path: &str) -> rustix::io::Result<(OwnedFd, OsString)> {
    let mut parent = open_dir(directory, OsStr::new("."))?;
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    for name in above.split('/').filter(|name| !name.is_empty()) {
        match mkdirat(&parent, name, Mode::from_raw_mode(DIRECTORY)) {
            Ok(()) => fsync(&parent)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        parent = open_dir(&parent, OsStr::new(name))?;
    }
    Ok((parent, OsString::from(name)))
}
