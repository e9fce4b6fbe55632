//! A reset: undoes what machineadm and kubeadm did on this machine, and nothing else.
//!
//! ```text
//!  ResetRequest ──look──▶ ResetPlan ──shown, confirmed──▶ reset:
//!    etcd member removed, seen gone ──▶ kubeadm reset, files restored ──▶ documents restored ──▶ own state deleted
//! ```
//!
//! Each part leaves a trace until it is done, so that a reset that was interrupted is continued by the next one. etcd's
//! data is deleted only after it was seen that no cluster with other members needs it.
mod not_undone;
mod own_member;
mod own_state;
mod view;

pub use view::ResetView;

use crate::{
    Cluster, EtcdAccess, Failure, Look, Manifests, Mode, Patience, PlanError, Planned, Prune, Run, Unanswered, Wanted,
    World,
    acts::{DOWNLOAD_ID, STARTING_KUBEADM, UPLOAD_ID, files_found, kubeadm},
    apply,
    before_kubeadm::{BeforeKubeadm, DeletedBy, ResetProgress},
    certificates_elsewhere,
    etcd_access::{self, CERTIFICATES},
    etcd_data,
    look::Facts,
    scoped_reset::{ScopedReset, scoped_reset},
    started_cluster, turns,
};
use documents::Secret;
use etcd::RemovalObstacle;
use host::{Inspect, Progress};
use objects::kubernetes_paths;
use own_member::{Asked, OwnMember, own_member};
use std::{collections::BTreeSet, time::Duration};

/// What a reset is asked.
#[derive(Clone, Debug)]
pub struct ResetRequest {
    /// The container runtime's socket; kubeadm looks for it if there is none.
    pub runtime_socket: Option<String>,
    /// kubeadm's certificates directory.
    pub certificates: String,
    /// A kubeconfig by which the cluster is asked for its etcd servers, instead of the administrator's on this machine.
    pub kubeconfig: Option<Secret<Vec<u8>>>,
    /// Further flags of `kubeadm reset`.
    pub flags: Vec<String>,
    /// Whether etcd is asked for the member of this machine.
    pub question: MemberQuestion,
    /// What is undone.
    pub scope: ResetScope,
    /// How long to wait for an etcd that may be starting.
    pub patience: Duration,
}

/// Whether etcd is asked for the member of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberQuestion {
    /// It is asked.
    IsAsked,
    /// The operator asserts that no cluster has one.
    IsRemoved,
}

/// What is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetScope {
    /// The node, and what documents wrote.
    Machine,
    /// The node.
    NodeOnly,
}

