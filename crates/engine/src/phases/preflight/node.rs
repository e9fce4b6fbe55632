//! The node that a machine shall become, and what is known of the machine before the checks look.
use crate::{
    Look, Patience, PlanError, Step, TurnId,
    etcd_data::DATA,
    outcome::chain,
    phases::{init, join, worker::NodeTraces},
};
use cri::RuntimeReport;
use documents::{
    AnyDocument,
    v1alpha1::{self, ImagePull, Members, PreflightCheck},
};
use host::{Change, Enablement, Inspect, Progress, Service, UnitAction};
use kubeadm::KubernetesVersion;
use std::time::Duration;

/// How long kubeadm or the kubelet may take to print its version. At a first boot the disk is cold and everything starts
/// at once: on an emulated processor it took more than 10 seconds.
const VERSION: Duration = Duration::from_secs(60);
/// The API server's port unless a document has another one.
const API_SERVER: u16 = 6443;
/// How long a runtime whose service starts may take to answer.
const STARTING: Duration = Duration::from_secs(30);

/// What a machine becomes, as far as its fitness depends on it.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    Init(&'a v1alpha1::Init),
    Join(&'a v1alpha1::Join),
}

impl<'a> Node<'a> {
    pub(super) const fn of(body: &'a AnyDocument) -> Option<Self> {
        match body {
            AnyDocument::Init(wanted) => Some(Self::Init(wanted)),
            AnyDocument::Join(wanted) => Some(Self::Join(wanted)),
            _ => None,
        }
    }

    /// Whether it gets the static pods of a control plane.
    pub(super) const fn is_control_plane(&self) -> bool {
        match self {
            Self::Init(_) => true,
            Self::Join(wanted) => wanted.control_plane.is_some(),
        }
    }

    /// The port of its API server.
    pub(super) fn api_server_port(&self) -> u16 {
        match self {
            Self::Init(wanted) => wanted.settings.port(),
            Self::Join(wanted) => {
                wanted.control_plane.as_ref().and_then(|wanted| wanted.api_server_port).unwrap_or(API_SERVER)
            }
        }
    }

    /// The directory with patches of its static pods.
    pub(super) fn patches(&self) -> Option<&'a str> {
        match self {
            Self::Init(wanted) => wanted.settings.patches.as_deref(),
            Self::Join(wanted) => wanted.control_plane.as_ref().and_then(|wanted| wanted.patches.as_deref()),
        }
    }

    /// Where its etcd has its data, as far as its own document tells.
    pub(super) fn etcd_data(&self) -> &'a str {
        match self {
            Self::Init(wanted) => wanted.settings.etcd_data(),
            Self::Join(_) => DATA,
        }
    }

    pub(super) fn socket(&self) -> &'a str {
        match self {
            Self::Init(wanted) => &wanted.runtime_socket,
            Self::Join(wanted) => &wanted.runtime_socket,
        }
    }

    pub(super) const fn kubelet(&self) -> &'a Members {
        match self {
            Self::Init(wanted) => &wanted.kubelet,
            Self::Join(wanted) => &wanted.kubelet,
        }
    }

    pub(super) fn tolerated(&self) -> &'a [PreflightCheck] {
        match self {
            Self::Init(wanted) => &wanted.tolerated_checks,
            Self::Join(wanted) => &wanted.tolerated_checks,
        }
    }

    pub(super) const fn image_pull(&self) -> ImagePull {
        match self {
            Self::Init(wanted) => wanted.image_pull,
            Self::Join(wanted) => wanted.image_pull,
        }
    }

    pub(super) fn version(&self) -> Option<&'a str> {
        match self {
            Self::Init(wanted) => Some(&wanted.kubernetes_version),
            Self::Join(wanted) => wanted.kubernetes_version.as_deref(),
        }
    }

    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Self::Init(wanted) => wanted.node_name.as_deref(),
            Self::Join(wanted) => wanted.node_name.as_deref(),
        }
    }
}

/// How far the machine has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Situation {
    /// Nothing was started here.
    New,
    /// kubeadm has run, and it is not known that it came to its end.
    Started,
    /// The machine is a node.
    Finished,
}

impl Situation {
    fn of(node: Node<'_>, look: &Look<'_>) -> Result<Self, PlanError> {
        let NodeTraces { act, are_any, are_all } = match node {
            Node::Init(_) => init::traces(look)?,
            Node::Join(wanted) => join::traces(wanted, look)?,
        };
        Ok(match look.host.progress(act)? {
            _ if are_all => Self::Finished,
            Progress::New if !are_any => Self::New,
            _ => Self::Started,
        })
    }
}

