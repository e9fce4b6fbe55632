//! Services that a node needs: the container runtime is enabled and started, the kubelet is enabled, so that the node is
//! back after a reboot.
use crate::{
    Look, PlanError, Planned, Step,
    turns::{Addition, Place, Subject},
};
use documents::AnyDocument;
use host::{Change, Enablement, Service, UnitAction};
use outcome::AddedTurn;

pub(crate) const ADDITION: Addition = Addition {
    turn: AddedTurn::Services,
    summary: "enables and starts the container runtime, and enables the kubelet, so that the node is back after a reboot",
    place: Place::BeforeNode,
    applies: |_| true,
    plan,
};

/// The units of container runtimes by their sockets. Of another socket nobody knows the unit.
const RUNTIMES: [(&str, &str); 4] = [
    ("/run/containerd/containerd.sock", "containerd.service"),
    ("/var/run/containerd/containerd.sock", "containerd.service"),
    ("/run/crio/crio.sock", "crio.service"),
    ("/var/run/crio/crio.sock", "crio.service"),
];
const KUBELET: &str = "kubelet.service";

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let socket = match subject.node.map(|node| &node.body) {
        Some(AnyDocument::Init(wanted)) => &wanted.runtime_socket,
        Some(AnyDocument::Join(wanted)) => &wanted.runtime_socket,
        _ => return Ok(Planned::default()),
    };
    // Below `--root` no machine becomes a node, which preflight reports; and without systemd there are no units.
    if look.service("kubelet")? == Service::Unmanaged {
        return Ok(Planned::default());
    }
    // What is still to run may install them.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    let runtime = RUNTIMES.iter().find(|(known, _)| known == socket).map(|(_, unit)| *unit);
    let mut planned = Planned::default();
    for (unit, is_started) in runtime.map(|unit| (unit, true)).into_iter().chain([(KUBELET, false)]) {
        let was = look.unit(unit)?;
        // One that does not exist, or that an operator has masked, preflight reports.
        if matches!(was.enablement, Enablement::Unknown | Enablement::Masked) {
            continue;
        }
        let action = |action| Step::Ensure(Change::Unit { name: unit.to_owned(), action, was });
        let enable = (was.enablement == Enablement::Disabled).then(|| action(UnitAction::Enable));
        let start = (is_started && was.activity == Service::Inactive).then(|| action(UnitAction::Start));
        planned.steps.extend(enable.into_iter().chain(start));
    }
    Ok(planned)
}
