//! Opening a file whose content decides something: a regular file, and one that no other user could have written.
use super::root::{Root, Spot};
use crate::{Error, Result};
use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fstat, openat},
    io::Errno,
    process::{getegid, geteuid},
};
use std::fs::File;

/// What a file is read for, which decides who may have had access to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// It is only looked at.
    Reading,
    /// A machine will be changed by it: root or the caller must own it, and no other user may write it.
    Applying,
    /// It is a secret: the same, and no other user may even read it.
    Private,
}

/// Opens what a walk has found; `None` where there is nothing. `name` is the path as the user knows it.
pub(super) fn open(root: &Root, spot: &Spot, name: &str, care: Care) -> Result<Option<(File, Stat)>> {
    let Some(found) = &spot.found else { return Ok(None) };
    // Before it is opened, since opening a device can have an effect; and again afterwards, since it may have changed.
    check_type(found, name)?;
    let doing = || format!("open {name}");
    // Not blocking, since meanwhile there may be a FIFO.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&spot.dir, &spot.name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.map_err(Error::system(doing()))?,
    };
    let stat = fstat(&file).map_err(Error::system(doing()))?;
    check_type(&stat, name)?;
    check_access(root, &stat, name, care)?;
    Ok(Some((file.into(), stat)))
}

/// Refuses a file or directory that other users could have written, or, of a secret, read.
pub(super) fn check_access(root: &Root, stat: &Stat, name: &str, care: Care) -> Result<()> {
    // Where every user has a group of their own, that is how a user's files look.
    let own_group = !geteuid().is_root() && stat.st_gid == getegid().as_raw();
    let (why, advice) = match care {
        Care::Reading => return Ok(()),
        Care::Applying | Care::Private if !root.trusts(stat.st_uid) => {
            ("is owned by another user, who can change it", format!("check its content, then run: chown root {name}"))
        }
        Care::Applying | Care::Private if stat.st_mode & 0o002 != 0 => {
            ("can be written by everybody", format!("check its content, then run: chmod o-w {name}"))
        }
        Care::Applying | Care::Private if root.others_write(stat) && !own_group => {
            ("can be written by its group", format!("check its content, then run: chmod g-w {name}"))
        }
        Care::Private if stat.st_mode & 0o077 != 0 => (
            "can be read by others than its owner",
            format!("run: chmod 0600 {name}; replace the secret if another user may have read it"),
        ),
        Care::Applying | Care::Private => return Ok(()),
    };
    Err(Error::Untrusted { what: name.to_owned(), why: why.into(), advice })
}

fn check_type(stat: &Stat, name: &str) -> Result<()> {
    let why = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => "is a symbolic link",
        _ => "is not a regular file",
    };
    Err(Error::Refused { what: name.to_owned(), why: why.into() })
}
