//! Undoes what kubeadm did on this machine, and nothing else: `kubeadm reset` without its etcd phase, then everything that
//! existed before kubeadm ran is restored.
//!
//! `kubeadm reset` by itself empties etcd's data directory also where it could not remove the member of this machine: a
//! cluster then has a member that can never start again. So that phase never runs here.
use crate::{
    World,
    acts::{kubeadm, proxy_variables::Variables},
    before_kubeadm::{BeforeKubeadm, DeletedBy},
    certificates_elsewhere,
    etcd_data::{self, DATA},
};
use host::{Change, Error, Host, Inspect, PathState};
use objects::kubernetes_paths;
use std::time::Duration;

/// How long `kubeadm reset` may take: it stops every container.
const WITHIN: Duration = Duration::from_secs(10 * 60);
const KUBELET_DIRECTORY: &str = kubernetes_paths::KUBELET;
/// The phase of kubeadm that deletes etcd's data, in every version since 1.15.
const WITHOUT_ETCD: &str = "--skip-phases=remove-etcd-member";
/// What some versions of `kubeadm reset` leave of what kubeadm wrote.
const LEFT_BY_KUBEADM: [&str; 1] = [kubernetes_paths::SUPER_ADMIN_KUBECONFIG];
/// Directories that kubeadm and the kubelet create. They go if they are empty and did not exist before.
const CREATED: [&str; 6] = [
    kubernetes_paths::ETCD_PKI,
    kubernetes_paths::PKI,
    kubernetes_paths::MANIFESTS,
    kubernetes_paths::KUBERNETES,
    KUBELET_DIRECTORY,
    DATA,
];

/// How kubeadm's work is undone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopedReset<'a> {
    /// The container runtime's socket; kubeadm looks for it if there is none.
    pub(crate) runtime_socket: Option<&'a str>,
    /// Further flags of `kubeadm reset`.
    pub(crate) flags: Vec<String>,
    /// Where etcd's data is if there is no manifest that says so.
    pub(crate) etcd_data: Option<&'a str>,
    /// Who undoes it.
    pub(crate) by: DeletedBy,
}

impl ScopedReset<'_> {
    /// The call of kubeadm.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let socket = self.runtime_socket.map(|socket| format!("--cri-socket=unix://{socket}"));
        let fixed = ["reset", "--force", WITHOUT_ETCD].map(str::to_owned);
        fixed.into_iter().chain(socket).chain(self.flags.iter().cloned()).collect()
    }
}

/// Undoes what kubeadm did. Interrupted anywhere and run again, it leaves the same machine.
///
/// The caller has seen that no cluster with other members has an etcd member for this machine: its data is deleted. A reset
/// marks it as undone when its other parts know of it.
pub(crate) fn scoped_reset(world: &mut World<'_>, reset: &ScopedReset<'_>) -> host::Result<()> {
    let data = etcd_data::of_kubeadm(world.host)?.or_else(|| reset.etcd_data.map(str::to_owned));
    let mut record = BeforeKubeadm::read_or_empty(world.host)?;
    record.start_deleting(data.clone(), reset.by, world.host)?;
    let arguments = reset.arguments();
    let argv: Vec<&str> = arguments.iter().map(String::as_str).collect();
    world.host.run(&kubeadm::program(&argv, &Variables::new(), WITHIN))?;
    check_emptied(world.host)?;
    if let Some(directory) = data {
        world.host.remove_tree(&etcd_data::member(&directory))?;
    }
    certificates_elsewhere::delete_new(&record, world.host)?;
    restore(&record, world.host)?;
    match reset.by {
        // The caller marks it.
        DeletedBy::Reset => Ok(()),
        DeletedBy::Act if record.is_recorded => {
            record.reset = None;
            record.write(world.host)
        }
        DeletedBy::Act => BeforeKubeadm::forget(world.host),
    }
}

/// kubeadm only warns of what it could not delete.
fn check_emptied(host: &dyn Inspect) -> host::Result<()> {
    match host.state_at(KUBELET_DIRECTORY)? {
        PathState::Directory { entries: 1.., .. } => Err(Error::Unfit {
            what: KUBELET_DIRECTORY.to_owned(),
            why: "kubeadm reset has not deleted everything in it".to_owned(),
            advice: format!("unmount what is mounted below it (findmnt | grep {KUBELET_DIRECTORY}), then run again"),
        }),
        _ => Ok(()),
    }
}

/// Brings back what existed before kubeadm ran, and deletes what only kubeadm has created.
fn restore(record: &BeforeKubeadm, host: &mut dyn Host) -> host::Result<()> {
    for path in LEFT_BY_KUBEADM {
        host.remove_tree(path)?;
    }
    for (path, wanted) in record.restored() {
        if let Some(change) = change_to(path, host.state_at(path)?, wanted) {
            host.ensure(&change)?;
        }
    }
    if !record.is_recorded {
        return Ok(());
    }
    // The directory of etcd's data may be in one of the others.
    for path in record.etcd_data.as_deref().into_iter().chain(CREATED).filter(|path| !record.has(path)) {
        let was = host.state_at(path)?;
        if matches!(was, PathState::Directory { entries: 0, .. }) {
            host.ensure(&Change::Remove { path: path.to_owned(), was })?;
        }
    }
    Ok(())
}

/// What has to change at a path; nothing where something is that kubeadm did not delete: it is as before, or an operator has
/// changed it since. Of directories, kubeadm and the kubelet change owner and mode.
fn change_to(path: &str, now: PathState, wanted: PathState) -> Option<Change> {
    let path = path.to_owned();
    Some(match (now, wanted) {
        (PathState::Absent, PathState::File(file)) => {
            Change::WriteFile { path, block: None, was: None, file, confidential: true }
        }
        (PathState::Directory { state, .. }, PathState::Directory { state: directory, .. }) if state == directory => {
            return None;
        }
        (PathState::Directory { state, .. }, PathState::Directory { state: directory, .. }) => {
            Change::MakeDirectory { path, was: Some(state), directory }
        }
        (PathState::Absent, PathState::Directory { state: directory, .. }) => {
            Change::MakeDirectory { path, was: None, directory }
        }
        (PathState::Absent, PathState::Link { target }) => Change::MakeLink { path, was: None, target },
        _ => return None,
    })
}