/// A machine that shall become a node.
pub(super) struct Candidate<'a> {
    pub(super) node: Node<'a>,
    pub(super) look: &'a Look<'a>,
    pub(super) situation: Situation,
    pub(super) kubeadm: InstalledVersion,
    pub(super) kubelet: InstalledVersion,
    pub(super) runtime: Runtime,
}

/// The version of a program.
pub(super) enum InstalledVersion {
    /// As it prints it.
    Found(String),
    /// There is no such program.
    Missing,
    /// It cannot be run, or fails.
    Broken(String),
}

impl InstalledVersion {
    /// What the last word of a program's output says.
    fn printed(argv: &[&str], look: &Look<'_>) -> Self {
        match look.host.output(argv, VERSION) {
            Ok(Some(text)) => Self::Found(text.split_whitespace().last().unwrap_or_default().to_owned()),
            Ok(None) => Self::Missing,
            Err(error) => Self::Broken(objects::one_line(&chain(&error))),
        }
    }

    /// The version, if there is one.
    pub(super) fn found(&self) -> Option<&str> {
        match self {
            Self::Found(version) => Some(version),
            Self::Missing | Self::Broken(_) => None,
        }
    }
}

/// What is known of the container runtime.
pub(super) enum Runtime {
    /// It has answered.
    Answered(RuntimeReport),
    /// It has not.
    Silent(cri::Error),
    /// An earlier turn still starts or restarts a service, which may be the runtime.
    KnownAfter(TurnId),
    /// Nobody has to ask it any more.
    NotAsked,
}

impl<'a> Candidate<'a> {
    pub(super) fn seen(node: Node<'a>, look: &'a Look<'a>) -> Result<Self, PlanError> {
        let kubeadm = InstalledVersion::printed(&["kubeadm", "version", "-o", "short"], look);
        let kubelet = InstalledVersion::printed(&["kubelet", "--version"], look);
        let situation = Situation::of(node, look)?;
        let runtime = match situation {
            Situation::Finished => Runtime::NotAsked,
            Situation::New | Situation::Started => Runtime::asked(node.socket(), look),
        };
        Ok(Self { node, look, situation, kubeadm, kubelet, runtime })
    }

    /// The minor version of kubeadm; that of the cluster where there is no kubeadm.
    pub(super) fn kubeadm_minor(&self) -> Option<u32> {
        self.kubeadm.found().or_else(|| self.node.version()).and_then(minor)
    }

    /// The minor version of the kubelet; kubeadm's where there is no kubelet.
    pub(super) fn kubelet_minor(&self) -> Option<u32> {
        self.kubelet.found().and_then(minor).or_else(|| self.kubeadm_minor())
    }

    /// What the runtime has answered.
    pub(super) const fn report(&self) -> Option<&RuntimeReport> {
        match &self.runtime {
            Runtime::Answered(report) => Some(report),
            _ => None,
        }
    }

    /// The turn after which the runtime can be asked.
    pub(super) fn runtime_known_after(&self) -> Option<TurnId> {
        match &self.runtime {
            Runtime::KnownAfter(label) => Some(label.clone()),
            _ => None,
        }
    }
}

impl Runtime {
    /// A runtime that is about to start is waited for; one that does not run is not.
    fn asked(socket: &str, look: &Look<'_>) -> Self {
        let unit = if socket.contains("crio") { "crio.service" } else { "containerd.service" };
        let is_starting = || will_run(unit, look.host).unwrap_or(false);
        let patience = Patience { within: look.patience.min(STARTING), while_true: &is_starting };
        let starts = |step: &Step| {
            let start = |change: &Change| {
                matches!(change, Change::Unit { action: UnitAction::Start, .. } | Change::Restart { .. })
            };
            matches!(step, Step::Ensure(change) if start(change))
        };
        match (look.runtime.ask(socket, &patience), look.waits_for(starts)) {
            (Ok(report), _) => Self::Answered(report),
            (Err(_), Some(label)) => Self::KnownAfter(label),
            (Err(error), None) => Self::Silent(error),
        }
    }
}

/// Whether a unit starts or runs, or will once the machine has booted: its turn may come after ours.
fn will_run(unit: &str, host: &dyn Inspect) -> host::Result<bool> {
    let unit = host.unit(unit)?;
    let has_booted = || Ok::<_, host::Error>(host.unit("multi-user.target")?.activity == Service::Active);
    Ok(match (unit.activity, unit.enablement) {
        (Service::Active, _) => true,
        (Service::Inactive, Enablement::Enabled) => !has_booted()?,
        _ => false,
    })
}

/// The minor version of a text such as `v1.36.4`.
pub(super) fn minor(version: &str) -> Option<u32> {
    version.parse::<KubernetesVersion>().ok().map(KubernetesVersion::effective_minor)
}