/// Why a machine is not reset.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The machine could not be read or changed.
    #[error(transparent)]
    Machine(#[from] host::Error),
    /// It has data of etcd, and whether a cluster needs it is unknown.
    #[error("this machine has data of etcd, and whether its member is still registered could not be asked: {0}")]
    MemberUnknown(String),
    /// The operator says that it is removed, and etcd lists it.
    #[error("etcd lists the member of this machine, {0}: it is not removed; nothing was changed")]
    MemberListed(String),
    /// etcd would be harmed.
    #[error("the etcd member of this machine cannot be removed: {0}")]
    MemberNeeded(RemovalObstacle),
    /// etcd did not remove it.
    #[error("the etcd member of this machine was not removed: {0}")]
    MemberNotRemoved(String),
    /// Somebody has changed etcd's members since the plan was made.
    #[error("the members of etcd have changed since the plan was made; nothing was changed")]
    MembersChanged,
    /// Its work cannot be undone without it, and by then the etcd member would be removed.
    #[error("kubeadm, which undoes its own work, is not installed; nothing was changed")]
    NoKubeadm,
    /// What documents wrote could not be looked at.
    #[error(transparent)]
    Documents(#[from] PlanError),
    /// What documents wrote could not be restored.
    #[error(transparent)]
    Restore(Failure),
}

/// What a reset does, complete: nothing is left to decide when it is applied.
#[derive(Debug)]
pub struct ResetPlan {
    member: OwnMember,
    kubeadm: Option<KubeadmPart>,
    documents: Option<Planned>,
    state: Vec<&'static str>,
    not_undone: Vec<String>,
    /// A certificates directory of kubeadm that this reset leaves alone.
    other_certificates: Option<String>,
    /// The name of this machine's Node, where the machine knows it.
    pub node: Option<String>,
}

/// What kubeadm did, and what comes back.
#[derive(Debug)]
struct KubeadmPart {
    /// The call of kubeadm.
    arguments: Vec<String>,
    /// etcd's data.
    etcd_data: Option<String>,
    record: BeforeKubeadm,
}

/// Files that only kubeadm and the kubelet write, beside those of `kubeadm init`. A kubelet without a cluster has its
/// configuration from its operator, who may have it in /var/lib/kubelet too.
const TRACES: [&str; 5] = [
    kubernetes_paths::BOOTSTRAP_KUBECONFIG,
    kubernetes_paths::SUPER_ADMIN_KUBECONFIG,
    kubernetes_paths::CONTROLLER_MANAGER_KUBECONFIG,
    kubernetes_paths::SCHEDULER_KUBECONFIG,
    kubernetes_paths::KUBELET_FLAGS,
];

impl ResetPlan {
    /// Looks at the machine and at its etcd; changes nothing.
    pub fn new(request: &ResetRequest, host: &dyn Inspect, cluster: &dyn Cluster) -> Result<Self, ResetError> {
        let is_node = is_node(host)?;
        if is_node && !host.has_program(kubeadm::NAME)? {
            return Err(ResetError::NoKubeadm);
        }
        let member = seen_member(request, host, cluster)?;
        let kubeadm = is_node.then(|| KubeadmPart::new(request, host)).transpose()?;
        let documents = match request.scope {
            ResetScope::Machine => Some(documents(host, cluster)?),
            ResetScope::NodeOnly => None,
        };
        let state = own_state::paths(request.scope, host)?;
        let not_undone = not_undone::found(request.scope, host)?;
        let directory = etcd_access::certificates_directory(host)?;
        let deleted = BeforeKubeadm::read(host)?.map(|record| record.elsewhere.directories).unwrap_or_default();
        let is_deleted = |directory: &String| *directory == request.certificates || deleted.contains(directory);
        let other_certificates = directory.filter(|directory| !is_deleted(directory));
        let node = started_cluster::own_node(host)?;
        Ok(Self { member, kubeadm, documents, state, not_undone, other_certificates, node })
    }

    /// Whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        let documents = self.documents.as_ref().is_none_or(|planned| planned.steps.is_empty());
        let member = !matches!(self.member, OwnMember::Removable { .. });
        member && self.kubeadm.is_none() && documents && self.state.is_empty()
    }

    /// Whether kubeadm made this machine a node.
    pub const fn is_of_node(&self) -> bool {
        self.kubeadm.is_some()
    }
}

impl KubeadmPart {
    fn new(request: &ResetRequest, host: &dyn Inspect) -> host::Result<Self> {
        let etcd_data = match etcd_data::of_kubeadm(host)? {
            Some(directory) if etcd_data::is_in(&directory, host)? => Some(directory),
            _ => None,
        };
        let record = BeforeKubeadm::read_or_empty(host)?;
        Ok(Self { arguments: kubeadm_reset(request).arguments(), etcd_data, record })
    }
}

/// Applies a plan that was just made.
pub fn reset(
    request: &ResetRequest,
    plan: &ResetPlan,
    world: &mut World<'_>,
    watch: &mut dyn FnMut(&str),
) -> Result<(), ResetError> {
    if !seen_member(request, world.host, world.cluster)?.is_same(&plan.member) {
        return Err(ResetError::MembersChanged);
    }
    world.host.remove_leftovers()?;
    if let OwnMember::Removable { member, servers, .. } = &plan.member {
        watch("remove the etcd member of this machine");
        let mut record = BeforeKubeadm::read_or_empty(world.host)?;
        record.reset = Some(ResetProgress::RemovingMember { servers: servers.clone() });
        record.write(world.host)?;
        let mut access = access(request, world.host)?
            .ok_or_else(|| ResetError::MemberNotRemoved("its client certificate is missing".to_owned()))?;
        access.endpoints.extend(servers.iter().cloned());
        world
            .cluster
            .remove_member(&access, member)
            .map_err(|Unanswered(why)| ResetError::MemberNotRemoved(objects::one_line(&why)))?;
    }
    if plan.kubeadm.is_some() {
        watch("undo what kubeadm did");
        scoped_reset(world, &kubeadm_reset(request))?;
        // The cluster had the upload: another one needs its own.
        for act in acts_of_node().chain([UPLOAD_ID]) {
            if world.host.progress(act)? != Progress::New {
                world.host.note(act, Progress::New)?;
            }
        }
        // A run does not make the machine a node again before the rest is done.
        BeforeKubeadm::mark_undone(world.host)?;
    }
    if request.scope == ResetScope::Machine {
        watch("restore what documents changed");
        restore_documents(world)?;
    }
    watch("delete the state of machineadm");
    Ok(own_state::delete(request.scope, world.host)?)
}

