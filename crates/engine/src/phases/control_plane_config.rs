//! ControlPlaneConfig: the files that the API server of a control plane node reads.
use super::{KUBERNETES_DIRECTORY, OwnFile, Phase, Role, own_directory};
use crate::{
    Look, Named, PlanError, Planned, Step, acts::CONTROL_PLANE_CHANGE_ID, control_plane_change,
    control_plane_files::ControlPlaneFiles, look::NEW_DIRECTORY,
};
use documents::{AnyDocument, Decoded};
use host::{Change, DirectoryState, Error, PathState};

const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

pub(super) const PHASE: Phase = Phase {
    kind: "ControlPlaneConfig",
    summary: "writes the files that the API server reads; on a control plane node that runs, changes kubeadm-config, files and manifest together, and rolls them back when the API server does not become ready",
    role: Role::Keeps,
    plan,
    acts: |_| vec![CONTROL_PLANE_CHANGE_ID.to_owned()],
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::ControlPlane(_) = &document.body else { return Ok(Planned::default()) };
    let Some(files) = ControlPlaneFiles::of(look.wanted) else { return Ok(Planned::default()) };
    let planned = written(&files, look)?;
    let writes =
        planned.steps.iter().filter_map(|step| if let Step::Ensure(change) = step { Some(change) } else { None });
    match control_plane_change::plan(&files, writes.cloned().collect(), look)? {
        None => Ok(planned),
        // The files are the act's to write, and this document's all the same.
        Some(change) => Ok(Planned { names: planned.names, ..change }),
    }
}

/// The directory and its files, before there is an API server.
fn written(files: &ControlPlaneFiles, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    if files.files.is_empty() {
        return Ok(planned);
    }
    own_directory(KUBERNETES_DIRECTORY, NEW_DIRECTORY, look, &mut planned)?;
    planned.names.push(Named::File { path: files.directory.to_owned(), block: None });
    planned.steps.extend(directory(files.directory, look)?);
    for file in &files.files {
        let path = format!("{}/{}", files.directory, file.name);
        let contents = file.contents.expose().clone();
        OwnFile { path: &path, contents, mode: FILE, confidential: file.confidential }.plan(look, &mut planned)?;
    }
    Ok(planned)
}

fn directory(path: &str, look: &Look<'_>) -> Result<Option<Step>, PlanError> {
    let was = match look.state_after(&Planned::default(), path)? {
        PathState::Absent => None,
        PathState::Directory { state, .. } => Some(state),
        other => {
            return Err(PlanError::Look(Error::Unfit {
                what: path.to_owned(),
                why: format!("is {}, and machineadm needs a directory there", other.noun()),
                advice: "move it to another path, then run again".to_owned(),
            }));
        }
    };
    let (uid, gid) = look.host.default_owner();
    let directory = DirectoryState { mode: DIRECTORY, uid, gid };
    let change = Change::MakeDirectory { path: path.to_owned(), was, directory };
    Ok((was != Some(directory)).then_some(Step::Ensure(change)))
}
