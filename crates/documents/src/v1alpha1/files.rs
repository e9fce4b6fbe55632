//! FilesConfig: files with their contents, owner and mode, or a managed block inside a file of somebody else's.
use crate::Secret;

/// A file that shall be on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Absolute, without `.`, `..` or doubled slashes.
    pub path: String,
    /// What it holds, or what its block holds.
    pub contents: Secret<Vec<u8>>,
    /// Permission bits; a new file without them gets 0644.
    pub mode: Option<u32>,
    /// Who owns it; a new file without it belongs to root:root.
    pub owner: Option<Owner>,
    /// The name of the managed block; without it the whole file is ours.
    pub block: Option<String>,
}

/// A file's owner, by name or by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// User.
    pub user: String,
    /// Group.
    pub group: String,
}
