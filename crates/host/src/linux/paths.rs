//! Directories, symbolic links and what else is at a path. A link at the end of a path is never followed here.
use super::{
    files::{DIRECTORY, LARGEST, draft_of, read_at, remove_at},
    root::{Missing, Root, Spot, open_dir},
    trusted::Care,
};
use crate::{DirectoryState, Error, PathState, Result};
use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, Dir, FileType, Gid, Mode, Stat, Uid, fchmod, fchown, fstat, fsync, mkdirat, readlinkat, renameat,
        symlinkat, unlinkat,
    },
    io::Errno,
};

/// Mode of a directory until it has its owner: no other user may put names into it before.
pub(super) const NEW_DIRECTORY: u32 = 0o700;

/// What is at a path.
pub(super) fn state_at(root: &Root, path: &str) -> Result<PathState> {
    let Some(spot) = root.walk_unfollowed(path, Missing::Report)? else { return Ok(PathState::Absent) };
    let Some(found) = &spot.found else { return Ok(PathState::Absent) };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if found.st_size as u64 > LARGEST => {
            Ok(PathState::LargeFile { size: found.st_size as u64 })
        }
        FileType::RegularFile => {
            Ok(read_at(root, &spot, path, Care::Reading)?.map_or(PathState::Absent, PathState::File))
        }
        FileType::Directory => directory_at(&spot, path),
        FileType::Symlink => link_at(&spot, path),
        _ => Ok(PathState::Special),
    }
}

/// Creates a directory, or changes the mode and owner of one.
pub(super) fn make_directory(root: &Root, path: &str, wanted: DirectoryState) -> Result<()> {
    let doing = || format!("create the directory {path}");
    let spot = reached(root.walk_unfollowed(path, Missing::Make(DIRECTORY))?, path)?;
    match spot.found.map(sort_of) {
        Some(FileType::Directory) => {}
        Some(_) => return Err(refused(path, "is not a directory")),
        None => match mkdirat(&spot.dir, &spot.name, Mode::from_raw_mode(NEW_DIRECTORY)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(Error::system(doing())(errno)),
        },
    }
    let directory = open_dir(&spot.dir, &spot.name).map_err(Error::system(doing()))?;
    set_rights(&directory, path, wanted)?;
    fsync(&directory).and_then(|()| fsync(&spot.dir)).map_err(Error::system(doing()))
}

/// Creates a link, or replaces one: created beside it, then renamed over it.
pub(super) fn make_link(root: &Root, path: &str, target: &str) -> Result<()> {
    let doing = || format!("create the link {path}");
    let spot = reached(root.walk_unfollowed(path, Missing::Make(DIRECTORY))?, path)?;
    if !matches!(spot.found.map(sort_of), None | Some(FileType::Symlink)) {
        return Err(refused(path, "is not a symbolic link"));
    }
    let beside = draft_of(&spot.name);
    let made = remove_at(&spot.dir, &beside)
        .and_then(|()| symlinkat(target, &spot.dir, &beside))
        .and_then(|()| renameat(&spot.dir, &beside, &spot.dir, &spot.name))
        .and_then(|()| fsync(&spot.dir));
    if made.is_err() {
        // Best effort: the reason of the failure is worth more than that of a failed clean-up.
        let _ = remove_at(&spot.dir, &beside);
    }
    made.map_err(Error::system(doing()))
}

/// Deletes a file, a link or an empty directory.
pub(super) fn remove(root: &Root, path: &str) -> Result<()> {
    let Some(Spot { dir, name, found: Some(found) }) = root.walk_unfollowed(path, Missing::Report)? else {
        return Ok(());
    };
    let flags = match sort_of(found) {
        FileType::Directory => AtFlags::REMOVEDIR,
        _ => AtFlags::empty(),
    };
    match unlinkat(&dir, &name, flags) {
        Ok(()) | Err(Errno::NOENT) => fsync(&dir).map_err(Error::system(format!("delete {path}"))),
        Err(errno) => Err(Error::system(format!("delete {path}"))(errno)),
    }
}

fn sort_of(found: Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

fn directory_at(spot: &Spot, path: &str) -> Result<PathState> {
    let doing = || format!("list {path}");
    let directory = match open_dir(&spot.dir, &spot.name) {
        Err(Errno::NOENT) => return Ok(PathState::Absent),
        opened => opened.map_err(Error::system(doing()))?,
    };
    let found = fstat(&directory).map_err(Error::system(doing()))?;
    let mut entries = 0;
    for entry in Dir::read_from(&directory).map_err(Error::system(doing()))? {
        let name = entry.map_err(Error::system(doing()))?;
        entries += usize::from(![".", ".."].map(str::as_bytes).contains(&name.file_name().to_bytes()));
    }
    let state = DirectoryState { mode: found.st_mode & 0o7777, uid: found.st_uid, gid: found.st_gid };
    Ok(PathState::Directory { state, entries })
}

fn link_at(spot: &Spot, path: &str) -> Result<PathState> {
    match readlinkat(&spot.dir, &spot.name, Vec::new()) {
        Err(Errno::NOENT) => Ok(PathState::Absent),
        target => match target.map_err(Error::system(format!("read the link {path}")))?.into_string() {
            Ok(target) => Ok(PathState::Link { target }),
            Err(_) => Err(refused(path, "is a symbolic link whose target is not UTF-8")),
        },
    }
}

/// The owner first: a change of owner clears the set-group-id bit.
pub(super) fn set_rights(directory: &OwnedFd, path: &str, wanted: DirectoryState) -> Result<()> {
    let DirectoryState { mode, uid, gid } = wanted;
    let found = fstat(directory).map_err(Error::system(format!("open the directory {path}")))?;
    if (found.st_uid, found.st_gid) != (uid, gid) {
        fchown(directory, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
            .map_err(Error::system(format!("change the owner of {path}")))?;
    }
    fchmod(directory, Mode::from_raw_mode(mode)).map_err(Error::system(format!("change the mode of {path}")))
}

fn reached(spot: Option<Spot>, path: &str) -> Result<Spot> {
    spot.ok_or_else(|| refused(path, "its directory was deleted meanwhile"))
}

fn refused(path: &str, why: &str) -> Error {
    Error::Refused { what: path.to_owned(), why: why.to_owned() }
}
