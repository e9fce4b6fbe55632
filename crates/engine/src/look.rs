//! Ports as values: what planning may look at, and what applying may act on.
use crate::{
    ApiServerPod, ApiServerWait, ControlPlaneFacts, Downloads, EtcdAccess, PlanError, Planned, Remark, Replacement,
    Step, TurnId, Wanted, plan::Named,
};
use certs::{
    CertificateKey, CertificateSet, FileName, FileSet, Found,
    client_certificate::{ClientCertificate, Subject},
    ttl_token::ClockSkew,
};
use cri::RuntimeReport;
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use documents::Secret;
use etcd::{Member, Membership, Quorum};
use host::{Change, DirectoryState, Enablement, FileState, Host, Inspect, PathState, Service, UnitAction, UnitState};
use kubeadm::hub::ClusterConfiguration;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

/// A cluster, as far as a step may ask it. Connected in a binary, through `crates/cluster`.
pub trait Cluster {
    /// Whether the API server of a kubeconfig has all of these objects, given by their paths.
    fn has(&self, kubeconfig: &[u8], objects: &[&str], patience: &Patience<'_>) -> Result<bool, Unanswered>;
    /// Finds and verifies a cluster; one that does not answer is asked again for so long.
    fn discover(&self, method: &Method, within: Duration) -> Result<ClusterInfo, PlanError>;
    /// The networks of its services and pods, by its own configuration.
    fn networks(&self, kubeconfig: &[u8], patience: &Patience<'_>) -> Result<Vec<String>, Unanswered>;
    /// Deletes an object, given by its path; one that does not exist is deleted.
    fn delete(&self, kubeconfig: &[u8], object: &str, patience: &Patience<'_>) -> Result<(), Unanswered>;
    /// What the API server of a kubeconfig says of itself.
    fn version(&self, kubeconfig: &[u8], patience: &Patience<'_>) -> Result<ServerVersion, Unanswered>;
    /// Waits for a condition of a Node; the reason if it does not come.
    fn wait_for_node(&self, kubeconfig: &[u8], wait: &NodeWait<'_>) -> Result<(), Unanswered>;
    /// The certificates that it has under this key, if they are whole and it will delete them in time.
    fn live_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        patience: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered>;
    /// Checks what a node has, sees that the cluster would delete the copy, and uploads it.
    fn upload_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        found: BTreeMap<FileName, Found>,
    ) -> Result<(), PlanError>;
    /// Reads, decrypts and checks the copy of a cluster that was discovered by these CA certificates.
    fn download_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        roots: &CaBundle,
    ) -> Result<CertificateSet, PlanError>;
    /// An object, given by its path.
    fn object(&self, _kubeconfig: &[u8], _path: &str, _: &Patience<'_>) -> Result<Option<Value>, Unanswered> {
        Err(not_asked())
    }
    /// Waits until the API server has an object, given by its path; the reason if it does not come in time.
    fn wait_for_object(&self, kubeconfig: &[u8], path: &str, within: Duration) -> Result<(), Unanswered> {
        match self.object(kubeconfig, path, &Patience { within, while_true: &|| true })? {
            Some(_) => Ok(()),
            None => Err(Unanswered("it does not exist".to_owned())),
        }
    }
    /// The ClusterConfiguration that kubeadm has stored; `None` where kubeadm did not create the cluster.
    fn configuration(
        &self,
        _kubeconfig: &[u8],
        _: &Patience<'_>,
    ) -> Result<Option<Box<ClusterConfiguration>>, Unanswered> {
        Err(not_asked())
    }
    /// The certificates directory that kubeadm has stored for the cluster, and the files that are copied to it; `None`
    /// where kubeadm did not create the cluster.
    fn certs_layout(&self, _kubeconfig: &[u8], _: &Patience<'_>) -> Result<Option<(PathBuf, FileSet)>, Unanswered> {
        Err(not_asked())
    }
    /// All members of etcd with their state, once nothing keeps this machine from becoming one, or when the time is over:
    /// another machine's learner is promoted within seconds, and a member that restarts answers again.
    fn settled_members(&self, access: &EtcdAccess, wait: &MembersWait<'_>) -> Result<Membership, Unanswered> {
        self.members(access, &Patience { within: wait.within, while_true: &|| true })
    }
    /// The same, once most voters agree; the reason if they do not in time.
    fn members_with_quorum(&self, access: &EtcdAccess, patience: &Patience<'_>) -> Result<Membership, Unanswered> {
        let membership = self.members(access, patience)?;
        match &membership.quorum {
            Quorum::Held => Ok(membership),
            Quorum::Lost(why) => Err(Unanswered(format!("etcd has no quorum: {why}"))),
        }
    }
    /// All members of etcd with their state.
    fn members(&self, _: &EtcdAccess, _: &Patience<'_>) -> Result<Membership, Unanswered> {
        Err(not_asked())
    }
    /// The names of the Nodes, as etcd has them.
    fn nodes_in_etcd(&self, _: &EtcdAccess) -> Result<Vec<String>, Unanswered> {
        Err(not_asked())
    }
    /// Removes a member of etcd, and sees it gone.
    fn remove_member(&self, _: &EtcdAccess, _: &Member) -> Result<(), Unanswered> {
        Err(not_asked())
    }
    /// Writes an object, given by its path, in the place of the one with its `resourceVersion`.
    fn replace(&self, _kubeconfig: &[u8], _path: &str, _object: &Value) -> Result<Replacement, Unanswered> {
        Err(not_asked())
    }
    /// The mirror pod of the API server with this address and port; `None` where there is none.
    fn api_server_pod(
        &self,
        _kubeconfig: &[u8],
        _advertised: &str,
        _: &Patience<'_>,
    ) -> Result<Option<ApiServerPod>, Unanswered> {
        Err(not_asked())
    }
    /// Waits until the API server of a kubeconfig runs by a manifest and is ready; the reason if it does not in time.
    fn wait_for_api_server(&self, _kubeconfig: &[u8], _: &ApiServerWait<'_>) -> Result<(), Unanswered> {
        Err(not_asked())
    }
    /// Issues a client certificate that is valid for minutes, with a CA certificate and its key.
    fn issue(&self, _authority: &[u8], _key: &Secret<Vec<u8>>, _: Subject) -> Result<ClientCertificate, Unanswered> {
        Err(not_asked())
    }
}

/// A stand-in for a cluster answers only what its test is about.
fn not_asked() -> Unanswered {
    Unanswered("this cluster is not asked".to_owned())
}

/// What an API server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// Its version, such as `v1.36.4`.
    pub version: String,
    /// How far this machine's clock is from its clock, if that is far.
    pub skew: Option<ClockSkew>,
}

/// The container runtime of a machine, as far as a step may ask it. Connected in a binary, through `crates/cri`.
pub trait ContainerRuntime {
    /// What the runtime behind a socket says of itself; one that does not answer is asked again as far as the patience
    /// goes.
    fn ask(&self, socket: &str, patience: &Patience<'_>) -> cri::Result<RuntimeReport>;
}

/// How long to wait until etcd accepts a member.
#[derive(Clone, Copy, Debug)]
pub struct MembersWait<'a> {
    /// Where other members reach this machine.
    pub own_peer_url: &'a str,
    /// How long at most.
    pub within: Duration,
}

/// What to wait for of a Node.
#[derive(Clone, Copy, Debug)]
pub struct NodeWait<'a> {
    /// Its name.
    pub node: &'a str,
    /// The condition.
    pub condition: NodeCondition,
    /// How long at most.
    pub within: Duration,
}

/// A condition of a Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeCondition {
    /// The API server has it.
    Registered,
    /// The API server does not have it, or it is not Ready.
    NotReady,
}

