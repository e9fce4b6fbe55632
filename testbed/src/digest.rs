//! SHA-256 in hexadecimal: names for what the cache keeps, and checksums of files.
use crate::Result;
use crate::error::file;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The digest of some bytes.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    objects::hex::encode(&Sha256::digest(bytes))
}

/// The first eight digits, enough to tell a few versions of one thing apart.
pub(crate) fn short(bytes: impl AsRef<[u8]>) -> String {
    hex(bytes).chars().take(8).collect()
}

/// The digest of a file's content.
pub(crate) fn of_file(path: &Path) -> Result<String> {
    std::fs::read(path).map(hex).map_err(file("read", path))
}