fn kubeadm_reset(request: &ResetRequest) -> ScopedReset<'_> {
    let (runtime_socket, flags) = (request.runtime_socket.as_deref(), request.flags.clone());
    ScopedReset { runtime_socket, flags, etcd_data: None, by: DeletedBy::Reset }
}

fn seen_member(request: &ResetRequest, host: &dyn Inspect, cluster: &dyn Cluster) -> Result<OwnMember, ResetError> {
    let kubelet_runs = || matches!(host.service("kubelet"), Ok(host::Service::Active));
    let patience = Patience { within: request.patience, while_true: &kubelet_runs };
    let (certificates, question) = (&certificates(request, host)?, request.question);
    let access = access(request, host)?;
    own_member(Asked { host, cluster, certificates, access, question, patience: &patience })
}

/// Where the certificates are: as the operator says, else where machineadm had kubeadm write them.
fn certificates(request: &ResetRequest, host: &dyn Inspect) -> host::Result<String> {
    if request.certificates != CERTIFICATES {
        return Ok(request.certificates.clone());
    }
    let recorded = BeforeKubeadm::read(host)?.and_then(|record| record.elsewhere.directories.last().cloned());
    certificates_elsewhere::of_etcd(recorded.as_deref().unwrap_or(CERTIFICATES), host)
}

/// How etcd is asked, if this machine has its client certificate.
fn access(request: &ResetRequest, host: &dyn Inspect) -> host::Result<Option<EtcdAccess>> {
    let access = EtcdAccess::on(host, &certificates(request, host)?)?;
    let kubeconfig = request.kubeconfig.clone();
    Ok(access.map(|access| EtcdAccess { kubeconfig: kubeconfig.or_else(|| access.kubeconfig.clone()), ..access }))
}

/// Whether kubeadm has started to make this machine a node, or a reset has started to undo that.
fn is_node(host: &dyn Inspect) -> host::Result<bool> {
    let progress = BeforeKubeadm::read(host)?.and_then(|record| record.reset);
    if let Some(progress) = progress {
        return Ok(progress != ResetProgress::Undone);
    }
    if files_found(host)? > 0 {
        return Ok(true);
    }
    for path in TRACES {
        if host.exists(path)? {
            return Ok(true);
        }
    }
    for act in acts_of_node() {
        if host.progress(act)? != Progress::New {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Those that start kubeadm, and the one that brings the private keys of a cluster before kubeadm starts.
fn acts_of_node() -> impl Iterator<Item = &'static str> {
    STARTING_KUBEADM.into_iter().chain([DOWNLOAD_ID])
}

/// What pruning does without any document.
fn documents(host: &dyn Inspect, cluster: &dyn Cluster) -> Result<Planned, ResetError> {
    let (wanted, facts, named) = (Wanted::default(), Facts::default(), BTreeSet::new());
    let look = Look::now(&wanted, host, cluster, &facts, &named);
    let mut planned = Planned::default();
    for turn in turns(Mode::Post, &wanted, Prune::Restore) {
        let Planned { steps, remarks, .. } = turn.plan(&look)?;
        planned.steps.extend(steps);
        planned.remarks.extend(remarks);
    }
    Ok(planned)
}

/// A command that was interrupted would stop the run; the plan has named it.
fn restore_documents(world: &mut World<'_>) -> Result<(), ResetError> {
    for id in world.host.unfinished()? {
        world.host.note(&id, Progress::New)?;
    }
    let (wanted, manifests) = (Wanted::default(), Manifests::Respected);
    let run = Run { mode: Mode::Post, wanted: &wanted, prune: Prune::Restore, manifests, reviewed: None };
    apply::bootstrap(&run, world, &mut |_| ()).map(drop).map_err(ResetError::Restore)
}
