//! `kubeadm join`: this machine becomes a worker of a cluster that was discovered. What a control plane node needs besides
//! is in `kubeadm_join_control_plane.rs`.
//!
//! What a run finds on the machine decides what it needs, not where kubeadm was interrupted: the order of kubeadm's phases
//! differs between minor versions.
//!
//! | credentials of the kubelet | kubeadm's other files | what it needs |
//! |---|---|---|
//! | valid | any | never `kubeadm join` again: start the kubelet, wait for the Node, delete `bootstrap-kubelet.conf` |
//! | none, expired or of another CA | some | stop the kubelet, wait until the Node is not Ready, delete the files, `kubeadm join` |
//! | none, expired or of another CA | none | `kubeadm join` |
use super::{
    Act, AfterFailure, Effect, Sort, Undone, kubeadm,
    proxy_variables::{self, Variables, host_of},
};
use crate::{
    Fault, Look, Patience, PlanError, Unanswered, World, before_kubeadm,
    certificates_elsewhere::CertificatesElsewhere,
    fingerprint::Parts,
    look::{NodeCondition, NodeWait},
    phases::{
        control_plane_traces::ControlPlaneTraces,
        worker::{BOOTSTRAP_KUBECONFIG, CA_CERTIFICATE, KUBELET_KUBECONFIG, Worker},
    },
};
use base64::{Engine, prelude::BASE64_STANDARD};
use discovery::{BootstrapToken, ClusterInfo};
use documents::{Secret, v1alpha1::Repeat};
use host::{
    Change, FileState, Host, PathState, Progress, Service, UnitAction,
    contract::{DISCOVERY_FILE, KUBEADM_FILE, KUBELET_PATCH},
};
use outcome::ActSort;
use serde_json::json;
use std::time::Duration;

/// The journal id. A machine joins one cluster: unfinished work is ours, whatever the configuration says by now.
pub(crate) const ID: &str = ActSort::KubeadmJoin.id();

/// How long a kubelet with a certificate may take to register its Node.
const REGISTERED: Duration = Duration::from_secs(180);
/// How long a Node may stay Ready after its kubelet has stopped; usually some 50 s.
const NOT_READY: Duration = Duration::from_secs(120);
const KUBELET: &str = "kubelet.service";

pub(super) const SORT: Sort = Sort {
    sort: ActSort::KubeadmJoin,
    left_behind: |id, look| {
        // Of a control plane node, kubeadm writes static pods before anything of the kubelet.
        let is_left = ControlPlaneTraces::on(look.host)?.are_any() || before_kubeadm::is_deleting(look.host)?;
        Ok(is_left.then(|| {
            format!(
                "{id} was started and did not finish, and this configuration no longer has it; run \"machineadm reset\", \
                 then run machineadm again"
            )
        }))
    },
};

/// `kubeadm join`, complete but for the cluster, which discovery finds just before.
#[derive(Clone, Debug)]
pub(crate) struct KubeadmJoin {
    /// kubeadm's own file; it names the kubeconfig that is written from what was discovered.
    pub(crate) file: Secret<String>,
    /// What this kubeadm takes only on its command line.
    pub(crate) flags: Vec<String>,
    /// Proxy variables.
    pub(crate) environment: Variables,
    /// Members of the kubelet's configuration for this node alone, as JSON.
    pub(crate) kubelet: Option<Secret<String>>,
    /// The API version of kubeadm's file, for people.
    pub(crate) api_version: String,
    /// The version of the machine's kubeadm.
    pub(crate) version: String,
    /// Where the cluster is looked for, for people.
    pub(crate) endpoints: String,
    /// How the document asks to discover, so that a reviewed plan can compare it.
    pub(crate) discovery: Secret<String>,
    /// The node's name.
    pub(crate) node: String,
    /// The discovered cluster; a preview has none.
    pub(crate) cluster: Option<ClusterInfo>,
    /// The token that requests the certificate; none where it is in a file that was not read.
    pub(crate) token: Option<BootstrapToken>,
    /// How long kubeadm may take.
    pub(crate) within: Duration,
}

