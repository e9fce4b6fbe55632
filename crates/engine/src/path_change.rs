//! Every change of what is at a path, in one form: what was seen there, and what shall be there.
use host::{Change, DirectoryState, FileState, PathState};

/// A change of what is at a path.
pub(crate) struct PathChange<'a> {
    pub(crate) path: &'a str,
    pub(crate) block: Option<&'a str>,
    pub(crate) was: PathState,
    pub(crate) wanted: PathState,
    pub(crate) confidential: bool,
}

impl<'a> PathChange<'a> {
    /// `None` for a change of something else.
    pub(crate) fn of(change: &'a Change) -> Option<Self> {
        let file = |file: Option<&FileState>| file.cloned().map_or(PathState::Absent, PathState::File);
        let directory = |state: Option<&DirectoryState>| {
            state.map_or(PathState::Absent, |state| PathState::Directory { state: *state, entries: 0 })
        };
        let link = |target: Option<&String>| {
            target.map_or(PathState::Absent, |target| PathState::Link { target: target.clone() })
        };
        let whole = |path, was, wanted| Self { path, block: None, was, wanted, confidential: false };
        match change {
            Change::WriteFile { path, block, was, file: wanted, confidential } => Some(Self {
                block: block.as_deref(),
                confidential: *confidential,
                ..whole(path, file(was.as_ref()), file(Some(wanted)))
            }),
            Change::MakeDirectory { path, was, directory: wanted } => {
                Some(whole(path, directory(was.as_ref()), directory(Some(wanted))))
            }
            Change::MakeLink { path, was, target } => Some(whole(path, link(was.as_ref()), link(Some(target)))),
            Change::Remove { path, was } => Some(whole(path, was.clone(), PathState::Absent)),
            _ => None,
        }
    }
}