/// The certificates copy of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct CertificateCopy<'a> {
    /// What encrypts it.
    pub key: &'a CertificateKey,
    /// Its files.
    pub files: &'a FileSet,
    /// The certificates directory, for messages.
    pub directory: &'a Path,
}

/// How long to ask a server that does not answer.
pub struct Patience<'a> {
    /// So long at most.
    pub within: Duration,
    /// And only while this holds, such as the kubelet that starts the API server.
    pub while_true: &'a dyn Fn() -> bool,
}

/// What could not be asked, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered(pub String);

/// Whether a user's `unless` is executed while planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// It is executed, once in each look.
    Executed,
    /// It is left out, and the plan shows "not checked".
    LeftOut,
}

/// What becomes of edits that others made in the manifest of a static pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manifests {
    /// The manifest is left as it is, and the plan stops.
    #[default]
    Respected,
    /// They are overwritten.
    Overwritten,
}

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A plan.
    Preview,
    /// A run.
    Run,
}

/// What turns of this run have found out for later ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The version of the machine's kubeadm.
    pub kubeadm: Option<String>,
    /// The version of the machine's kubelet.
    pub kubelet: Option<String>,
    /// The discovered cluster.
    pub cluster: Option<ClusterInfo>,
    /// The control plane that this machine joins.
    pub control_plane: Option<Rc<ControlPlaneFacts>>,
}

