//! Whether the machine is fit to become a node: every problem at once, before kubeadm is started.
use super::init;
use crate::{
    Act, Effect, Facts, Look, PlanError, Planned,
    turns::{Addition, Place, Subject},
};
use documents::{AnyDocument, v1alpha1};
use host::Progress;
use std::time::Duration;

/// The ports of a control plane: API server, etcd, kubelet, controller-manager, scheduler.
const PORTS: [u16; 6] = [6443, 2379, 2380, 10250, 10257, 10259];
const FORWARDING: &str = "net/ipv4/ip_forward";
/// How long kubeadm may take to print its version. At a first boot the disk is cold and everything starts at once: on an
/// emulated processor it took more than 10 seconds.
const VERSION: Duration = Duration::from_secs(60);

pub(crate) const ADDITION: Addition = Addition {
    name: "preflight",
    summary: "checks that the machine is fit to become a node, and lists every problem",
    place: Place::BeforeNode,
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(AnyDocument::Init(wanted)) = subject.node.map(|node| &node.body) else { return Ok(Planned::default()) };
    // Commands that are still to run may install or start what would be found missing now.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    if !look.host.live() {
        let only_live = "a cluster can't be created below --root: only the running system becomes a node";
        return Err(PlanError::Unfit(vec![only_live.into()]));
    }
    let kubeadm = look.host.output(&["kubeadm", "version", "-o", "short"], VERSION)?;
    let kubeadm = kubeadm.map(|version| version.trim().to_owned());
    let facts = Facts { kubeadm };
    match problems(wanted, &facts, look)? {
        problems if problems.is_empty() => Ok(Planned { facts, ..Planned::default() }),
        problems => Err(PlanError::Unfit(problems)),
    }
}

fn problems(wanted: &v1alpha1::Init, facts: &Facts, look: &Look<'_>) -> Result<Vec<String>, PlanError> {
    let mut problems = Vec::new();
    problems.extend(kubeadm_problem(wanted, facts.kubeadm.as_deref()));
    if !look.host.exists(&wanted.runtime_socket)? {
        problems
            .push(format!("the container runtime does not run: its socket {} does not exist", wanted.runtime_socket));
    }
    if look.sysctl(FORWARDING)?.as_deref() != Some("1") {
        problems.push("net.ipv4.ip_forward is not 1: set it with a SysctlConfig before this document".into());
    }
    // What machineadm started here, finished or not, listens already.
    let act = init::act(wanted, facts)?;
    if look.host.progress(&act.id())? == Progress::New && act.effect(look)? == Effect::Absent {
        for port in PORTS {
            if look.host.listens(port)? {
                problems.push(format!("port {port} is taken by another program"));
            }
        }
    }
    Ok(problems)
}

fn kubeadm_problem(wanted: &v1alpha1::Init, found: Option<&str>) -> Option<String> {
    let Some(found) = found else { return Some("kubeadm is not installed".into()) };
    let minor = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let other = minor(found) != minor(&wanted.kubernetes_version);
    other.then(|| format!("kubeadm is {found}, but the cluster shall be {}", wanted.kubernetes_version))
}
