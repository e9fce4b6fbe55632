//! A directory that no path leaves: `/` on the live system, `DIR` under `--root`.
//!
//! Paths are walked component by component on open directories, so that a racing rename or link can't lead outside.
//! Links are followed by us, absolute ones from this root; a link that somebody else could have put there is refused.
use crate::{Error, Result};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{FileType, Mode, OFlags, Stat, fstat, fsync, mkdirat, openat, readlinkat},
    io::Errno,
};
use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::Path,
};

const MOST_LINKS: usize = 40;

/// A root directory.
#[derive(Debug)]
pub(crate) struct Root {
    dir: OwnedFd,
    euid: u32,
}

/// A place in a root: an open directory and a name in it.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The directory.
    pub(crate) dir: OwnedFd,
    /// The name in it.
    pub(crate) name: OsString,
    /// What is there now.
    pub(crate) found: Option<Stat>,
}

/// What to do about missing directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Say that there is nothing.
    Report,
    /// Make them, with this mode.
    Make(u32),
}

/// What to do about a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLink {
    /// Go where it points.
    Followed,
    /// Report the link.
    Found,
}

impl Root {
    /// Opens a root.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let dir = rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(Error::system(format!("open the directory {}", path.display())))?;
        Ok(Self { dir, euid: rustix::process::geteuid().as_raw() })
    }

    /// Whether a user can be trusted with the names in a directory.
    pub(crate) const fn trusts(&self, uid: u32) -> bool {
        uid == 0 || uid == self.euid
    }

    /// Whether others could have written this file, or put or exchanged a name in this directory.
    pub(crate) const fn others_write(&self, found: &Stat) -> bool {
        !self.trusts(found.st_uid) || found.st_mode & 0o002 != 0 || (found.st_mode & 0o020 != 0 && found.st_gid != 0)
    }

    /// Its own path, as the kernel knows it.
    pub(crate) fn real_path(&self) -> Result<std::path::PathBuf> {
        super::state::real_path(&self.dir)
    }

    /// Makes everything on the root's file system durable.
    pub(crate) fn sync(&self) -> Result<()> {
        rustix::fs::syncfs(&self.dir).map_err(Error::system("write everything to disk"))
    }

    /// Walks to a path's last component, following links; `None` when a directory on the way is missing.
    pub(crate) fn walk(&self, path: &str, missing: Missing) -> Result<Option<Spot>> {
        self.walk_to(path, missing, LastLink::Followed)
    }

    /// The same, but a link that is the last component itself is what is found.
    pub(crate) fn walk_unfollowed(&self, path: &str, missing: Missing) -> Result<Option<Spot>> {
        self.walk_to(path, missing, LastLink::Found)
    }

    fn walk_to(&self, path: &str, missing: Missing, last: LastLink) -> Result<Option<Spot>> {
        let refuse = |why: &str| Error::Refused { what: path.to_owned(), why: why.to_owned() };
        let fail = |errno| Error::system(format!("reach {path}"))(errno);
        let mut ahead: VecDeque<OsString> = components(Path::new(path));
        let mut behind: Vec<OwnedFd> = vec![reopen(&self.dir).map_err(fail)?];
        let mut links = 0;
        while let Some(name) = ahead.pop_front() {
            if name == ".." {
                if behind.len() > 1 {
                    behind.pop();
                }
                continue;
            }
            let Some(dir) = behind.last() else { break };
            let look = openat(dir, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
            let found = match look {
                Ok(found) => found,
                Err(Errno::NOENT) if ahead.is_empty() => {
                    return Ok(Some(Spot { dir: reopen(dir).map_err(fail)?, name, found: None }));
                }
                Err(Errno::NOENT) => match missing {
                    Missing::Report => return Ok(None),
                    Missing::Make(mode) => {
                        make_dir(dir, &name, mode).map_err(fail)?;
                        ahead.push_front(name);
                        continue;
                    }
                },
                Err(errno) => return Err(fail(errno)),
            };
            let stat = fstat(&found).map_err(fail)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink if !(ahead.is_empty() && last == LastLink::Found) => {
                    let around = fstat(dir).map_err(fail)?;
                    let sticky = around.st_mode & 0o1000 != 0 && self.trusts(around.st_uid);
                    if self.others_write(&around) && !(sticky && self.trusts(stat.st_uid)) {
                        return Err(refuse("contains a symbolic link in a directory that other users can write"));
                    }
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(refuse("contains too many symbolic links"));
                    }
                    let target = readlinkat(&found, "", Vec::new()).map_err(fail)?;
                    let target = Path::new(std::ffi::OsStr::from_bytes(target.as_bytes()));
                    if target.is_absolute() {
                        behind.truncate(1);
                    }
                    for component in components(target).into_iter().rev() {
                        ahead.push_front(component);
                    }
                }
                _ if ahead.is_empty() => {
                    return Ok(Some(Spot { dir: reopen(dir).map_err(fail)?, name, found: Some(stat) }));
                }
                FileType::Directory => behind.push(open_dir(dir, &name).map_err(fail)?),
                _ => return Err(refuse("one of its directories is not a directory")),
            }
        }
        Err(refuse("is a directory"))
    }
}

/// Makes a directory, durably; one that has appeared meanwhile is as good.
fn make_dir(parent: &OwnedFd, name: &OsString, mode: u32) -> rustix::io::Result<()> {
    match mkdirat(parent, name, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => fsync(parent),
        Err(errno) => Err(errno),
    }
}

/// Opens a directory; a link is none.
pub(super) fn open_dir(parent: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    openat(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn reopen(dir: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(dir, 0)
}

/// A path's own components; `.` and the leading slash say nothing.
fn components(path: &Path) -> VecDeque<OsString> {
    use std::path::Component;
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}
