//! One run at a time, and a second one is told who holds the machine.
use super::root::{Missing, Root, Spot};
use crate::{Error, Result, contract};
use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, openat},
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

/// Held for as long as it lives.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

/// Somebody else's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder(pub String);

/// Takes the lock, or tells who has it.
pub(super) fn take(root: &Root, who: &str) -> Result<std::result::Result<Lock, Holder>> {
    let doing = || format!("lock {}", contract::LOCK);
    let Some(mut file) = open(root, Missing::Make(0o755))? else { return Err(vanished()) };
    let deadline = Instant::now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
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

/// Who holds the lock, if anybody; takes nothing.
pub(super) fn holder(root: &Root) -> Result<Option<Holder>> {
    let Some(mut file) = open(root, Missing::Report)? else { return Ok(None) };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(Errno::WOULDBLOCK) => Ok(Some(Holder(read(&mut file)?))),
        Err(errno) => Err(Error::system(format!("look at {}", contract::LOCK))(errno)),
    }
}

fn open(root: &Root, missing: Missing) -> Result<Option<File>> {
    let Some(Spot { dir, name, found }) = root.walk(contract::LOCK, missing)? else { return Ok(None) };
    let create = match missing {
        Missing::Make(_) => OFlags::CREATE,
        Missing::Report if found.is_none() => return Ok(None),
        Missing::Report => OFlags::empty(),
    };
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | create;
    let file = openat(&dir, &name, flags, Mode::from_raw_mode(0o600));
    file.map(|file| Some(file.into())).map_err(Error::system(format!("open {}", contract::LOCK)))
}

fn read(file: &mut File) -> Result<String> {
    let mut who = String::new();
    file.rewind()
        .and_then(|()| file.read_to_string(&mut who))
        .map_err(Error::io(format!("read {}", contract::LOCK)))?;
    Ok(if who.is_empty() { "another run that is just starting".into() } else { who })
}

fn vanished() -> Error {
    Error::Refused { what: contract::LOCK.into(), why: "its directory vanished".into() }
}
