//! The API server of a control plane node that has just joined: kubeadm renders its manifest from kubeadm-config, which may
//! not have what the ControlPlaneConfig of this machine says.
use super::control_plane::joins_control_plane;
use crate::{
    Look, PlanError, Planned, control_plane_change,
    control_plane_files::control_plane_files,
    turns::{Addition, Place, Subject},
};
use documents::{AnyDocument, Decoded};

pub(crate) const ADDITION: Addition = Addition {
    name: "API server",
    summary: "gives the API server of a control plane node that has joined what the ControlPlaneConfig before it says, where kubeadm-config does not have it",
    place: Place::AfterNode,
    applies: |subject| subject.node.is_some_and(joins_control_plane) && config(subject).is_some(),
    plan,
};

/// The ControlPlaneConfig that stands before the document of the node: one that stands after it has its own turn.
fn config<'a>(subject: &Subject<'a>) -> Option<&'a Decoded> {
    let documents = &subject.wanted.documents;
    let before = documents.iter().take_while(|document| !subject.node.is_some_and(|node| std::ptr::eq(node, *document)));
    before.into_iter().find(|document| matches!(document.body, AnyDocument::ControlPlane(_)))
}

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(Decoded { body: AnyDocument::ControlPlane(config), sealed, .. }) = config(subject) else {
        return Ok(Planned::default());
    };
    let planned = control_plane_change::plan(&control_plane_files(config, *sealed), look)?;
    Ok(planned.unwrap_or_else(|| Planned { known_after: look.waits_for_acts(), ..Planned::default() }))
}
