//! One run at a time: the lock file, which names the process that holds it.
use super::root::{Missing, Root, Spot};
use crate::{Error, Result, contract};
use rustix::{
    fs::{FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, openat},
    io::Errno,
};
use std::{
    fs::File,
    io::{Read, Seek, Write},
    thread,
    time::{Duration, Instant},
};

/// Whoever asks who holds the lock has it for a moment; a run holds it for longer than this.
const PATIENCE: Duration = Duration::from_millis(500);
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// How much of a holder's text is read, in bytes.
const LONGEST_HOLDER: u64 = 512;

/// Held for as long as it lives.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

/// The run of another process, as its lock file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder(pub String);

/// Takes the lock, or tells who has it.
pub(super) fn take(root: &Root, who: &str) -> Result<std::result::Result<Lock, Holder>> {
    let doing = || format!("lock {}", contract::LOCK);
    let Some(mut file) = open(root, Missing::Make(0o755))? else { return Err(vanished()) };
    let deadline = Instant::now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Somebody may have put another file under its name meanwhile: then nobody else meets this lock.
            Ok(()) if !is_named(root, &file)? => match open(root, Missing::Make(0o755))? {
                Some(other) => file = other,
                None => return Err(vanished()),
            },
            Ok(()) => {
                file.set_len(0).and_then(|()| file.write_all(who.as_bytes())).map_err(Error::io(doing()))?;
                return Ok(Ok(Lock(file)));
            }
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => thread::sleep(BETWEEN_TRIES),
            Err(Errno::WOULDBLOCK) => return Ok(Err(Holder(read(&mut file)?))),
            Err(errno) => return Err(Error::system(doing())(errno)),
        }
    }
}

/// Whether this is the file that has the lock's name.
fn is_named(root: &Root, file: &File) -> Result<bool> {
    let ours = fstat(file).map_err(Error::system(format!("lock {}", contract::LOCK)))?;
    let found = root.walk_unfollowed(contract::LOCK, Missing::Report)?.and_then(|spot| spot.found);
    Ok(found.is_some_and(|found| (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)))
}

/// Who holds the lock, if anybody; takes nothing.
pub(super) fn holder(root: &Root) -> Result<Option<Holder>> {
    let Some(mut file) = open(root, Missing::Report)? else { return Ok(None) };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(Errno::WOULDBLOCK) => Ok(Some(Holder(read(&mut file)?))),
        Err(errno) => Err(Error::system(format!("check {}", contract::LOCK))(errno)),
    }
}

/// Opens the lock file itself, never what a link points to: its text is replaced by whoever takes the lock.
fn open(root: &Root, missing: Missing) -> Result<Option<File>> {
    let Some(Spot { dir, name, found }) = root.walk_unfollowed(contract::LOCK, missing)? else { return Ok(None) };
    let create = match (missing, &found) {
        (Missing::Make(_), _) => OFlags::CREATE,
        (Missing::Report, None) => return Ok(None),
        (Missing::Report, Some(_)) => OFlags::empty(),
    };
    // Before it is opened, since opening a device can have an effect; and again afterwards, since it may have changed.
    found.as_ref().map_or(Ok(()), |stat| check(root, stat))?;
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | create;
    let file = openat(&dir, &name, flags, Mode::from_raw_mode(0o600));
    let file = file.map_err(Error::system(format!("open {}", contract::LOCK)))?;
    check(root, &fstat(&file).map_err(Error::system(format!("open {}", contract::LOCK)))?)?;
    Ok(Some(file.into()))
}

/// A lock file that machineadm created: regular, under one name, owned by root or by the user who runs machineadm.
fn check(root: &Root, stat: &Stat) -> Result<()> {
    let why = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => "is a symbolic link",
        FileType::RegularFile if stat.st_nlink > 1 => "has a second name (hard link)",
        FileType::RegularFile if !root.trusts(stat.st_uid) => "is owned by another user",
        FileType::RegularFile => return Ok(()),
        _ => "is not a regular file",
    };
    let advice = format!("find out who created {0}, then delete it: rm {0}", contract::LOCK);
    Err(Error::Unfit { what: contract::LOCK.into(), why: why.into(), advice })
}

/// Who holds it, in one line: another process has written the text, so that its length and characters are limited.
fn read(file: &mut File) -> Result<String> {
    let mut who = Vec::new();
    file.rewind()
        .and_then(|()| file.take(LONGEST_HOLDER).read_to_end(&mut who))
        .map_err(Error::io(format!("read {}", contract::LOCK)))?;
    let who: String = String::from_utf8_lossy(&who).chars().filter(|character| !character.is_control()).collect();
    Ok(if who.is_empty() { "another run that is just starting".into() } else { who })
}

fn vanished() -> Error {
    Error::Refused { what: contract::LOCK.into(), why: "its directory was deleted meanwhile".into() }
}
