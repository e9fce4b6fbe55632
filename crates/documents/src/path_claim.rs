//! What documents claim of a path: which claims go together, and what may have other paths below it.
use crate::EntrySort;

/// What a document claims of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    /// A file, or one block of it.
    File(Option<&'a str>),
    /// What is not a file.
    Other(EntrySort),
}

/// The same, and which document it is.
#[derive(Clone, Copy)]
pub(crate) struct PathClaim<'a> {
    pub(crate) entry: Entry<'a>,
    pub(crate) document: usize,
}

impl Entry<'_> {
    /// Whether both may hold of one path: only different blocks of a file may.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        matches!((self, other), (Self::File(Some(one)), Self::File(Some(other))) if one != other)
    }

    /// Why other paths cannot be below it; `None` for a directory.
    pub(crate) const fn no_directory(self) -> Option<&'static str> {
        match self {
            Self::File(_) => Some("is below a file that is set by"),
            Self::Other(EntrySort::Link) => Some("is below a link that is set by"),
            Self::Other(EntrySort::Absent) => Some("is below a path that is deleted by"),
            Self::Other(EntrySort::Directory) => None,
        }
    }
}
