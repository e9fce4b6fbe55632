//! FilesConfig: files of the user's, whole or in part.
use super::{Phase, Role, file_after, no_acts, write_if_other};
use crate::{Look, Named, PlanError, Planned, block::with_block, ownership::Ownership};
use documents::{AnyDocument, Decoded, Secret, v1alpha1::File};
use host::{Change, FileState};

const NEW_FILE: u32 = 0o644;

pub(super) const PHASE: Phase = Phase {
    kind: "FilesConfig",
    summary: "writes files, and managed blocks into files of others",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Files(files) = &document.body else { return Ok(planned) };
    let records = Ownership::read(look.host)?;
    for wanted in files {
        let was = file_after(&planned, &wanted.path, look)?;
        let file = desired(wanted, was.as_ref(), look)?;
        let came_encrypted = records.values().any(|record| record.is_confidential_in(&wanted.path));
        let confidential = came_encrypted || is_confidential(&wanted.path, look);
        let (path, block) = (wanted.path.clone(), wanted.block.clone());
        planned.names.push(Named::File { path: path.clone(), block: block.clone() });
        planned.steps.extend(write_if_other(Change::WriteFile { path, block, was, file, confidential }));
    }
    Ok(planned)
}

/// Whether any document writes something confidential into this file: around a block of the open kind may stand lines of
/// one that came encrypted.
fn is_confidential(path: &str, look: &Look<'_>) -> bool {
    look.wanted.documents.iter().any(|document| match &document.body {
        AnyDocument::Files(files) => files.iter().any(|file| file.path == path && file.confidential),
        _ => false,
    })
}

/// What is not said stays as it is; a new file gets the usual.
fn desired(wanted: &File, was: Option<&FileState>, look: &Look<'_>) -> Result<FileState, PlanError> {
    let (uid, gid) = match (&wanted.owner, was) {
        (Some(owner), _) => look.host.owner(&owner.user, &owner.group)?,
        (None, Some(was)) => (was.uid, was.gid),
        (None, None) => look.host.default_owner(),
    };
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
