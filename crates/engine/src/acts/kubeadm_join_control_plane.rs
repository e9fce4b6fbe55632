//! `kubeadm join` of a further control plane node, which also becomes a member of etcd.
//!
//! What a run finds on the machine and in etcd decides what it needs, not where kubeadm was interrupted: etcd is joined
//! before the kubelet has its certificate since 1.31, and after it before.
//!
//! | etcd member of this machine | static pods | kubelet's certificate | Node | what it needs |
//! |---|---|---|---|---|
//! | none | none | none | any | `kubeadm join` |
//! | voter, with its data here | all | valid | marked as control plane | nothing |
//! | voter, with its data here | all | valid | not marked, or missing | start the kubelet, wait for the Node, mark it |
//! | voter, with its data here | all | none | any | start the kubelet, wait for its certificate and its Node, mark it; without a certificate, as below |
//! | learner, or voter without its data | any | any | any | remove the member and see it gone; then reset, then `kubeadm join` |
//! | none | some | any | any | reset, then `kubeadm join` |
//! | not known: etcd does not answer | some | any | any | stop: a data directory whose member is registered is never deleted |
use super::{
    Act, AfterFailure, Effect, Undone, kubeadm,
    kubeadm_join::{self, KubeadmJoin, remove, unit, write},
    proxy_variables::Variables,
};
use crate::{
    ControlPlaneFacts, EtcdPod, Fault, Look, MemberFacts, Patience, PlanError, Unanswered, World,
    before_kubeadm::{self, BeforeKubeadm},
    certificates_elsewhere::CertificatesElsewhere,
    etcd_access::{CERTIFICATES, MANIFEST},
    etcd_data,
    fingerprint::Parts,
    phases::{control_plane_traces::ControlPlaneTraces, worker::Worker},
    registered_since::{Since, end_undo, registered_since},
    scoped_reset::{ScopedReset, scoped_reset},
};
use documents::{Secret, v1alpha1::Repeat};
use etcd::{Member, Membership, Quorum, Role};
use host::{
    Host, Inspect, Progress, Service, UnitAction,
    contract::{DISCOVERY_FILE, KUBEADM_FILE},
};
use outcome::ActSort;
use serde_json::Value;
use std::{rc::Rc, time::Duration};

/// How long a kubelet whose etcd member votes may take to get its certificate.
const CERTIFIED: Duration = Duration::from_secs(180);
/// How long etcd may take to have its quorum again after this machine's kubelet was started.
const QUORUM: Duration = Duration::from_secs(90);
/// kubeadm's mark on a Node; until 1.23 it was another one.
const MARKS: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/// `kubeadm join --control-plane`, complete but for what discovery and the step before it find.
#[derive(Clone, Debug)]
pub(crate) struct KubeadmJoinControlPlane {
    /// What every join has.
    pub(crate) join: KubeadmJoin,
    /// The control plane; a preview does not know it.
    pub(crate) facts: Option<Rc<ControlPlaneFacts>>,
    /// Where other members reach this machine.
    pub(crate) peer_url: String,
    /// The container runtime's socket, for undoing an interrupted join.
    pub(crate) runtime_socket: String,
    /// Where the certificates come from.
    pub(crate) certificates: Certificates,
}

/// Where the certificates of a joining control plane node come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certificates {
    /// From the cluster's copy.
    Copied,
    /// The machine has them.
    Own,
}

/// How far a join has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing of it is there.
    Absent,
    /// All static pods and the kubelet's credentials are there, and its member votes: only the Node may lack its marks.
    Serves,
    /// The same, and the kubelet has no credentials yet.
    Promoted,
    /// Something is there that no other row of the table has.
    Interrupted,
}

impl State {
    /// By what a machine and etcd show.
    fn of(host: &dyn Inspect, facts: &ControlPlaneFacts, own: Option<&Member>) -> host::Result<Self> {
        let traces = ControlPlaneTraces::on(host)?;
        let has_data =
            facts.member.as_ref().map_or(Ok(false), |member| etcd_data::is_in(&member.data_directory, host))?;
        let votes = facts.member.is_none() || has_data && own.is_some_and(|own| own.role == Role::Voter);
        let has_pods = traces.has_static_pods() && (traces.has_etcd || facts.member.is_none());
        Ok(match (votes && has_pods, traces.worker.credentials()) {
            (true, Some(_)) => Self::Serves,
            (true, None) if traces.worker.has_bootstrap_kubeconfig() => Self::Promoted,
            _ if traces.are_any() || own.is_some() || has_data => Self::Interrupted,
            _ => Self::Absent,
        })
    }
}

