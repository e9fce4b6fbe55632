//! FilesConfig: files of the user's, whole or in part, directories, links and deleted paths.
use super::{Phase, Role, file_after, no_acts, write_if_other};
use crate::{Look, Named, PlanError, Planned, Step, block::with_block, look::NEW_DIRECTORY, ownership::Ownership};
use documents::{
    AnyDocument, Decoded, Secret,
    v1alpha1::{Directory, File, Link, Owner, PathEntry},
};
use host::{Change, DirectoryState, Error, FileState, PathState};

const NEW_FILE: u32 = 0o644;

pub(super) const PHASE: Phase = Phase {
    kind: "FilesConfig",
    summary: "writes files, managed blocks, directories and links, and deletes paths",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Files(entries) = &document.body else { return Ok(planned) };
    for entry in entries {
        let block = entry.file().and_then(|file| file.block.clone());
        planned.names.push(Named::File { path: entry.path().to_owned(), block });
        let step = match entry {
            PathEntry::File(wanted) => file(wanted, look, &planned)?,
            PathEntry::Directory(wanted) => directory(wanted, look, &planned)?,
            PathEntry::Link(wanted) => link(wanted, look, &planned)?,
            PathEntry::Absent { path } => absent(path, look, &planned)?,
        };
        planned.steps.extend(step);
    }
    Ok(planned)
}

fn file(wanted: &File, look: &Look<'_>, planned: &Planned) -> Result<Option<Step>, PlanError> {
    let records = Ownership::read(look.host)?;
    let was = file_after(planned, &wanted.path, look)?;
    let file = desired(wanted, was.as_ref(), look)?;
    let came_encrypted = records.values().any(|record| record.is_confidential_in(&wanted.path));
    let confidential = came_encrypted || is_confidential(&wanted.path, look);
    let (path, block) = (wanted.path.clone(), wanted.block.clone());
    Ok(write_if_other(Change::WriteFile { path, block, was, file, confidential }))
}

fn directory(wanted: &Directory, look: &Look<'_>, planned: &Planned) -> Result<Option<Step>, PlanError> {
    let was = match look.state_after(planned, &wanted.path)? {
        PathState::Absent => None,
        PathState::Directory { state, .. } => Some(state),
        other => return Err(in_the_way(&wanted.path, &other, "a directory")),
    };
    let (uid, gid) = owner(wanted.owner.as_ref(), was.map(|was| (was.uid, was.gid)), look)?;
    let mode = wanted.mode.or(was.map(|was| was.mode)).unwrap_or(NEW_DIRECTORY);
    let directory = DirectoryState { mode, uid, gid };
    let change = Change::MakeDirectory { path: wanted.path.clone(), was, directory };
    Ok((was != Some(directory)).then_some(Step::Ensure(change)))
}

fn link(wanted: &Link, look: &Look<'_>, planned: &Planned) -> Result<Option<Step>, PlanError> {
    let Link { path, target } = wanted;
    let was = match look.state_after(planned, path)? {
        PathState::Absent => None,
        PathState::Link { target } => Some(target),
        other => return Err(in_the_way(path, &other, "a symbolic link")),
    };
    let is_so = was.as_ref() == Some(target);
    let change = Change::MakeLink { path: path.clone(), was, target: target.clone() };
    Ok((!is_so).then_some(Step::Ensure(change)))
}

fn absent(path: &str, look: &Look<'_>, planned: &Planned) -> Result<Option<Step>, PlanError> {
    let unfit = |why: String, advice: &str| {
        PlanError::Look(Error::Unfit { what: path.to_owned(), why, advice: advice.to_owned() })
    };
    match look.state_after(planned, path)? {
        PathState::Absent => Ok(None),
        PathState::Directory { entries: 1, .. } => {
            Err(unfit("is a directory that is not empty: it has 1 entry".into(), EMPTY_FIRST))
        }
        PathState::Directory { entries: entries @ 2.., .. } => {
            Err(unfit(format!("is a directory that is not empty: it has {entries} entries"), EMPTY_FIRST))
        }
        other @ PathState::Special => {
            Err(unfit(format!("is {}, which machineadm does not delete", other.noun()), "delete it, then run again"))
        }
        was => Ok(Some(Step::Ensure(Change::Remove { path: path.to_owned(), was }))),
    }
}

const EMPTY_FIRST: &str =
    "delete its content with an entry of type `absent` for each file in an earlier run, or by hand";

/// What is of another type is not replaced: it may hold what cannot be restored.
fn in_the_way(path: &str, found: &PathState, wanted: &str) -> PlanError {
    PlanError::Look(Error::Unfit {
        what: path.to_owned(),
        why: format!("is {}, but the configuration has {wanted} there", found.noun()),
        advice: "move it to another path, or correct the configuration, then run again".to_owned(),
    })
}

/// Whether any document writes something confidential into this file: around a block of the open kind may stand lines of
/// one that came encrypted.
fn is_confidential(path: &str, look: &Look<'_>) -> bool {
    look.wanted.documents.iter().any(|document| match &document.body {
        AnyDocument::Files(entries) => {
            entries.iter().filter_map(PathEntry::file).any(|file| file.path == path && file.confidential)
        }
        _ => false,
    })
}

/// What is not said stays as it is; a new file gets the usual.
fn desired(wanted: &File, was: Option<&FileState>, look: &Look<'_>) -> Result<FileState, PlanError> {
    let (uid, gid) = owner(wanted.owner.as_ref(), was.map(|was| (was.uid, was.gid)), look)?;
    let contents = match &wanted.block {
        None => wanted.contents.clone(),
        Some(name) => {
            let around = was.map_or(&[][..], |was| was.contents.expose());
            Secret::new(with_block(around, name, wanted.contents.expose()))
        }
    };
    let mode = wanted.mode.or(was.map(|was| was.mode)).unwrap_or(NEW_FILE);
    Ok(FileState { contents, mode, uid, gid })
}

/// The user and group that the document names, or those that are there, or the default.
fn owner(wanted: Option<&Owner>, was: Option<(u32, u32)>, look: &Look<'_>) -> Result<(u32, u32), PlanError> {
    match (wanted, was) {
        (Some(Owner { user, group }), _) => Ok(look.host.owner(user, group)?),
        (None, Some(was)) => Ok(was),
        (None, None) => Ok(look.host.default_owner()),
    }
}
