//! A set of files below a directory, written all at once: a complete copy of the directory is created beside it, and the
//! kernel exchanges the two.
//!
//! ```text
//!  survey ──▶ problems? refuse ──▶ copy: hard links to what stays, new files ──▶ exchange ──▶ delete the old directory
//!                                    └──────── not supported here ───────┴─────▶ rename the new files one by one
//! ```
//!
//! The copy has the draft's name of the directory, so that what an interrupted run left is deleted by the next. Hard links
//! keep inode, owner, mode and label of what stays.
mod copy;
mod tree;

use super::{
    files::{self, DIRECTORY, draft_of},
    paths::NEW_DIRECTORY,
    root::{Missing, Root, Spot, open_dir},
    state::real_path,
    trusted::{self, Care},
};
use crate::{
    Error, FileState, Result,
    file_set::{FileSet, refuse_all},
};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, FileType, Mode, RenameFlags, Stat, fstat, fsync, mkdirat, renameat, renameat_with, statat},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    path::Path,
};
pub(super) use tree::remove_tree as remove_entry;
use tree::{Tree, remove_tree};

type Outcome = std::result::Result<(), Failure>;

/// Writes a set of files below a directory: after a crash none or all of them are new.
///
/// The directory has another inode afterwards: whoever has it open or mounted elsewhere, such as a container, does not
/// see the new one.
///
/// Some directories cannot be exchanged: mount points, those of an image below an overlay, those on a file system without
/// hard links or without `RENAME_EXCHANGE`, and those that another process changes meanwhile. There the write is atomic
/// per file only: all files are complete before the first one gets its name, but a crash can leave some of them new.
pub(super) fn write(root: &Root, directory: &str, files: &[(String, FileState)]) -> Result<()> {
    let set = FileSet::new(directory, files)?;
    let refuse = |why: &str| Error::Refused { what: directory.to_owned(), why: why.to_owned() };
    let spot = root.walk(directory, Missing::Make(DIRECTORY))?;
    let spot = spot.ok_or_else(|| refuse("its parent directory was deleted meanwhile"))?;
    let target = Target { root, directory, draft: draft_of(&spot.name), spot };
    target.clear(&target.spot.dir)?;
    match target.spot.found.map(|found| FileType::from_raw_mode(found.st_mode)) {
        None => target.create(&set),
        Some(FileType::Directory) => target.replace(&set, files),
        Some(_) => Err(refuse("is not a directory")),
    }
}

/// Deletes what an interrupted [`write`] may have left beside the directory, or in it.
pub(super) fn remove_drafts(root: &Root, directory: &str) -> Result<()> {
    // Where the directory cannot be reached any more, no draft of ours is beside it.
    let Ok(Some(spot)) = root.walk(directory, Missing::Report) else { return Ok(()) };
    let target = Target { root, directory, draft: draft_of(&spot.name), spot };
    let inside = open_dir(&target.spot.dir, &target.spot.name).ok();
    for parent in [Some(&target.spot.dir), inside.as_ref()].into_iter().flatten() {
        if target.leftover(parent)?.is_some() {
            target.clear(parent)?;
        }
    }
    Ok(())
}

/// The directory that a set is written into.
struct Target<'a> {
    root: &'a Root,
    /// Its path, for messages.
    directory: &'a str,
    spot: Spot,
    /// The name of its copy.
    draft: String,
}

/// Why a copy did not take the directory's name.
enum Failure {
    /// The kernel or the file system cannot do that here.
    Unsupported(Error),
    /// Anything else.
    Other(Error),
}

impl Failure {
    fn of(doing: String) -> impl FnOnce(Errno) -> Self {
        move |errno| {
            let error = Error::system(doing)(errno);
            match errno {
                Errno::XDEV | Errno::BUSY | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => Self::Unsupported(error),
                // Of a hard link: a file system without them, a file that may have none or no more.
                Errno::PERM | Errno::MLINK => Self::Unsupported(error),
                _ => Self::Other(error),
            }
        }
    }

