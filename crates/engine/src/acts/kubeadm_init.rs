//! `kubeadm init`: a new cluster, with this machine as its first control plane.
//!
//! What a run finds decides what an `init` needs that did not finish, not where kubeadm was interrupted: the order of its
//! phases differs between minor versions. A cluster that others may have joined is never deleted.
//!
//! | kubeadm's files | data of etcd | etcd | API server | journal | what is done |
//! |---|---|---|---|---|---|
//! | none | | | | any | `kubeadm init` |
//! | all | | | has kubeadm's objects | any | nothing, it is done |
//! | some or all | none | | | started | undone, `kubeadm init` again |
//! | some or all | there | lists this machine alone | has no other Node; or does not answer, and etcd has none | started | undone, `kubeadm init` again |
//! | some or all | there | lists other members | | started | `kubeadm init` is finished on top |
//! | some or all | there | | has other Nodes, or etcd has | started | `kubeadm init` is finished on top |
//! | some or all | there | does not answer, or has no manifest | | started | `kubeadm init` is finished on top |
//! | any, while an undo is not finished | | | | started | the undo is finished, `kubeadm init` again |
//! | any, while an undo is not finished | there | answers, and others have joined since | | started | `kubeadm init` is finished on top |
//! | some | | | | new | stops: manual action |
//! | some | | | | ended | nothing; a remark |
//!
//! Finished on top means: `kubeadm init` runs again without its preflight. Each of its phases uses what it finds.
use super::{
    ADMIN, Act, AfterFailure, Effect, Sort, Undone, kubeadm,
    proxy_variables::{self, Variables},
};
use crate::{
    Look, Patience, PlanError, Unanswered, World, before_kubeadm,
    certificates_elsewhere::{self, CertificatesElsewhere},
    etcd_access::CERTIFICATES,
    etcd_data,
    fingerprint::Parts,
    registered_since::{end_undo, registered_since},
    scoped_reset::{ScopedReset, scoped_reset},
    started_cluster::reason_to_keep,
};
use documents::{Secret, v1alpha1::Repeat};
use host::{Change, FileState, Inspect, PathState, Service, contract::KUBEADM_FILE};
use objects::kubernetes_paths;
use outcome::ActSort;
use std::time::Duration;

/// The journal id. A machine begins one cluster: unfinished work is ours, whatever the configuration says by now.
pub(crate) const ID: &str = ActSort::KubeadmInit.id();

pub(super) const SORT: Sort = Sort {
    sort: ActSort::KubeadmInit,
    left_behind: |id, look| {
        // Whoever has reset the machine since has done what is asked here.
        let is_left = traces(look.host)? != Effect::Absent || before_kubeadm::is_deleting(look.host)?;
        Ok(is_left.then(|| {
            format!(
                "{id} was started and did not finish, and this configuration no longer has it; run \"machineadm reset\", \
                 then run machineadm again"
            )
        }))
    },
};

/// What `kubeadm init` writes, in its order; certificates may be the user's own, so they tell nothing.
const TRACES: [&str; 6] = [
    kubernetes_paths::KUBELET_KUBECONFIG,
    ADMIN,
    kubernetes_paths::ETCD_MANIFEST,
    kubernetes_paths::API_SERVER_MANIFEST,
    kubernetes_paths::CONTROLLER_MANAGER_MANIFEST,
    kubernetes_paths::SCHEDULER_MANIFEST,
];
/// What it leaves in the cluster, beside the addons, which come last.
pub(crate) const KUBEADM_CONFIG: &str = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
/// The DNS server in the cluster.
pub(crate) const COREDNS: &str = "/apis/apps/v1/namespaces/kube-system/deployments/coredns";
/// The service proxy in the cluster.
pub(crate) const KUBE_PROXY: &str = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy";

/// Stands in kubeadm's file for the token that nobody uses. Its secret is replaced when kubeadm runs.
pub(crate) const UNUSED_TOKEN: &str = "unused.0000000000000000";
/// The phases that create the addons.
const ADDON_PHASES: [(&str, &str); 2] = [(COREDNS, "addon/coredns"), (KUBE_PROXY, "addon/kube-proxy")];
const UNUSED_ID: &str = "unused.";
/// The kernel's random numbers, as a parameter.
const RANDOM: &str = "kernel/random/uuid";

