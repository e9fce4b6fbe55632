//! Opening what a person or a boot tool names on the command line: once, and not through somebody else's link.
use super::{
    files,
    root::{Missing, Root, Spot},
    state::our_owner,
};
use crate::{Error, FileState, Result};
use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fstat, openat},
    io::Errno,
    process::{getegid, geteuid},
};
use secret::Secret;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};
use zeroize::Zeroizing;

/// Whether others may have had a hand in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// It is only looked at.
    Reading,
    /// A machine will be changed by it: it must be root's, or the caller's, and nobody else may write it.
    Applying,
    /// It is a secret: the same, and nobody else may even read it.
    Private,
}

/// What is taken at once for one input.
const LARGEST_ROOM: usize = 2 << 20;

/// Reads at most `limit` bytes and one more, so that the reader sees that there are too many.
pub fn read(name: &str, care: Care, limit: u64) -> Result<Zeroizing<Vec<u8>>> {
    // All at once, since a vector that grows leaves copies behind; the system gives memory only where it is written.
    let room = usize::try_from(limit).unwrap_or(LARGEST_ROOM).min(LARGEST_ROOM) + 64;
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    let doing = || format!("read {name}");
    if name == "-" {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes).map_err(Error::io(doing()))?;
    } else {
        open(name, care)?.take(limit + 1).read_to_end(&mut bytes).map_err(Error::io(doing()))?;
    }
    Ok(bytes)
}

/// Writes a file that only its owner reads, whole or not at all.
pub fn write_private(name: &str, bytes: &[u8]) -> Result<()> {
    let path = std::path::absolute(name).map_err(Error::io(format!("write {name}")))?;
    let (uid, gid) = our_owner();
    let file = FileState { contents: Secret::new(bytes.to_vec()), mode: 0o600, uid, gid };
    files::write(&Root::open(Path::new("/"))?, &path.to_string_lossy(), &file)
}

fn open(name: &str, care: Care) -> Result<File> {
    if is_descriptor(name) {
        return File::open(name).map_err(Error::io(format!("open {name}")));
    }
    let path = std::path::absolute(name).map_err(Error::io(format!("open {name}")))?;
    let refuse = |why: &str| Error::Refused { what: name.to_owned(), why: why.into() };
    let root = Root::open(Path::new("/"))?;
    let spot = root.walk(&path.to_string_lossy(), Missing::Report)?;
    let Some(Spot { dir, name: last, found: Some(found) }) = spot else {
        return Err(Error::system(format!("open {name}"))(Errno::NOENT));
    };
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(refuse("is not a regular file"));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&dir, &last, flags, Mode::empty()).map_err(Error::system(format!("open {name}")))?;
    let stat = fstat(&file).map_err(Error::system(format!("open {name}")))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(refuse("is not a regular file"));
    }
    match distrust(care, &stat, &root) {
        Some(why) => Err(refuse(why)),
        None => Ok(file.into()),
    }
}

/// Why a file is not fit for what it is read for.
fn distrust(care: Care, stat: &Stat, root: &Root) -> Option<&'static str> {
    // Where everybody has a group of their own, that is how a user's files look.
    let own_group = !geteuid().is_root() && stat.st_gid == getegid().as_raw();
    match care {
        Care::Reading => None,
        Care::Applying | Care::Private if !root.trusts(stat.st_uid) => Some(
            "belongs to somebody else, who could have written anything into it; make it root's, or look at it and hand it over as `-f -`",
        ),
        Care::Applying | Care::Private if stat.st_mode & 0o002 != 0 => {
            Some("can be written by everybody; chmod o-w it, after a look at what it says")
        }
        Care::Applying | Care::Private if root.others_write(stat) && !own_group => {
            Some("can be written by its group; chmod g-w it, after a look at what it says")
        }
        Care::Private if stat.st_mode & 0o077 != 0 => {
            Some("can be read by others than its owner; chmod 0600 it, and make a new secret if others have seen it")
        }
        Care::Applying | Care::Private => None,
    }
}

/// What a shell's `<(…)` or a parent hands over is no name that somebody else could have put there.
fn is_descriptor(name: &str) -> bool {
    name == "/dev/stdin" || name.strip_prefix("/dev/fd/").is_some_and(|number| number.parse::<u32>().is_ok())
}