    fn error(self) -> Error {
        match self {
            Self::Unsupported(error) | Self::Other(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Target<'_> {
    fn create(&self, set: &FileSet<'_>) -> Result<()> {
        let Spot { dir: parent, name, .. } = &self.spot;
        let created = self.with_draft(parent, |draft| {
            copy::fill(draft, None, set, Path::new(self.directory))?;
            renameat(parent, &self.draft, parent, name).map_err(|errno| self.failed(errno).into())
        });
        created.map_err(Failure::error)
    }

    fn replace(&self, set: &FileSet<'_>, files: &[(String, FileState)]) -> Result<()> {
        let (old, tree) = self.survey(set)?;
        let exchanged = match tree.is_movable() {
            true => self.exchange((&old, &tree), set),
            false => return self.rename_each(&old, files),
        };
        match exchanged {
            Err(Failure::Unsupported(_)) => self.rename_each(&self.survey(set)?.0, files),
            exchanged => exchanged.map_err(Failure::error),
        }
    }

    /// Looks at the directory, and refuses it if the set cannot be written into it.
    fn survey(&self, set: &FileSet<'_>) -> Result<(OwnedFd, Tree)> {
        let doing = || format!("list {}", self.directory);
        let old = open_dir(&self.spot.dir, &self.spot.name).map_err(Error::system(doing()))?;
        if self.leftover(&old)?.is_some() {
            self.clear(&old)?;
        }
        let tree = Tree::survey(&self.spot.dir, &old).map_err(Error::system(doing()))?;
        refuse_all(self.directory, tree.problems(set))?;
        Ok((old, tree))
    }

    /// A directory that another process has changed meanwhile is not exchanged: its changes would be deleted. A change
    /// between the last look and the exchange goes unnoticed.
    fn exchange(&self, old: (&OwnedFd, &Tree), set: &FileSet<'_>) -> Outcome {
        let Spot { dir: parent, name, .. } = &self.spot;
        self.with_draft(parent, |draft| {
            copy::fill(draft, Some(old), set, Path::new(self.directory))?;
            if self.survey(set)?.1 != *old.1 {
                return Err(Failure::Unsupported(self.failed(Errno::BUSY)));
            }
            renameat_with(parent, &self.draft, parent, name, RenameFlags::EXCHANGE)
                .map_err(Failure::of(self.doing()))?;
            fsync(parent).map_err(|errno| self.failed(errno).into())
        })
    }

    /// The files get their names one by one, in the order given, once all of them are complete.
    fn rename_each(&self, directory: &OwnedFd, files: &[(String, FileState)]) -> Result<()> {
        self.clear(directory)?;
        let renamed = self.with_draft(directory, |draft| {
            let mut places = Vec::new();
            for (number, (path, file)) in files.iter().enumerate() {
                let (parent, name) = copy::place(directory, path).map_err(|errno| self.failed(errno))?;
                let new = files::new_draft(draft, number.to_string()).map_err(|errno| self.failed(errno))?;
                let old = copy::existing(&parent, &name).map_err(|errno| self.failed(errno))?;
                files::fill(new, old.as_ref(), file, &format!("{}/{path}", self.directory))?;
                places.push((parent, name));
            }
            let rename = |(number, (parent, name)): (usize, &(OwnedFd, OsString))| {
                renameat(draft, number.to_string(), parent, name).and_then(|()| fsync(parent))
            };
            let renamed = fsync(draft).and_then(|()| places.iter().enumerate().try_for_each(rename));
            renamed.map_err(|errno| self.failed(errno).into())
        });
        renamed.map_err(Failure::error)
    }

    /// Creates the draft in a directory, works on it, and deletes what has its name afterwards.
    fn with_draft(&self, parent: &OwnedFd, work: impl FnOnce(&OwnedFd) -> Outcome) -> Outcome {
        let made = mkdirat(parent, &self.draft, Mode::from_raw_mode(NEW_DIRECTORY));
        let draft = made.and_then(|()| open_dir(parent, &OsString::from(&self.draft)));
        let worked = draft.map_err(|errno| self.failed(errno).into()).and_then(|draft| work(&draft));
        let removed = self.remove_draft(parent);
        // The reason of a failure is worth more than that of a failed clean-up.
        worked.and_then(|()| Ok(removed?))
    }

    fn leftover(&self, parent: &OwnedFd) -> Result<Option<Stat>> {
        match statat(parent, &self.draft, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            found => found.map(Some).map_err(|errno| self.failed(errno)),
        }
    }

    /// Deletes the draft that an interrupted run left in a directory. Where other users can rename entries, nothing is
    /// created or deleted: they could have any directory deleted by giving it the draft's name.
    fn clear(&self, parent: &OwnedFd) -> Result<()> {
        let around = fstat(parent).map_err(|errno| self.failed(errno))?;
        let sticky = around.st_mode & 0o1000 != 0 && self.root.trusts(around.st_uid);
        if !sticky {
            trusted::check_access(self.root, &around, &real_path(parent)?.to_string_lossy(), Care::Applying)?;
        }
        match self.leftover(parent)? {
            None => Ok(()),
            Some(leftover) if sticky && !self.root.trusts(leftover.st_uid) => {
                let what = real_path(parent)?.join(&self.draft).display().to_string();
                Err(Error::Refused { what, why: "has the name of a draft and is owned by another user".into() })
            }
            Some(_) => self.remove_draft(parent),
        }
    }

    fn remove_draft(&self, parent: &OwnedFd) -> Result<()> {
        let removed = remove_tree(parent, OsStr::new(&self.draft)).and_then(|()| fsync(parent));
        removed.map_err(Error::system(format!("clean up beside {}", self.directory)))
    }

    fn failed(&self, errno: Errno) -> Error {
        Error::system(self.doing())(errno)
    }

    fn doing(&self) -> String {
        format!("write files below {}", self.directory)
    }
}