/// `kubeadm init`, complete: nothing is left to decide when it runs.
#[derive(Clone, Debug)]
pub(crate) struct KubeadmInit {
    /// kubeadm's own file; it may hold a token.
    pub(crate) file: Secret<String>,
    /// What this kubeadm takes only on its command line.
    pub(crate) flags: Vec<String>,
    /// Proxy variables, which kubeadm copies into the static pods.
    pub(crate) environment: Variables,
    /// The addons that it creates, by their paths in the cluster.
    pub(crate) addons: Vec<&'static str>,
    /// The API version of that file, for people.
    pub(crate) api_version: String,
    /// The version of Kubernetes that it is written for.
    pub(crate) version: String,
    /// The container runtime's socket, for undoing an interrupted run.
    pub(crate) runtime_socket: String,
    /// The certificates directory, where it is not kubeadm's own.
    pub(crate) certificates: Option<String>,
    /// The directory of etcd's data.
    pub(crate) etcd_data: String,
    /// How long kubeadm may take.
    pub(crate) within: Duration,
}

/// How many files it writes by which it is known.
pub(crate) const FILES: usize = TRACES.len();

/// How many of them are there.
pub(crate) fn files_found(host: &dyn Inspect) -> host::Result<usize> {
    let mut found = 0;
    for trace in TRACES {
        found += usize::from(host.exists(trace)?);
    }
    Ok(found)
}

/// How much of it lies on the machine, without asking the cluster: `Unseen` is never the answer.
fn traces(host: &dyn Inspect) -> host::Result<Effect> {
    Ok(match files_found(host)? {
        0 => Effect::Absent,
        FILES => Effect::Done,
        _ => Effect::Partial,
    })
}

impl KubeadmInit {
    /// kubeadm's file with the secret of the unused token, which no plan knows.
    fn file_now(&self, host: &dyn Inspect) -> host::Result<String> {
        let file = self.file.expose().clone();
        if !file.contains(UNUSED_TOKEN) {
            return Ok(file);
        }
        let random: String = host.sysctl(RANDOM)?.unwrap_or_default().chars().filter(char::is_ascii_hexdigit).collect();
        // The digits between have a fixed meaning.
        let secret = (random.len() == 32).then(|| format!("{}{}", &random[..8], &random[24..]));
        let secret = secret.ok_or_else(|| host::Error::Unfit {
            what: "/proc/sys/kernel/random/uuid".to_owned(),
            why: "has no random number".to_owned(),
            advice: "mount /proc, then run machineadm again".to_owned(),
        })?;
        Ok(file.replace(UNUSED_TOKEN, &format!("{UNUSED_ID}{secret}")))
    }

    fn reset(&self, world: &mut World<'_>) -> host::Result<Undone> {
        let runtime_socket = Some(self.runtime_socket.as_str());
        scoped_reset(world, &ScopedReset { runtime_socket, ..ScopedReset::default() })?;
        Ok(Undone::Changed)
    }

    /// The flag of a run that is finished. With it kubeadm ignores `skipPhases` of its file, by which a kubeadm before v1beta4
    /// leaves addons out: it names them as well.
    fn without_preflight(&self) -> String {
        let skipped = ADDON_PHASES.iter().filter(|(object, _)| !self.addons.contains(object));
        let phases: Vec<&str> = std::iter::once("preflight").chain(skipped.map(|(_, phase)| *phase)).collect();
        format!("--skip-phases={}", phases.join(","))
    }
}

impl Act for KubeadmInit {
    fn name(&self) -> &str {
        ID
    }