/// A file for kubeadm: its path and its content.
type OwnFile = (&'static str, Secret<Vec<u8>>);

impl KubeadmJoin {
    /// The kubeconfig for kubeadm. With the token in it, kubeadm's own request works where anonymous access is off.
    pub(super) fn kubeconfig(&self) -> host::Result<Secret<Vec<u8>>> {
        let unknown = || host::Error::Unfit {
            what: "kubeadm join".to_owned(),
            why: "the cluster was not discovered".to_owned(),
            advice: "run machineadm again".to_owned(),
        };
        let (cluster, token) = (self.cluster.as_ref().ok_or_else(unknown)?, self.token.as_ref().ok_or_else(unknown)?);
        Ok(bootstrap_kubeconfig(cluster, token))
    }

    fn files(&self) -> host::Result<Vec<OwnFile>> {
        let bytes = |text: &Secret<String>| Secret::new(text.expose().clone().into_bytes());
        let mut files = vec![(DISCOVERY_FILE, self.kubeconfig()?), (KUBEADM_FILE, bytes(&self.file))];
        files.extend(self.kubelet.as_ref().map(|patch| (KUBELET_PATCH, bytes(patch))));
        Ok(files)
    }

    /// kubeadm's variables. Only a cluster knows its networks; one that does not answer now fails kubeadm too, which
    /// reports why.
    fn environment(&self, world: &World<'_>) -> Variables {
        let (Some(cluster), false) = (&self.cluster, self.environment.is_empty()) else { return Variables::new() };
        let networks = self.kubeconfig().ok().and_then(|kubeconfig| {
            let patience = Patience { within: world.patience, while_true: &|| false };
            world.cluster.networks(kubeconfig.expose(), &patience).ok()
        });
        let server = cluster.server().trim_start_matches("https://").trim_end_matches('/');
        let destinations: Vec<_> = std::iter::once(host_of(server)).chain(networks.unwrap_or_default()).collect();
        proxy_variables::without_proxy_to(&self.environment, &destinations)
    }

    /// The files go, however kubeadm ends: they hold the token.
    pub(super) fn join(&self, world: &mut World<'_>) -> host::Result<()> {
        let files = self.files()?;
        let written =
            files.iter().try_for_each(|(path, contents)| world.host.ensure(&write(path, contents, world.host)));
        let mut argv = vec!["join", "--config", KUBEADM_FILE];
        argv.extend(self.flags.iter().map(String::as_str));
        let environment = self.environment(world);
        let ended = written.and_then(|()| kubeadm::run(&kubeadm::program(&argv, &environment, self.within), world));
        let removed = files.iter().try_for_each(|(path, _)| remove(path, world.host));
        ended.and(removed)
    }

    /// A kubelet that has its certificate registers by itself.
    pub(super) fn finish(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        if world.host.service("kubelet")? != Service::Active {
            unit(UnitAction::Start, world.host)?;
        }
        let kubeconfig = world.host.file(KUBELET_KUBECONFIG)?.map(|file| file.contents);
        let kubeconfig = kubeconfig.unwrap_or_else(|| Secret::new(Vec::new()));
        let wait = NodeWait { node: &self.node, condition: NodeCondition::Registered, within: REGISTERED };
        let registered = world.cluster.wait_for_node(kubeconfig.expose(), &wait);
        let unregistered = |Unanswered(why)| host::Error::Unfit {
            what: format!("node {}", self.node),
            why: format!("the kubelet has its certificate, and the API server has no Node for it: {why}"),
            advice: "check the kubelet: journalctl -u kubelet; then run machineadm again".to_owned(),
        };
        registered.map_err(unregistered).map_err(PlanError::known(Fault::NoNode))?;
        Ok(remove(BOOTSTRAP_KUBECONFIG, world.host)?)
    }

    /// kubeadm refuses to join while a Node of this name is Ready, which that of a stopped kubelet is for most of a minute.
    pub(super) fn wait_until_not_ready(&self, kubeconfig: &[u8], world: &World<'_>) -> Result<(), PlanError> {
        let wait = NodeWait { node: &self.node, condition: NodeCondition::NotReady, within: NOT_READY };
        let still_ready = |Unanswered(why)| host::Error::Unfit {
            what: format!("node {}", self.node),
            why: format!("kubeadm refuses to join while this Node is Ready: {why}"),
            advice: "check that no other machine has this name; then run machineadm again".to_owned(),
        };
        let waited = world.cluster.wait_for_node(kubeconfig, &wait);
        waited.map_err(still_ready).map_err(PlanError::known(Fault::NodeName))
    }
}

impl Act for KubeadmJoin {
    fn name(&self) -> &str {
        ID
    }

    fn sort(&self) -> ActSort {
        ActSort::KubeadmJoin
    }

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Joined means: the kubelet has a valid certificate, and the API server has a Node for it. The kubelet writes its
    /// kubeconfig before it has a certificate, so that the file alone shows nothing.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let worker = Worker::seen(look)?;
        let Some(kubeconfig) = worker.credentials() else {
            // A kubeadm that gives up on the kubelet takes the bootstrap kubeconfig away and leaves the CA certificates,
            // with which it refuses to start again. Those of others are for preflight to refuse.
            let is_ours = look.host.progress(ID)? != Progress::New;
            let is_left = worker.has_traces() || is_ours && look.host.exists(CA_CERTIFICATE)?;
            return Ok(if is_left { Effect::Partial } else { Effect::Absent });
        };
        let patience = Patience { within: look.patience, while_true: &|| true };
        Ok(match look.cluster.has(kubeconfig, &[&format!("/api/v1/nodes/{}", self.node)], &patience) {
            Ok(true) if !worker.has_bootstrap_kubeconfig() => Effect::Done,
            Ok(_) => Effect::Partial,
            Err(Unanswered(why)) => Effect::Unanswered(why),
        })
    }

    fn before_start(&self, world: &mut World<'_>) -> host::Result<()> {
        before_kubeadm::record(ID, CertificatesElsewhere::default(), world.host)
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        match Worker::on(world.host)?.credentials() {
            Some(_) => self.finish(world),
            None => Ok(self.join(world)?),
        }
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Partial
    }

    /// Deletes what kubeadm's preflight would refuse, and nothing else. While the kubelet runs its bootstrap kubeconfig
    /// stays: without it the kubelet could never get a certificate.
    fn undo(&self, world: &mut World<'_>) -> Result<Undone, PlanError> {
        if Worker::on(world.host)?.credentials().is_some() {
            return Ok(Undone::Nothing);
        }
        if world.host.service("kubelet")? == Service::Active {
            unit(UnitAction::Stop, world.host)?;
        }
        self.wait_until_not_ready(self.kubeconfig()?.expose(), world)?;
        for path in [KUBELET_KUBECONFIG, BOOTSTRAP_KUBECONFIG, CA_CERTIFICATE] {
            remove(path, world.host)?;
        }
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        format!("{}, kubeadm {}, {}", self.endpoints, self.version, self.api_version)
    }

    fn compares(&self, parts: &mut Parts) {
        let Self { file, flags, environment, kubelet, .. } = self;
        let Self { api_version, version, endpoints: _, discovery, node, cluster: _, token, within: _, .. } = self;
        parts.text("join").text(file.expose()).list(flags).text(api_version).text(version).text(node);
        parts.text(discovery.expose()).maybe(kubelet.as_ref().map(|patch| patch.expose().as_str()));
        proxy_variables::compare(environment, parts);
        parts.maybe(token.as_ref().map(BootstrapToken::expose).as_ref().map(|token| token.as_str()));
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

/// A kubeconfig of a discovered cluster with a bootstrap token. It names its cluster: kubeadm refuses one without a name
/// beside users.
pub(crate) fn bootstrap_kubeconfig(cluster: &ClusterInfo, token: &BootstrapToken) -> Secret<Vec<u8>> {
    let mut entry = json!({"server": cluster.server()});
    if !cluster.roots().is_empty() {
        entry["certificate-authority-data"] = BASE64_STANDARD.encode(cluster.roots().pem()).into();
    }
    if let Some(name) = cluster.tls_server_name() {
        entry["tls-server-name"] = name.into();
    }
    let text = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kubernetes", "cluster": entry}],
        "contexts": [{"name": "join", "context": {"cluster": "kubernetes", "user": "bootstrap-token"}}],
        "current-context": "join",
        "users": [{"name": "bootstrap-token", "user": {"token": token.expose().as_str()}}],
    });
    Secret::new(text.to_string().into_bytes())
}

pub(super) fn write(path: &str, contents: &Secret<Vec<u8>>, host: &dyn Host) -> Change {
    let (uid, gid) = host.default_owner();
    let file = FileState { contents: contents.clone(), mode: 0o600, uid, gid };
    Change::WriteFile { path: path.to_owned(), block: None, was: None, file, confidential: true }
}

pub(super) fn remove(path: &str, host: &mut dyn Host) -> host::Result<()> {
    match host.state_at(path)? {
        PathState::Absent => Ok(()),
        was => host.ensure(&Change::Remove { path: path.to_owned(), was }),
    }
}

pub(super) fn unit(action: UnitAction, host: &mut dyn Host) -> host::Result<()> {
    let was = host.unit(KUBELET)?;
    host.ensure(&Change::Unit { name: KUBELET.to_owned(), action, was })
}
