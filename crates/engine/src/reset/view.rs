//! A reset as people and programs see it; what may be secret is never in it.
use super::{KubeadmPart, OwnMember, ResetPlan, ResetScope};
use crate::{Line, Remark, TurnView, acts::kubeadm, ownership::Ownership};
use documents::v1alpha1::API_VERSION;
use host::{Inspect, PathState};
use objects::kubernetes_paths;
use outcome::Action;
use serde::Serialize;

/// The directories that `kubeadm reset` empties.
const EMPTIED: [&str; 3] = [kubernetes_paths::PKI, kubernetes_paths::MANIFESTS, kubernetes_paths::KUBELET];
/// Where `kubeadm upgrade` leaves copies of what it has replaced.
const BACKUPS: &str = kubernetes_paths::KUBEADM_BACKUPS;
/// How much of a list is shown.
const MOST_SHOWN: usize = 20;

/// A reset to show.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetView {
    api_version: &'static str,
    kind: &'static str,
    /// The machine's name.
    pub machine: String,
    /// Whether it was applied.
    pub is_done: bool,
    /// Part by part, in their order.
    pub parts: Vec<TurnView>,
    /// What machineadm did and is not undone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_undone: Vec<String>,
    /// What is left for an operator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

impl ResetView {
    /// What to show of a plan.
    pub fn new(machine: String, plan: &ResetPlan, scope: ResetScope, host: &dyn Inspect) -> host::Result<Self> {
        let owned = match scope {
            ResetScope::Machine => Ownership::written_files(host)?,
            ResetScope::NodeOnly => Vec::new(),
        };
        let documents = plan.documents.iter().map(|planned| {
            let remarks = planned.remarks.iter().map(Remark::to_string).collect();
            part("documents", planned.steps.iter().map(Line::of).collect(), remarks)
        });
        let state = plan.state.iter().map(|path| line(Action::Delete, path, "")).collect();
        let parts = [of_member(&plan.member)]
            .into_iter()
            .chain(plan.kubeadm.iter().map(|part| of_kubeadm(part, &owned)))
            .chain(documents)
            .chain([part("state", state, Vec::new())]);
        let parts = parts.filter(|part| !part.steps.is_empty() || !part.remarks.is_empty()).collect();
        let mut left = if plan.is_of_node() { left(plan.node.as_deref().unwrap_or(&machine)) } else { Vec::new() };
        left.extend(plan.other_certificates.iter().map(|directory| {
            let directory = objects::one_line(directory);
            format!("certificates and private keys of the cluster in {directory}: with --cert-dir, kubeadm deletes everything in it")
        }));
        if plan.kubeadm.as_ref().map_or(Ok(false), |part| leaves_backups(part, host))? {
            left.push(format!(
                "copies that kubeadm made for an upgrade, perhaps of etcd's data, in {BACKUPS}: with --cleanup-tmp-dir, \
                 kubeadm deletes everything in it"
            ));
        }
        let not_undone = plan.not_undone.clone();
        Ok(Self { api_version: API_VERSION, kind: "Reset", machine, is_done: false, parts, not_undone, left })
    }

    /// How many steps it has.
    pub fn changes(&self) -> usize {
        self.parts.iter().map(|part| part.steps.len()).sum()
    }
}

fn part(name: &str, steps: Vec<Line>, remarks: Vec<String>) -> TurnView {
    TurnView { name: name.to_owned(), document: None, known_after: None, steps, remarks }
}

fn line(action: Action, target: &str, detail: impl Into<String>) -> Line {
    Line { action, target: target.to_owned(), detail: detail.into(), diff: Vec::new() }
}

fn of_member(member: &OwnMember) -> TurnView {
    let (steps, remarks) = match member {
        OwnMember::None => (Vec::new(), Vec::new()),
        OwnMember::NotAsked(why) => {
            let text = format!(
                "etcd could not be asked for a member of this machine, which has no data: {why}; a member that is listed is \
                 removed on another control plane node: machineadm control-plane remove NODE"
            );
            (Vec::new(), vec![text])
        }
        OwnMember::Asserted(member) => {
            let text = format!(
                "etcd has no quorum and lists the member of this machine, {member}: if it was not removed on another \
                 control plane node, its data is lost, and that may be all data of the cluster"
            );
            (Vec::new(), vec![text])
        }
        OwnMember::Only => {
            let text = "this machine has the only etcd member: the cluster and all its data are deleted".to_owned();
            (Vec::new(), vec![text])
        }
        OwnMember::Removable { member, voters, .. } => {
            let remaining = if *voters == 1 { "1 voter remains".to_owned() } else { format!("{voters} voters remain") };
            let detail = format!("{}, {}; {remaining}", member.id, member.role.name());
            (vec![line(Action::Delete, &format!("etcd member {}", member.title()), detail)], Vec::new())
        }
    };
    part("etcd", steps, remarks)
}

