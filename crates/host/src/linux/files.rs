//! Files: read whole, and written so that a power cut leaves the old or the new, never something between.
use super::{
    attributes,
    root::{Missing, Root, Spot},
    trusted::{self, Care},
};
use crate::{Error, FileState, Result};
use objects::hex;
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat, fsync, linkat, openat, renameat, unlinkat},
    io::Errno,
};
use secret::Secret;
use sha2::{Digest, Sha256};
use std::{
    ffi::OsStr,
    fs::File,
    io::{Read, Write},
    os::unix::ffi::OsStrExt,
};

/// Files larger than this are none that we manage.
pub(super) const LARGEST: u64 = 64 << 20;
/// Mode of a file until its content is complete.
const DRAFT: u32 = 0o600;
/// Mode of directories made on the way.
pub(super) const DIRECTORY: u32 = 0o755;

/// Reads a regular file.
pub(super) fn read(root: &Root, path: &str) -> Result<Option<FileState>> {
    let spot = root.walk(path, Missing::Report)?;
    spot.map_or(Ok(None), |spot| read_at(root, &spot, path, Care::Reading))
}

/// Reads the regular file that a walk has found.
pub(super) fn read_at(root: &Root, spot: &Spot, path: &str, care: Care) -> Result<Option<FileState>> {
    let Some((file, stat)) = trusted::open(root, spot, path, care)? else { return Ok(None) };
    let mut contents = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut contents).map_err(Error::io(format!("read {path}")))?;
    if contents.len() as u64 > LARGEST {
        return Err(Error::Refused { what: path.to_owned(), why: "is larger than 64 MiB".into() });
    }
    Ok(Some(FileState {
        contents: Secret::new(contents),
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
    }))
}

/// Replaces a file, or creates it: written beside it, made durable, then renamed over it. Extended attributes of a file
/// that is replaced stay.
///
/// The name beside it is always the same, so that what an interrupted run left is overwritten by the next.
pub(super) fn write(root: &Root, path: &str, file: &FileState) -> Result<()> {
    let spot = spot_for(root, path)?;
    let beside = draft_of(&spot.name);
    write_through(root, path, file, &Draft { spot: &spot, name: &beside })
}

/// The same where several processes may write at once, since no lock is held: the name beside it is this process's own.
pub(super) fn write_unlocked(root: &Root, path: &str, file: &FileState) -> Result<()> {
    let spot = spot_for(root, path)?;
    let beside = own_draft_of(&spot.name);
    write_through(root, path, file, &Draft { spot: &spot, name: &beside })
}

/// Creates a file, unless there is one: of several processes one wins, and every reader sees all of its content.
pub(super) fn create(root: &Root, path: &str, file: &FileState) -> Result<()> {
    let spot = spot_for(root, path)?;
    let beside = own_draft_of(&spot.name);
    let doing = || format!("create {path}");
    remove_at(&spot.dir, &beside).map_err(Error::system(doing()))?;
    let new = new_draft(&spot.dir, &beside).map_err(Error::system(doing()))?;
    let created = fill(new, None, file, path).and_then(|()| {
        match linkat(&spot.dir, &beside, &spot.dir, &spot.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(Error::system(doing())(errno)),
        }
    });
    let removed = remove_at(&spot.dir, &beside).and_then(|()| fsync(&spot.dir)).map_err(Error::system(doing()));
    created.and(removed)
}

/// Where a file is written before it gets its name.
struct Draft<'a> {
    spot: &'a Spot,
    name: &'a str,
}

fn write_through(root: &Root, path: &str, file: &FileState, draft: &Draft<'_>) -> Result<()> {
    let Draft { spot, name: beside } = *draft;
    let doing = || format!("write {path}");
    remove_at(&spot.dir, beside).map_err(Error::system(doing()))?;
    let new = new_draft(&spot.dir, beside).map_err(Error::system(doing()))?;
    let filled = trusted::open(root, spot, path, Care::Reading).and_then(|old| {
        fill(new, old.as_ref().map(|(old, _)| old), file, path)?;
        renameat(&spot.dir, beside, &spot.dir, &spot.name).map_err(Error::system(doing()))?;
        fsync(&spot.dir).map_err(Error::system(doing()))
    });
    if filled.is_err() {
        // Best effort: the reason of the failure is worth more than that of a failed clean-up.
        let _ = remove_at(&spot.dir, beside);
    }
    filled
}