impl KubeadmJoinControlPlane {
    /// What is known of the control plane now: what the step before found, else by what the machine has.
    fn facts(&self, world: &World<'_>) -> Result<Rc<ControlPlaneFacts>, PlanError> {
        if let Some(facts) = &self.facts {
            return Ok(Rc::clone(facts));
        }
        let patience = Patience { within: world.patience, while_true: &|| true };
        let found = ControlPlaneFacts::of_machine(&*world.host, world.cluster, &self.peer_url, &patience)?;
        let why = match found {
            Ok(Some(facts)) => return Ok(Rc::new(facts)),
            Ok(None) => "/etc/kubernetes/admin.conf does not exist".to_owned(),
            Err(Unanswered(why)) => why,
        };
        Err(stopped(&why))
    }

    /// etcd's members now; none where etcd is external.
    fn membership(facts: &ControlPlaneFacts, world: &World<'_>) -> Result<Option<Membership>, PlanError> {
        let Some(member) = &facts.member else { return Ok(None) };
        let patience = Patience { within: world.patience, while_true: &|| true };
        let found = world.cluster.members(&member.access, &patience);
        found.map(Some).map_err(|Unanswered(why)| stopped(&why))
    }

    /// Removes this machine's member from etcd, if it has one there. Its own etcd may be needed for that: of two voters
    /// both must answer.
    fn leave_etcd(&self, facts: &ControlPlaneFacts, world: &mut World<'_>) -> Result<(), PlanError> {
        let (Some(member), Some(mut membership)) = (&facts.member, Self::membership(facts, world)?) else {
            return Ok(());
        };
        // Without a quorum a list may be old: that this machine is not in it shows nothing.
        if let Quorum::Lost(_) = &membership.quorum {
            start_kubelet(world.host)?;
            membership = with_quorum(member, world)?;
        }
        let Some(own) = member.own_in(&membership) else {
            return self.check_data_is_nobodys(member, &membership, &*world.host);
        };
        if let Some(obstacle) = membership.removing(own) {
            return Err(stopped(&obstacle.to_string()));
        }
        world.cluster.remove_member(&member.access, own).map_err(|Unanswered(why)| stopped(&why))
    }

