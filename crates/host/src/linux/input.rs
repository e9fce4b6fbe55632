//! Opening what an operator or a boot tool names on the command line: once, and not through a link of another user.
pub use super::trusted::Care;

use super::{
    files,
    root::{Missing, Root},
    state::our_owner,
    trusted,
};
use crate::{Error, FileState, Result};
use rustix::io::Errno;
use secret::Secret;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};
use zeroize::{Zeroize, Zeroizing};

/// What is taken at once for one input.
const LARGEST_ROOM: usize = 2 << 20;

/// Reads at most `limit` bytes and one more, so that the reader sees that there are too many.
pub fn read(name: &str, care: Care, limit: u64) -> Result<Zeroizing<Vec<u8>>> {
    // All at once, since a vector that grows leaves copies behind; the system gives memory only where it is written.
    let room = usize::try_from(limit).unwrap_or(LARGEST_ROOM).min(LARGEST_ROOM) + 64;
    let mut bytes = Room(Vec::with_capacity(room));
    let doing = || format!("read {name}");
    if name == "-" {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes.0).map_err(Error::io(doing()))?;
    } else {
        open(name, care)?.take(limit + 1).read_to_end(&mut bytes.0).map_err(Error::io(doing()))?;
    }
    Ok(Zeroizing::new(bytes.0.as_slice().to_vec()))
}

/// Memory for an input of unknown size. What was read is wiped at its end, and not the room behind it, which
/// `Zeroizing` would wipe as well: to touch a megabyte takes longer than to check a configuration.
struct Room(Vec<u8>);

impl Drop for Room {
    fn drop(&mut self) {
        self.0.as_mut_slice().zeroize();
    }
}

/// Writes a file that only its owner reads, whole or not at all.
pub fn write_private(name: &str, bytes: &[u8]) -> Result<()> {
    let path = absolute(name)?;
    let (uid, gid) = our_owner();
    let file = FileState { contents: Secret::new(bytes.to_vec()), mode: 0o600, uid, gid };
    files::write_unlocked(&Root::open(Path::new("/"))?, &path, &file)
}

fn open(name: &str, care: Care) -> Result<File> {
    if is_descriptor(name) {
        return File::open(name).map_err(Error::io(format!("open {name}")));
    }
    let path = absolute(name)?;
    let root = Root::open(Path::new("/"))?;
    let spot = root.walk(&path, Missing::Report)?;
    let opened = spot.map_or(Ok(None), |spot| trusted::open(&root, &spot, name, care))?;
    opened.map(|(file, _)| file).ok_or_else(|| Error::system(format!("open {name}"))(Errno::NOENT))
}

/// The whole path; one that is not UTF-8, such as below an odd working directory, must not become another one.
fn absolute(name: &str) -> Result<String> {
    if name.is_empty() {
        // Such as a variable that a script has not set.
        return Err(Error::Refused { what: "the name of a file is empty".into(), why: "pass its path".into() });
    }
    let path = std::path::absolute(name).map_err(Error::io(format!("reach {name}")))?;
    let refused =
        |_| Error::Refused { what: name.to_owned(), why: "its whole path is not UTF-8; use another directory".into() };
    path.into_os_string().into_string().map_err(refused)
}

/// What a shell's `<(…)` or a parent process passes is no name that another user could have created.
fn is_descriptor(name: &str) -> bool {
    name == "/dev/stdin" || name.strip_prefix("/dev/fd/").is_some_and(|number| number.parse::<u32>().is_ok())
}
