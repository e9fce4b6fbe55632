//! A directory and what is below it, without the content of any file.

/// An entry of a directory, or the directory itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Absolute path.
    pub path: String,
    /// What it is.
    pub sort: EntrySort,
    /// Permission bits.
    pub mode: u32,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrySort {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a FIFO or a socket; or anything whose name is not UTF-8.
    Special,
}
