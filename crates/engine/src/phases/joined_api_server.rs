//! The API server of a control plane node that has just joined: kubeadm renders its manifest from kubeadm-config, which may
//! not have what the ControlPlaneConfig of this machine says.
use super::control_plane::joins_control_plane;
use crate::{
    Look, PlanError, Planned, control_plane_change,
    control_plane_files::ControlPlaneFiles,
    turns::{Addition, Place, Subject},
};
use documents::AnyDocument;

pub(crate) const ADDITION: Addition = Addition {
    name: "API server",
    summary: "gives the API server of a control plane node that has joined what the ControlPlaneConfig before it says, where kubeadm-config does not have it",
    place: Place::AfterNode,
    applies: |subject| subject.node.is_some_and(joins_control_plane) && has_config(subject),
    plan,
};

/// Whether a ControlPlaneConfig stands before the document of the node: one that stands after it has its own turn.
fn has_config(subject: &Subject<'_>) -> bool {
    let documents = &subject.wanted.documents;
    let mut before =
        documents.iter().take_while(|document| !subject.node.is_some_and(|node| std::ptr::eq(node, *document)));
    before.any(|document| matches!(document.body, AnyDocument::ControlPlane(_)))
}

fn plan(_: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(files) = ControlPlaneFiles::of(look.wanted) else { return Ok(Planned::default()) };
    let planned = control_plane_change::plan(&files, look)?;
    Ok(planned.unwrap_or_else(|| Planned { known_after: look.waits_for_acts(), ..Planned::default() }))
}
