//! Whether the machine is fit to become a node: every problem at once, before kubeadm is started.
use super::{
    init,
    tolerated_checks::is_tolerated,
    worker::{CA_CERTIFICATE, Worker},
};
use crate::{
    Act, Effect, Facts, Look, PlanError, Planned,
    acts::kubeadm_join,
    turns::{Addition, Place, Subject},
};
use documents::{
    AnyDocument,
    v1alpha1::{self, PreflightCheck},
};
use host::{PathState, Progress};
use std::time::Duration;

/// The ports of a control plane: API server, etcd, kubelet, controller-manager, scheduler.
const CONTROL_PLANE_PORTS: [u16; 6] = [6443, 2379, 2380, 10250, 10257, 10259];
/// The port of a worker: the kubelet.
const WORKER_PORTS: [u16; 1] = [10250];
const MANIFESTS: &str = "/etc/kubernetes/manifests";
const FORWARDING: &str = "net/ipv4/ip_forward";
/// How long kubeadm may take to print its version. At a first boot the disk is cold and everything starts at once: on an
/// emulated processor it took more than 10 seconds.
const VERSION: Duration = Duration::from_secs(60);

pub(crate) const ADDITION: Addition = Addition {
    name: "preflight",
    summary: "checks that the machine is fit to become a node, and lists every problem",
    place: Place::BeforeNode,
    applies: |_| true,
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(node) = subject.node.and_then(|node| Node::of(&node.body)) else { return Ok(Planned::default()) };
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
    let facts = Facts { kubeadm, ..Facts::default() };
    match node.problems(&facts, look)? {
        problems if problems.is_empty() => Ok(Planned { facts, ..Planned::default() }),
        problems => Err(PlanError::Unfit(problems)),
    }
}

/// Files of another cluster, or of an operator, with which kubeadm refuses a worker: it would find that out only after
/// discovery. What a join of ours left is no such file.
fn files_of_others(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<Vec<String>, PlanError> {
    if look.host.progress(kubeadm_join::ID)? != Progress::New || Worker::seen(look)?.has_traces() {
        return Ok(Vec::new());
    }
    if is_tolerated(&wanted.tolerated_checks, PreflightCheck::Files) {
        return Ok(Vec::new());
    }
    let mut problems = Vec::new();
    if look.host.exists(CA_CERTIFICATE)? {
        problems
            .push(format!("{CA_CERTIFICATE} exists: kubeadm refuses to join a machine with files of another cluster"));
    }
    let manifests = look.host.state_at(MANIFESTS)?;
    let has_manifests = matches!(manifests, PathState::Directory { entries: 1.., .. });
    if has_manifests {
        problems.push(format!("{MANIFESTS} is not empty: kubeadm refuses to join a machine with static pods"));
    }
    Ok(problems)
}

/// What a machine becomes, as far as its fitness depends on it.
enum Node<'a> {
    ControlPlane(&'a v1alpha1::Init),
    Worker(&'a v1alpha1::Join),
}

impl<'a> Node<'a> {
    const fn of(body: &'a AnyDocument) -> Option<Self> {
        match body {
            AnyDocument::Init(wanted) => Some(Self::ControlPlane(wanted)),
            AnyDocument::Join(wanted) => Some(Self::Worker(wanted)),
            _ => None,
        }
    }

    fn problems(&self, facts: &Facts, look: &Look<'_>) -> Result<Vec<String>, PlanError> {
        let mut problems = Vec::new();
        problems.extend(self.kubeadm_problem(facts.kubeadm.as_deref()));
        let socket = match self {
            Self::ControlPlane(wanted) => &wanted.runtime_socket,
            Self::Worker(wanted) => &wanted.runtime_socket,
        };
        if !look.host.exists(socket)? {
            problems.push(format!("the container runtime does not run: its socket {socket} does not exist"));
        }
        if look.sysctl(FORWARDING)?.as_deref() != Some("1") {
            problems.push("net.ipv4.ip_forward is not 1: set it with a SysctlConfig before this document".into());
        }
        for port in self.ports(facts, look)? {
            if look.host.listens(*port)? {
                problems.push(format!("port {port} is taken by another program"));
            }
        }
        if let Self::Worker(wanted) = self {
            problems.extend(files_of_others(wanted, look)?);
        }
        Ok(problems)
    }

    /// The ports that must be free. What machineadm started here, finished or not, listens already.
    fn ports(&self, facts: &Facts, look: &Look<'_>) -> Result<&'static [u16], PlanError> {
        Ok(match self {
            Self::ControlPlane(wanted) => {
                let act = init::act(wanted, facts)?;
                let is_new = look.host.progress(&act.id())? == Progress::New && act.effect(look)? == Effect::Absent;
                if is_new { &CONTROL_PLANE_PORTS } else { &[] }
            }
            Self::Worker(_) => {
                let is_new = look.host.progress(kubeadm_join::ID)? == Progress::New;
                if is_new && !Worker::seen(look)?.has_traces() { &WORKER_PORTS } else { &[] }
            }
        })
    }

    fn kubeadm_problem(&self, found: Option<&str>) -> Option<String> {
        let Some(found) = found else { return Some("kubeadm is not installed".into()) };
        let wanted = match self {
            Self::ControlPlane(wanted) => Some(&wanted.kubernetes_version),
            Self::Worker(wanted) => wanted.kubernetes_version.as_ref(),
        }?;
        let minor = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
        (minor(found) != minor(wanted)).then(|| format!("kubeadm is {found}, but the cluster shall be {wanted}"))
    }
}