impl Facts {
    /// Adds what a turn has found out.
    pub(crate) fn learn(&mut self, found: &Self) {
        let Self { kubeadm, kubelet, cluster, control_plane } = found;
        if kubeadm.is_some() {
            self.kubeadm.clone_from(kubeadm);
        }
        if kubelet.is_some() {
            self.kubelet.clone_from(kubelet);
        }
        if cluster.is_some() {
            self.cluster.clone_from(cluster);
        }
        if control_plane.is_some() {
            self.control_plane.clone_from(control_plane);
        }
    }
}

/// All that planning sees; it can change nothing.
pub struct Look<'a> {
    /// All documents of the configuration.
    pub wanted: &'a Wanted,
    /// The machine.
    pub host: &'a dyn Inspect,
    /// The cluster.
    pub cluster: &'a dyn Cluster,
    /// The container runtime.
    pub runtime: &'a dyn ContainerRuntime,
    /// What earlier turns have found out.
    pub facts: &'a Facts,
    /// What becomes of edits of others in a manifest.
    pub manifests: Manifests,
    /// Whether a user's `unless` is executed.
    pub checks: Checks,
    /// How long to wait for a server that does not answer.
    pub patience: Duration,
    /// Whether this is a run, whose checks may take their time, or a preview, which somebody waits for.
    pub(crate) stage: Stage,
    /// What earlier turns of a preview would still do; empty in a run, where they have done it.
    pub(crate) pending: &'a [(TurnId, Planned)],
    /// Everything that earlier turns name, whether it needs a change or not.
    pub(crate) named: &'a BTreeSet<Named>,
}

impl<'a> Look<'a> {
    /// A look before any turn, which waits for nobody.
    pub(crate) fn now(
        wanted: &'a Wanted,
        host: &'a dyn Inspect,
        cluster: &'a dyn Cluster,
        facts: &'a Facts,
        named: &'a BTreeSet<Named>,
    ) -> Self {
        let (checks, patience, stage) = (Checks::LeftOut, Duration::ZERO, Stage::Preview);
        let (runtime, manifests, pending) = (&NotAsked, Manifests::Respected, &[]);
        Self { wanted, host, cluster, runtime, facts, manifests, checks, patience, stage, pending, named }
    }

    /// A file as it will be when this turn comes: what an earlier turn would write counts as written.
    pub fn file(&self, path: &str) -> host::Result<Option<FileState>> {
        let written = self.pending_steps().rev().find_map(|(_, step)| match step {
            Step::Ensure(Change::WriteFile { path: other, file, .. }) if other == path => Some(Some(file.clone())),
            Step::Ensure(Change::Remove { path: other, .. }) if other == path => Some(None),
            _ => None,
        });
        match written {
            Some(file) => Ok(file),
            None => self.host.file(path),
        }
    }

    /// What will be at a path once earlier turns and these steps are done; a link at its end is not followed.
    pub(crate) fn state_after(&self, planned: &Planned, path: &str) -> host::Result<PathState> {
        let mut steps = self.pending_steps().map(|(_, step)| step).chain(&planned.steps);
        steps.try_fold(self.host.state_at(path)?, |state, step| self.state_after_step(state, path, step))
    }

    fn state_after_step(&self, state: PathState, path: &str, step: &Step) -> host::Result<PathState> {
        let Step::Ensure(change) = step else { return Ok(state) };
        let entries = if let PathState::Directory { entries, .. } = state { entries } else { 0 };
        Ok(match change {
            Change::WriteFile { path: other, file, .. } if other == path => PathState::File(file.clone()),
            Change::MakeLink { path: other, target, .. } if other == path => PathState::Link { target: target.clone() },
            Change::MakeDirectory { path: other, directory, .. } if other == path => {
                PathState::Directory { state: *directory, entries }
            }
            Change::Remove { path: other, .. } if other == path => PathState::Absent,
            Change::WriteFile { path: other, .. }
            | Change::MakeLink { path: other, .. }
            | Change::MakeDirectory { path: other, .. } => match (child(path, other), state) {
                (Some(_), PathState::Absent) => PathState::Directory { state: self.new_directory(), entries: 1 },
                (Some(child), PathState::Directory { state, .. }) => {
                    let is_new = self.host.state_at(&child)? == PathState::Absent;
                    PathState::Directory { state, entries: entries + usize::from(is_new) }
                }
                (_, state) => state,
            },
            Change::Remove { path: other, .. } => match state {
                PathState::Directory { state, entries } if child(path, other).as_ref() == Some(other) => {
                    PathState::Directory { state, entries: entries.saturating_sub(1) }
                }
                state => state,
            },
            _ => state,
        })
    }

    /// A directory that is created on the way to a file.
    fn new_directory(&self) -> DirectoryState {
        let (uid, gid) = self.host.default_owner();
        DirectoryState { mode: NEW_DIRECTORY, uid, gid }
    }