    /// Without a manifest that can be read, as a power cut leaves it, the member of this machine is known by an address that
    /// may have changed since: then it is one of its name, or of those that do not answer.
    fn check_data_is_nobodys(
        &self,
        member: &MemberFacts,
        membership: &Membership,
        host: &dyn Inspect,
    ) -> Result<(), PlanError> {
        if EtcdPod::on(host)?.is_some() || !etcd_data::is_in(&member.data_directory, host)? {
            return Ok(());
        }
        let worker = Worker::on(host)?;
        let names = [Some(self.join.node.as_str()), worker.certified_node()];
        let found = |is_own: &dyn Fn(&Member) -> bool, why: &'static str| {
            membership.members.iter().find(|member| is_own(member)).map(|member| (member, why))
        };
        let named = found(&|other| names.contains(&Some(other.name.as_str())), "has the name of this node");
        match named.or_else(|| found(&|other| !other.answers(), "does not answer")) {
            None => Ok(()),
            Some((own, why)) => Err(stopped(&format!(
                "{MANIFEST} is missing or cannot be read, and the data in {} may be that of the member {} ({}), which {why}",
                member.data_directory,
                own.title(),
                own.id
            ))),
        }
    }

    /// The Node of an interrupted join goes: kubeadm refuses to join while it is Ready, which it is for most of a minute. Its
    /// name is in the certificate of the kubelet, which can have registered no other: any other Node of the name that the
    /// machine shall have may be that of another machine.
    fn delete_own_node(&self, facts: &ControlPlaneFacts, world: &World<'_>) -> Result<(), PlanError> {
        let worker = ControlPlaneTraces::on(world.host)?.worker;
        let own = worker.credentials().and_then(|_| worker.certified_node());
        if let Some(own) = own {
            let patience = Patience { within: world.patience, while_true: &|| true };
            let deleted =
                world.cluster.delete(facts.administrator.expose(), &format!("/api/v1/nodes/{own}"), &patience);
            let undeleted = |Unanswered(why)| host::Error::Unfit {
                what: format!("node {own}"),
                why: format!("the Node of the interrupted join cannot be deleted: {why}"),
                advice: "run machineadm again".to_owned(),
            };
            deleted.map_err(undeleted).map_err(PlanError::known(Fault::ApiServer))?;
        }
        match own == Some(self.join.node.as_str()) {
            true => Ok(()),
            false => self.join.wait_until_not_ready(facts.administrator.expose(), world),
        }
    }

    /// Starts a kubelet that has no certificate yet, and so has registered no Node. One of its name that is Ready is another
    /// machine's, which this kubelet would take over; or that of a kubelet which ended within the last minute.
    fn start_promoted(&self, facts: &ControlPlaneFacts, world: &mut World<'_>) -> Result<(), PlanError> {
        if world.host.service("kubelet")? == Service::Active {
            return Ok(());
        }
        // Without an answer it is started all the same: etcd may lack only this machine for its quorum.
        let at_once = Patience { within: Duration::from_secs(5), while_true: &|| false };
        let (administrator, path) = (facts.administrator.expose(), format!("/api/v1/nodes/{}", self.join.node));
        if let Ok(Some(node)) = world.cluster.object(administrator, &path, &at_once)
            && is_ready(&node)
        {
            self.join.wait_until_not_ready(administrator, world)?;
        }
        Ok(unit(UnitAction::Start, world.host)?)
    }

    /// Deletes what kubeadm did, and restores what was there before.
    fn reset(&self, etcd_data: Option<&str>, world: &mut World<'_>) -> host::Result<()> {
        let runtime_socket = Some(self.runtime_socket.as_str());
        scoped_reset(world, &ScopedReset { runtime_socket, etcd_data, ..ScopedReset::default() })
    }

    /// A kubelet that has its certificate registers by itself; kubeadm's last phase marks the Node.
    fn finish(&self, facts: &ControlPlaneFacts, world: &mut World<'_>) -> Result<(), PlanError> {
        self.join.finish(world)?;
        let kubeconfig = match self.join.kubeconfig() {
            Ok(kubeconfig) => kubeconfig,
            // A machine that has joined discovers no cluster: its own administrator reads the configuration.
            Err(_) => facts.administrator.clone(),
        };
        let file = Secret::new(self.join.file.expose().clone().into_bytes());
        let files = [(DISCOVERY_FILE, kubeconfig), (KUBEADM_FILE, file)];
        let written =
            files.iter().try_for_each(|(path, contents)| world.host.ensure(&write(path, contents, world.host)));
        let argv = ["join", "phase", "control-plane-join", "mark-control-plane", "--config", KUBEADM_FILE];
        let program = kubeadm::program(&argv, &Variables::new(), self.join.within);
        let ended = written.and_then(|()| kubeadm::run(&program, world));
        let removed = files.iter().try_for_each(|(path, _)| remove(path, world.host));
        Ok(ended.and(removed)?)
    }
}

impl Act for KubeadmJoinControlPlane {
    fn name(&self) -> &str {
        kubeadm_join::ID
    }

    fn sort(&self) -> ActSort {
        ActSort::KubeadmJoin
    }