/// Removes a file if it is there.
pub(super) fn remove(root: &Root, path: &str) -> Result<()> {
    let Some(Spot { dir, name, found: Some(_) }) = root.walk(path, Missing::Report)? else { return Ok(()) };
    remove_at(&dir, &name).and_then(|()| fsync(&dir)).map_err(Error::system(format!("remove {path}")))
}

/// Removes a file and the draft that an interrupted write of it may have left beside it.
pub(super) fn remove_with_draft(root: &Root, path: &str) -> Result<()> {
    let Some(Spot { dir, name, .. }) = root.walk(path, Missing::Report)? else { return Ok(()) };
    let doing = || format!("remove {path}");
    remove_at(&dir, draft_of(&name)).map_err(Error::system(doing()))?;
    remove_at(&dir, &name).and_then(|()| fsync(&dir)).map_err(Error::system(doing()))
}

/// Removes the drafts that interrupted writes may have left beside a file and beside a link to it; both stay.
pub(super) fn remove_draft(root: &Root, path: &str) -> Result<()> {
    for walked in [root.walk(path, Missing::Report), root.walk_unfollowed(path, Missing::Report)] {
        // Where the path cannot be reached any more, no draft of ours is beside it.
        let Ok(Some(Spot { dir, name, .. })) = walked else { continue };
        match unlinkat(&dir, draft_of(&name), AtFlags::empty()) {
            Err(Errno::NOENT) => {}
            removed => {
                removed.and_then(|()| fsync(&dir)).map_err(Error::system(format!("clean up beside {path}")))?;
            }
        }
    }
    Ok(())
}

/// The name under which a file is written before it is renamed into its place.
pub(super) fn draft_of(name: &OsStr) -> String {
    format!(".machineadm-{}", hex::encode(&Sha256::digest(name.as_bytes())[..8]))
}

/// The same for this process alone.
fn own_draft_of(name: &OsStr) -> String {
    let mut own = name.to_owned();
    own.push(format!(" of process {}", std::process::id()));
    draft_of(&own)
}

/// Makes a directory with a mode of its own; one that is there is left as it is.
pub(super) fn make_dir(root: &Root, path: &str, mode: u32) -> Result<()> {
    // A walk to any name makes the directories before it: the parents with the usual mode, then this one.
    root.walk(path, Missing::Make(DIRECTORY))?;
    root.walk(&format!("{path}/name"), Missing::Make(mode)).map(drop)
}

pub(super) fn spot_for(root: &Root, path: &str) -> Result<Spot> {
    let spot = root.walk(path, Missing::Make(DIRECTORY))?;
    let refuse = |why: &str| Error::Refused { what: path.to_owned(), why: why.into() };
    let spot = spot.ok_or_else(|| refuse("its directory was deleted meanwhile"))?;
    match spot.found.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        None | Some(FileType::RegularFile) => Ok(spot),
        Some(FileType::Directory) => Err(refuse("is a directory")),
        Some(_) => Err(refuse("is not a regular file")),
    }
}

/// Creates a file that only its owner can read until it is filled.
pub(super) fn new_draft(dir: &OwnedFd, name: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::from_raw_mode(DRAFT))
}

/// Fills a new file. It gets its content while nobody but its owner can read it, and its mode last: a change of owner
/// clears the set-user-id bits, and the mode decides the mask of the ACL.
pub(super) fn fill(new: OwnedFd, old: Option<&File>, file: &FileState, path: &str) -> Result<()> {
    let doing = || format!("write {path}");
    let mut new = File::from(new);
    let stat = fstat(&new).map_err(Error::system(doing()))?;
    if (stat.st_uid, stat.st_gid) != (file.uid, file.gid) {
        fchown(&new, Some(Uid::from_raw(file.uid)), Some(Gid::from_raw(file.gid)))
            .map_err(Error::system(format!("change the owner of {path}")))?;
    }
    if let Some(old) = old {
        attributes::copy(old, &new, path)?;
        fchmod(&new, Mode::from_raw_mode(DRAFT)).map_err(Error::system(doing()))?;
    }
    new.write_all(file.contents.expose()).map_err(Error::io(doing()))?;
    fchmod(&new, Mode::from_raw_mode(file.mode)).map_err(Error::system(doing()))?;
    fsync(&new).map_err(Error::system(doing()))
}

pub(super) fn remove_at(dir: &OwnedFd, name: impl rustix::path::Arg) -> rustix::io::Result<()> {
    match unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
