//! What is at a path, as a short text that ownership records hold and compare.
use crate::block::block_of;
use host::{DirectoryState, FileState, PathState};
use objects::hex;
use sha2::{Digest, Sha256};

/// What is at a path, or a block of it, as records hold it: of a file the digest of its content, and of a whole file and
/// of a directory the mode and owner too.
pub(crate) fn digest(state: &PathState, block: Option<&str>) -> String {
    match (state, block) {
        (PathState::File(file), Some(block)) => match block_of(file.contents.expose(), block) {
            None => ABSENT.to_owned(),
            Some(lines) => hex::encode(&Sha256::digest(lines)),
        },
        (PathState::File(FileState { contents, mode, uid, gid }), None) => {
            format!("{} {mode:04o} {uid}:{gid}", hex::encode(&Sha256::digest(contents.expose())))
        }
        (PathState::Absent, _) => ABSENT.to_owned(),
        (PathState::LargeFile { size }, _) => format!("large:{size}"),
        (PathState::Directory { state: DirectoryState { mode, uid, gid }, .. }, _) => {
            format!("{DIRECTORY} {mode:04o} {uid}:{gid}")
        }
        (PathState::Link { target }, _) => format!("{LINK}{}", hex::encode(&Sha256::digest(target))),
        (PathState::Special, _) => "special".to_owned(),
    }
}

/// What a document wanted at a path, by the digest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A file or a block.
    File,
    /// A directory, whatever its mode.
    Directory,
    /// A link.
    Link,
    /// Nothing.
    Absent,
}

impl Sort {
    pub(crate) fn of(digest: &str) -> Self {
        match digest {
            ABSENT => Self::Absent,
            digest if digest.starts_with(DIRECTORY) => Self::Directory,
            digest if digest.starts_with(LINK) => Self::Link,
            _ => Self::File,
        }
    }
}

const ABSENT: &str = "absent";
const DIRECTORY: &str = "directory";
const LINK: &str = "link:";

/// Whether what is there now was made by a document: its content, whatever the mode, or nothing.
pub(crate) fn is_ours(now: &str, known: &[&String]) -> bool {
    let content = |digest: &str| digest.split(' ').next().map(str::to_owned);
    now == ABSENT || known.iter().any(|known| content(known) == content(now))
}