    fn id(&self) -> String {
        kubeadm_join::ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Joined means: the kubelet has a valid certificate, all static pods are there, this machine's etcd member votes, and
    /// the Node has the marks of a control plane.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        if before_kubeadm::is_deleting(look.host)? {
            return Ok(Effect::Partial);
        }
        let traces = ControlPlaneTraces::on(look.host)?;
        let Some(facts) = &self.facts else {
            let is_ours = look.host.progress(kubeadm_join::ID)? != Progress::New;
            let is_left =
                traces.are_any() || is_ours && etcd_data::is_in(&etcd_data::directory(look.host)?, look.host)?;
            return Ok(match () {
                () if traces.are_all() => Effect::Unanswered("the API server or etcd does not answer".to_owned()),
                () if is_left => Effect::Partial,
                () => Effect::Absent,
            });
        };
        let own = facts.member.as_ref().and_then(|member| member.own.as_ref());
        match State::of(look.host, facts, own)? {
            State::Absent => return Ok(Effect::Absent),
            State::Promoted | State::Interrupted => return Ok(Effect::Partial),
            State::Serves => {}
        }
        let patience = Patience { within: look.patience, while_true: &|| true };
        let path = format!("/api/v1/nodes/{}", self.join.node);
        Ok(match look.cluster.object(facts.administrator.expose(), &path, &patience) {
            Ok(Some(node)) if is_marked(&node) && !traces.worker.has_bootstrap_kubeconfig() => Effect::Done,
            Ok(_) => Effect::Partial,
            Err(Unanswered(why)) => Effect::Unanswered(why),
        })
    }

    /// What was there before the certificates came: the download has recorded it, unless the machine had them.
    fn before_start(&self, world: &mut World<'_>) -> host::Result<()> {
        let directory = self.facts.as_ref().map(|facts| facts.directory.to_string_lossy());
        let elsewhere = CertificatesElsewhere::in_directory(directory.as_deref());
        let recorded = match self.certificates {
            Certificates::Copied if BeforeKubeadm::read(world.host)?.is_some() => {
                before_kubeadm::record_elsewhere(elsewhere, world.host)
            }
            Certificates::Copied | Certificates::Own => before_kubeadm::record(kubeadm_join::ID, elsewhere, world.host),
        };
        let member = self.facts.as_ref().and_then(|facts| facts.member.as_ref());
        recorded?;
        member.map_or(Ok(()), |member| etcd_data::record(&member.data_directory, world.host))
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        if ControlPlaneTraces::on(world.host)?.worker.credentials().is_none() {
            return Ok(self.join.join(world)?);
        }
        let facts = self.facts(world)?;
        self.finish(&facts, world)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Partial
    }

    /// The member goes first and is seen gone; only then are its data and everything else of kubeadm deleted.
    fn undo(&self, world: &mut World<'_>) -> Result<Undone, PlanError> {
        // An undo that has started to delete has seen the member gone. The machine may have joined again since.
        if before_kubeadm::is_deleting(world.host)? {
            let kubelet_runs = || matches!(world.host.service("kubelet"), Ok(Service::Active));
            let patience = Patience { within: world.patience, while_true: &kubelet_runs };
            match registered_since(CERTIFICATES, &*world.host, world.cluster, &patience)? {
                Since::Nothing => {
                    self.reset(None, world)?;
                    return Ok(Undone::Changed);
                }
                Since::Member(..) => end_undo(world.host)?,
                Since::Unknown(why) => return Err(stopped(&why)),
            }
        }
        let facts = self.facts(world)?;
        let membership = Self::membership(&facts, world)?;
        let own = match (&membership, &facts.member) {
            (Some(membership), Some(member)) => member.own_in(membership),
            _ => None,
        };
        match State::of(&*world.host, &facts, own)? {
            State::Absent | State::Serves => return Ok(Undone::Nothing),
            State::Promoted => {
                self.start_promoted(&facts, world)?;
                // A Node shows nothing: it may be left by an earlier node of the same name.
                let certified = |host: &dyn Inspect| Ok(Worker::on(host)?.credentials().is_some());
                if world.host.wait_until(&certified, CERTIFIED)? {
                    return Ok(Undone::Nothing);
                }
            }
            State::Interrupted => {}
        }
        self.leave_etcd(&facts, world)?;
        if world.host.service("kubelet")? == Service::Active {
            unit(UnitAction::Stop, world.host)?;
        }
        self.delete_own_node(&facts, world)?;
        let data = facts.member.as_ref().map(|member| member.data_directory.as_str());
        self.reset(data, world)?;
        Ok(Undone::Changed)
    }

    fn shows(&self) -> String {
        format!("control plane, {}", self.join.shows())
    }

    fn compares(&self, parts: &mut Parts) {
        // Whether there is a certificate key is compared by the download.
        let Self { join, facts: _, peer_url, runtime_socket, certificates: _ } = self;
        join.compares(parts);
        parts.text("control plane").text(peer_url).text(runtime_socket);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

/// Waits until etcd has its quorum, with the member of this machine.
fn with_quorum(member: &MemberFacts, world: &World<'_>) -> Result<Membership, PlanError> {
    let patience = Patience { within: QUORUM, while_true: &|| true };
    match world.cluster.members_with_quorum(&member.access, &patience) {
        Ok(membership) => Ok(membership),
        Err(Unanswered(why)) => Err(stopped(&why)),
    }
}

fn start_kubelet(host: &mut dyn Host) -> host::Result<()> {
    if host.service("kubelet")? == Service::Active { Ok(()) } else { unit(UnitAction::Start, host) }
}

/// Whether a Node has kubeadm's marks.
fn is_marked(node: &Value) -> bool {
    MARKS.iter().any(|mark| node["metadata"]["labels"].get(mark).is_some())
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// What is not known of etcd is not undone.
fn stopped(why: &str) -> PlanError {
    PlanError::known(Fault::Etcd)(host::Error::Unfit {
        what: "etcd".to_owned(),
        why: format!("the interrupted join cannot be undone: {why}"),
        advice: "check the members on a control plane node: machineadm control-plane list; then run machineadm again"
            .to_owned(),
    })
}