    fn sort(&self) -> ActSort {
        ActSort::KubeadmInit
    }

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Its files, and then what it leaves in the cluster. The API server may be starting: only the kubelet starts it.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        if before_kubeadm::is_deleting(look.host)? {
            return Ok(Effect::Partial);
        }
        let traces = traces(look.host)?;
        if traces != Effect::Done {
            return Ok(traces);
        }
        let Some(admin) = look.host.file(ADMIN)? else { return Ok(Effect::Partial) };
        let kubelet_runs = || matches!(look.host.service("kubelet"), Ok(Service::Active));
        let patience = Patience { within: look.patience, while_true: &kubelet_runs };
        let objects: Vec<&str> = std::iter::once(KUBEADM_CONFIG).chain(self.addons.iter().copied()).collect();
        Ok(match look.cluster.has(admin.contents.expose(), &objects, &patience) {
            Ok(true) => Effect::Done,
            Ok(false) => Effect::Partial,
            Err(Unanswered(why)) => Effect::Unanswered(why),
        })
    }

    fn before_start(&self, world: &mut World<'_>) -> host::Result<()> {
        let elsewhere = CertificatesElsewhere::in_directory(self.certificates.as_deref());
        before_kubeadm::record(ID, elsewhere, world.host)?;
        etcd_data::record(&self.etcd_data, world.host)
    }

    /// The file goes, however kubeadm ends: it may hold a secret. Files that are there were left by an interrupted run, which
    /// is finished: kubeadm's preflight would refuse them.
    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let is_finished_on_top = files_found(world.host)? > 0;
        let (uid, gid) = world.host.default_owner();
        let contents = Secret::new(self.file_now(world.host)?.into_bytes());
        let file = FileState { contents, mode: 0o600, uid, gid };
        let path = KUBEADM_FILE.to_owned();
        let write =
            Change::WriteFile { path: path.clone(), block: None, was: None, file: file.clone(), confidential: true };
        world.host.ensure(&write)?;
        // The token that it makes for the next machines is not for a log.
        let mut argv = vec!["init", "--config", KUBEADM_FILE, "--skip-token-print"];
        argv.extend(self.flags.iter().map(String::as_str));
        let without_preflight = self.without_preflight();
        if is_finished_on_top {
            argv.push(&without_preflight);
        }
        let ended = kubeadm::run(&kubeadm::program(&argv, &self.environment, self.within), world);
        let removed = world.host.ensure(&Change::Remove { path, was: PathState::File(file) });
        Ok(ended.and(removed)?)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Partial
    }

    /// A cluster that others may have joined is finished instead. An undo that has started to delete has seen that there is
    /// none; but its etcd may have started again since.
    fn undo(&self, world: &mut World<'_>) -> Result<Undone, PlanError> {
        let certificates = self.certificates.as_deref().unwrap_or(CERTIFICATES);
        if before_kubeadm::is_deleting(world.host)? {
            let kubelet_runs = || matches!(world.host.service("kubelet"), Ok(Service::Active));
            let patience = Patience { within: world.patience, while_true: &kubelet_runs };
            if registered_since(certificates, &*world.host, world.cluster, &patience)?.member().is_none() {
                return Ok(self.reset(world)?);
            }
            end_undo(world.host)?;
        }
        match reason_to_keep(&certificates_elsewhere::of_etcd(certificates, world.host)?, world)? {
            Some(_) => Ok(Undone::Nothing),
            None => Ok(self.reset(world)?),
        }
    }

    fn shows(&self) -> String {
        format!("kubeadm {}, {}", self.version, self.api_version)
    }

    fn compares(&self, parts: &mut Parts) {
        // The addons, the directories and the time are in the file.
        let Self {
            file,
            flags,
            environment,
            addons: _,
            api_version,
            version,
            runtime_socket,
            certificates: _,
            etcd_data: _,
            within: _,
        } = self;
        parts.text("init").text(file.expose()).list(flags).text(api_version).text(version).text(runtime_socket);
        proxy_variables::compare(environment, parts);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Memory;

    fn act(file: &str) -> KubeadmInit {
        KubeadmInit {
            file: Secret::new(file.to_owned()),
            flags: Vec::new(),
            environment: Variables::new(),
            addons: Vec::new(),
            api_version: String::new(),
            version: String::new(),
            runtime_socket: String::new(),
            certificates: None,
            etcd_data: String::new(),
            within: Duration::ZERO,
        }
    }

    #[test]
    fn the_unused_token_gets_a_random_secret_when_kubeadm_runs() {
        let mut host = Memory::default();
        host.sysctls.insert(RANDOM.to_owned(), "0b1c2d3e-4f50-4a61-8b72-c3d4e5f60718".to_owned());
        let file = act(&format!("token: \"{UNUSED_TOKEN}\"\n")).file_now(&host).unwrap();
        assert_eq!(file, "token: \"unused.0b1c2d3ee5f60718\"\n");
    }

    #[test]
    fn without_random_numbers_there_is_no_token_and_a_file_without_one_needs_none() {
        let host = Memory::default();
        assert!(act(UNUSED_TOKEN).file_now(&host).is_err());
        assert_eq!(act("kind: X").file_now(&host).unwrap(), "kind: X");
    }
}