    /// A service as it will be when this turn comes: what an earlier turn would start counts as running.
    pub(crate) fn service(&self, name: &str) -> host::Result<Service> {
        let unit = format!("{name}.service");
        let activities = self.pending_actions(&unit).filter_map(activity_after);
        activities.last().map_or_else(|| self.host.service(name), Ok)
    }

    /// A unit as it will be when this turn comes.
    pub(crate) fn unit(&self, name: &str) -> host::Result<UnitState> {
        let mut unit = self.host.unit(name)?;
        for action in self.pending_actions(name) {
            unit.activity = activity_after(action).unwrap_or(unit.activity);
            unit.enablement = match action {
                UnitAction::Enable => Enablement::Enabled,
                UnitAction::Disable | UnitAction::Unmask => Enablement::Disabled,
                UnitAction::Mask => Enablement::Masked,
                UnitAction::Start | UnitAction::Stop => unit.enablement,
            };
        }
        Ok(unit)
    }

    /// What earlier turns would still do to a unit.
    fn pending_actions(&self, unit: &str) -> impl Iterator<Item = UnitAction> {
        self.pending_steps().filter_map(move |(_, step)| match step {
            Step::Ensure(Change::Unit { name, action, .. }) if name == unit => Some(*action),
            _ => None,
        })
    }

    /// A kernel parameter as it will be when this turn comes.
    pub fn sysctl(&self, path: &str) -> host::Result<Option<String>> {
        let set = self.pending_steps().rev().find_map(|(_, step)| match step {
            Step::Ensure(Change::SetSysctl { path: other, value, .. }) if other == path => Some(value.clone()),
            _ => None,
        });
        match set {
            Some(value) => Ok(Some(value)),
            None => self.host.sysctl(path),
        }
    }

    /// The last earlier turn with a pending step of this sort: only after it can this turn tell.
    pub(crate) fn waits_for(&self, sort: impl Fn(&Step) -> bool) -> Option<TurnId> {
        self.pending_steps().rev().find(|(_, step)| sort(step)).map(|(label, _)| label.clone())
    }

    /// The last earlier turn that may still run something, also if that was not checked.
    pub(crate) fn waits_for_acts(&self) -> Option<TurnId> {
        let may_run = |planned: &Planned| {
            let not_checked = planned.remarks.iter().any(|remark| matches!(remark, Remark::NotChecked(_)));
            not_checked || planned.steps.iter().any(|step| step.is_act() || starts_unit(step))
        };
        self.pending.iter().rev().find(|(_, planned)| may_run(planned)).map(|(label, _)| label.clone())
    }

    fn pending_steps(&self) -> impl DoubleEndedIterator<Item = (&TurnId, &Step)> {
        self.pending.iter().flat_map(|(label, planned)| planned.steps.iter().map(move |step| (label, step)))
    }
}

const fn activity_after(action: UnitAction) -> Option<Service> {
    match action {
        UnitAction::Start => Some(Service::Active),
        UnitAction::Stop => Some(Service::Inactive),
        UnitAction::Enable | UnitAction::Disable | UnitAction::Mask | UnitAction::Unmask => None,
    }
}

/// Stands where nothing asks the container runtime.
struct NotAsked;

impl ContainerRuntime for NotAsked {
    fn ask(&self, socket: &str, _: &Patience<'_>) -> cri::Result<RuntimeReport> {
        Err(cri::Error::NoSocket { socket: socket.to_owned() })
    }
}

/// Whether a step starts a unit, which may bring anything.
const fn starts_unit(step: &Step) -> bool {
    matches!(step, Step::Ensure(Change::Unit { action: UnitAction::Start, .. }))
}

/// The mode of a new directory.
pub(crate) const NEW_DIRECTORY: u32 = 0o755;

/// The entry of a directory that a path is, or is below.
fn child(directory: &str, path: &str) -> Option<String> {
    let name = path.strip_prefix(directory)?.strip_prefix('/')?.split('/').next()?;
    Some(format!("{directory}/{name}"))
}

/// All that applying acts on.
pub struct World<'a> {
    /// The machine.
    pub host: &'a mut dyn Host,
    /// The cluster.
    pub cluster: &'a dyn Cluster,
    /// The container runtime.
    pub runtime: &'a dyn ContainerRuntime,
    /// Files that documents fetch.
    pub downloads: &'a dyn Downloads,
    /// How long to wait for a server that does not answer.
    pub patience: Duration,
}

impl std::fmt::Debug for Look<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Look").field("facts", self.facts).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Patience<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Patience").field("within", &self.within).finish_non_exhaustive()
    }
}
