//! Files of the user's, whole or in part.
use crate::{Known, Phase, PlanError, Planned, Step, Wanted, block::with_block};
use documents::{Secret, v1alpha1::File};
use host::{Change, FileState, Inspect};

const NEW_FILE: u32 = 0o644;

pub(crate) struct Files;

impl Phase for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn summary(&self) -> &'static str {
        "writes the files of every FilesConfig, and managed blocks into files of others"
    }

    fn plan(&self, machine: &Wanted, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        for wanted in &machine.files {
            // Blocks of one file build on each other, so each is proposed on top of those before it.
            let is_same =
                |step: &&Step| matches!(step, Step::Ensure(Change::WriteFile { path, .. }) if *path == wanted.path);
            let earlier = planned.steps.iter().rev().find(is_same);
            let was = match earlier {
                Some(Step::Ensure(Change::WriteFile { file, .. })) => Some(file.clone()),
                _ => seen.file(&wanted.path)?,
            };
            let file = desired(wanted, was.as_ref(), seen)?;
            // Around a block of the open kind may stand lines of one that came sealed.
            let confidential = machine.files.iter().any(|other| other.path == wanted.path && other.confidential);
            let path = wanted.path.clone();
            planned.steps.extend(write_if_other(Change::WriteFile { path, was, file, confidential }));
        }
        Ok(planned)
    }
}

/// What is not said stays as it is; a new file gets the usual.
fn desired(wanted: &File, was: Option<&FileState>, seen: &dyn Inspect) -> Result<FileState, PlanError> {
    let (uid, gid) = match (&wanted.owner, was) {
        (Some(owner), _) => seen.owner(owner)?,
        (None, Some(was)) => (was.uid, was.gid),
        (None, None) => seen.default_owner(),
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

/// The step that writes a file, unless it is so already.
fn write_if_other(change: Change) -> Option<Step> {
    let is_so = matches!(&change, Change::WriteFile { was: Some(was), file, .. } if was == file);
    (!is_so).then_some(Step::Ensure(change))
}

/// A file that is machineadm's own, with the owner that new files get.
pub(super) fn own_file(
    seen: &dyn Inspect,
    path: &str,
    contents: Vec<u8>,
    mode: u32,
) -> Result<Option<Step>, PlanError> {
    let (uid, gid) = seen.default_owner();
    let file = FileState { contents: Secret::new(contents), mode, uid, gid };
    let (path, was) = (path.to_owned(), seen.file(path)?);
    Ok(write_if_other(Change::WriteFile { path, was, file, confidential: false }))
}