/// What a document wrote is restored only to be undone with its document.
fn of_kubeadm(part: &KubeadmPart, owned: &[String]) -> TurnView {
    let KubeadmPart { arguments, etcd_data, record } = part;
    let flags = arguments.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join(" ");
    let mut steps = vec![line(Action::Run, &format!("{} reset", kubeadm::NAME), flags)];
    steps.extend(etcd_data.iter().map(|path| line(Action::Delete, &format!("{path}/member/"), "data of etcd")));
    let elsewhere = &record.elsewhere;
    let directories = elsewhere.directories.iter().map(|path| format!("{}/", objects::one_line(path)));
    steps.extend(directories.map(|path| line(Action::Delete, &path, "only certificates that kubeadm wrote")));
    let files = elsewhere.files.iter().filter(|path| !record.has(path)).map(|path| objects::one_line(path));
    steps.extend(files.map(|path| line(Action::Delete, &path, "downloaded with the certificates")));
    let is_shown = |path: &str, state: &PathState| {
        !matches!(state, PathState::Directory { .. })
            && !owned.iter().any(|owned| owned == path)
            && is_deleted(path, arguments)
    };
    let restored: Vec<&str> =
        record.restored().filter(|(path, state)| is_shown(path, state)).map(|(path, _)| path).collect();
    steps
        .extend(restored.iter().take(MOST_SHOWN).map(|path| line(Action::Restore, path, "existed before kubeadm ran")));
    let mut remarks = Vec::new();
    if restored.len() > MOST_SHOWN {
        remarks
            .push(format!("{} more files that existed before kubeadm ran are restored", restored.len() - MOST_SHOWN));
    }
    if !record.is_recorded {
        remarks.push(
            "kubeadm was started here without machineadm: what existed before below /etc/kubernetes and /var/lib/kubelet \
             is unknown and is not restored"
                .to_owned(),
        );
    }
    remarks.extend(arguments.iter().filter_map(|flag| flag.strip_prefix("--cert-dir=")).map(|directory| {
        format!("kubeadm deletes everything in {directory}; of what existed there before, only certificates are restored unless it is below /etc/kubernetes")
    }));
    let lost: Vec<&str> = record.not_copied().collect();
    if !lost.is_empty() {
        let shown = lost.iter().take(MOST_SHOWN).copied().collect::<Vec<_>>().join(", ");
        remarks.push(format!("{} that existed before kubeadm ran cannot be restored: {shown}", lost.len()));
    }
    if let Some(omitted) = record.omitted {
        remarks.push(format!("{omitted} further files that existed before kubeadm ran were not recorded"));
    }
    self::part("kubeadm", steps, remarks)
}

/// Whether `kubeadm reset` deletes a file: it leaves others beside its own alone.
fn is_deleted(path: &str, arguments: &[String]) -> bool {
    let other = arguments.iter().filter_map(|flag| flag.strip_prefix("--cert-dir="));
    let mut emptied = EMPTIED.into_iter().chain(other.map(|directory| directory.trim_end_matches('/')));
    let is_below = |directory: &str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
    let name = path.strip_prefix(kubernetes_paths::KUBERNETES).and_then(|rest| rest.strip_prefix('/'));
    emptied.any(is_below) || name.is_some_and(|name| !name.contains('/') && name.ends_with(".conf"))
}

/// Whether there are such copies, which this reset leaves.
fn leaves_backups(part: &KubeadmPart, host: &dyn Inspect) -> host::Result<bool> {
    let is_deleted = part.arguments.iter().any(|flag| flag == "--cleanup-tmp-dir");
    let found = host.state_at(BACKUPS)?;
    Ok(!is_deleted && !part.record.has(BACKUPS) && matches!(found, PathState::Directory { entries: 1.., .. }))
}

/// What kubeadm's users know: it is not on this machine, or belongs to others.
fn left(node: &str) -> Vec<String> {
    vec![
        format!("the Node object: kubectl delete node {}", objects::shell::quoted(node)),
        "the configuration of the network plugin, in /etc/cni/net.d".to_owned(),
        "rules of iptables, nftables and IPVS that kube-proxy and the network plugin have set: a reboot deletes them"
            .to_owned(),
        "kubeconfig files that were copied, such as $HOME/.kube/config".to_owned(),
    ]
}
