//! ControlPlaneConfig: the files that the API server of a control plane node reads.
use super::{KUBERNETES_DIRECTORY, OwnFile, Phase, Role, init, join, no_acts, own_directory};
use crate::{
    Look, Named, PlanError, Planned, Remark, Step,
    control_plane_files::{API_SERVER_MANIFEST, ControlPlaneFiles, control_plane_files},
    look::NEW_DIRECTORY,
};
use documents::{AnyDocument, Decoded};
use host::{Change, DirectoryState, Error, PathState, Progress};

const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

pub(super) const PHASE: Phase = Phase {
    kind: "ControlPlaneConfig",
    summary: "writes the files that the API server reads; InitConfig and kubeadm-config name them",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::ControlPlane(config) = &document.body else { return Ok(Planned::default()) };
    let files = control_plane_files(config);
    match is_control_plane(look)? {
        false => written(files, look),
        true => on_control_plane(files, look),
    }
}

/// Whether the machine is a control plane node. What our own interrupted kubeadm has left is undone or finished later in
/// the same run, with the files as they are then.
fn is_control_plane(look: &Look<'_>) -> Result<bool, PlanError> {
    for act in [init::ACT, join::ACT] {
        if matches!(look.host.progress(act)?, Progress::Started | Progress::Failed) {
            return Ok(false);
        }
    }
    Ok(look.host.exists(API_SERVER_MANIFEST)?)
}

/// The directory and its files, before there is an API server.
fn written(files: ControlPlaneFiles, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    if files.files.is_empty() {
        return Ok(planned);
    }
    own_directory(KUBERNETES_DIRECTORY, NEW_DIRECTORY, look, &mut planned)?;
    planned.names.push(Named::File { path: files.directory.to_owned(), block: None });
    planned.steps.extend(directory(files.directory, look)?);
    for file in files.files {
        let path = format!("{}/{}", files.directory, file.name);
        let contents = file.contents.expose().clone();
        OwnFile { path: &path, contents, mode: FILE, confidential: file.confidential }.plan(look, &mut planned)?;
    }
    Ok(planned)
}

/// What differs on a machine whose API server runs.
fn on_control_plane(files: ControlPlaneFiles, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Planned { steps, names, .. } = written(files, look)?;
    let differs = !steps.is_empty();
    let remarks = differs.then(|| Remark::Incomplete("ControlPlaneConfig".to_owned())).into_iter().collect();
    Ok(Planned { names, remarks, ..Planned::default() })
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
