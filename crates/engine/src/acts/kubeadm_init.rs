//! `kubeadm init`: a new cluster, with this machine as its first control plane.
use super::{ADMIN, Act, AfterFailure, Effect, Sort, Undone};
use crate::{Look, Patience, PlanError, Unanswered, World, fingerprint::Parts};
use documents::{Secret, v1alpha1::Repeat};
use host::{Call, Change, FileState, PathState, Program, Service, contract::KUBEADM_FILE};
use std::{collections::BTreeMap, time::Duration};

/// The journal id. A machine begins one cluster: unfinished work is ours, whatever the configuration says by now.
pub(crate) const ID: &str = "kubeadm init";

pub(super) const SORT: Sort = Sort {
    first_words: ID,
    left_behind: |id, look| {
        // Whoever has run `kubeadm reset` since has done what is asked here.
        let is_left = traces(look)? != Effect::Absent;
        Ok(is_left.then(|| {
            format!(
                "{id} was started and did not finish, and this configuration no longer has it; run \"kubeadm reset\", \
                 then run machineadm again"
            )
        }))
    },
};

/// How long kubeadm may take; it has limits of its own for each of its phases.
const INIT: Duration = Duration::from_secs(20 * 60);
const RESET: Duration = Duration::from_secs(5 * 60);

/// What `kubeadm init` writes, in its order; certificates may be the user's own, so they tell nothing.
const TRACES: [&str; 6] = [
    "/etc/kubernetes/kubelet.conf",
    ADMIN,
    "/etc/kubernetes/manifests/etcd.yaml",
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    "/etc/kubernetes/manifests/kube-controller-manager.yaml",
    "/etc/kubernetes/manifests/kube-scheduler.yaml",
];
/// What it leaves in the cluster; the addons come last.
const OBJECTS: [&str; 3] = [
    "/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
    "/apis/apps/v1/namespaces/kube-system/deployments/coredns",
    "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy",
];

/// `kubeadm init`, complete: nothing is left to decide when it runs.
#[derive(Clone, Debug)]
pub(crate) struct KubeadmInit {
    /// kubeadm's own file; it may hold a token.
    pub(crate) file: Secret<String>,
    /// What this kubeadm takes only on its command line.
    pub(crate) flags: Vec<String>,
    /// The API version of that file, for people.
    pub(crate) api_version: String,
    /// The version of Kubernetes that it is written for.
    pub(crate) version: String,
    /// The container runtime's socket, for undoing an interrupted run.
    pub(crate) runtime_socket: String,
}

/// How many files it writes by which it is known.
pub(crate) const FILES: usize = TRACES.len();

/// How many of them are there.
pub(crate) fn files_found(look: &Look<'_>) -> Result<usize, PlanError> {
    let mut found = 0;
    for trace in TRACES {
        found += usize::from(look.host.exists(trace)?);
    }
    Ok(found)
}

/// How much of it lies on the machine, without asking the cluster: `Unseen` is never the answer.
fn traces(look: &Look<'_>) -> Result<Effect, PlanError> {
    Ok(match files_found(look)? {
        0 => Effect::Absent,
        FILES => Effect::Done,
        _ => Effect::Partial,
    })
}

impl Act for KubeadmInit {
    fn name(&self) -> &str {
        ID
    }

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Its files, and then what it leaves in the cluster. The API server may be starting: only the kubelet starts it.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let traces = traces(look)?;
        if traces != Effect::Done {
            return Ok(traces);
        }
        let Some(admin) = look.host.file(ADMIN)? else { return Ok(Effect::Partial) };
        let kubelet_runs = || matches!(look.host.service("kubelet"), Ok(Service::Active));
        let patience = Patience { within: look.patience, while_true: &kubelet_runs };
        Ok(match look.cluster.has(admin.contents.expose(), &OBJECTS, &patience) {
            Ok(true) => Effect::Done,
            Ok(false) => Effect::Partial,
            Err(Unanswered(why)) => Effect::Unanswered(why),
        })
    }

    /// The file goes, however kubeadm ends: it may hold a secret.
    fn run(&self, world: &mut World<'_>) -> host::Result<()> {
        let (uid, gid) = world.host.default_owner();
        let contents = Secret::new(self.file.expose().clone().into_bytes());
        let file = FileState { contents, mode: 0o600, uid, gid };
        let path = KUBEADM_FILE.to_owned();
        let write =
            Change::WriteFile { path: path.clone(), block: None, was: None, file: file.clone(), confidential: true };
        world.host.ensure(&write)?;
        // The token that it makes for the next machines is not for a log.
        let mut argv = vec!["kubeadm", "init", "--config", KUBEADM_FILE, "--skip-token-print"];
        argv.extend(self.flags.iter().map(String::as_str));
        let ended = world.host.run(&kubeadm(&argv, INIT));
        let removed = world.host.ensure(&Change::Remove { path, was: PathState::File(file) });
        ended.and(removed)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Partial
    }

    /// `kubeadm reset` removes certificates and manifests, whoever put them there.
    fn undo(&self, world: &mut World<'_>) -> host::Result<Undone> {
        let socket = format!("--cri-socket=unix://{}", self.runtime_socket);
        world.host.run(&kubeadm(&["kubeadm", "reset", "--force", &socket], RESET))?;
        Ok(Undone::Changed)
    }

    fn shows(&self) -> String {
        format!("kubeadm {}, {}", self.version, self.api_version)
    }

    fn compares(&self, parts: &mut Parts) {
        let Self { file, flags, api_version, version, runtime_socket } = self;
        parts.text("init").text(file.expose()).list(flags).text(api_version).text(version).text(runtime_socket);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

fn kubeadm(argv: &[&str], within: Duration) -> Program {
    let call = Call::Argv(argv.iter().map(|&word| word.to_owned()).collect());
    Program { name: "kubeadm".into(), call, environment: BTreeMap::new(), within }
}
