//! A control plane node in memory, with a fake kubelet and API server: tests say which pod runs, and whether it fails.
use crate::support::{FakeRuntime, NoDownloads, PATIENCE, file, fresh};
use certs::{CertificateSet, FileName, Found};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use documents::Secret;
use host::{Host, Memory, Progress, Renderer};
use kubeadm::static_pod::ADVERTISED;
use machineadm_engine::{
    ApiServerPod, ApiServerWait, Ask, CertificateCopy, Checks, Cluster, Done, Failure, Manifests, Mode, NodeWait,
    Patience, Preview, Prune, Replacement, Run, ServerVersion, Unanswered, Wanted, World, bootstrap, preview,
};
use serde_json::{Value, json};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

pub(super) const MANIFEST: &str = "/etc/kubernetes/manifests/kube-apiserver.yaml";
pub(super) const MAP: &str = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
pub(super) const RECORD: &str = "/var/lib/machineadm/control-plane-change.json";
const CLUSTER: &str = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.4\n";
const ADMIN: &str =
    "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://lb.example:6443'}}]\n";
const ADDRESS: &str = "10.0.0.1:6443";

/// What a kubeadm would render: the arguments and volumes of the ClusterConfiguration, and the image of its version.
fn rendered(rendering: &host::Rendering) -> Result<String, String> {
    assert_eq!(rendering.argv[..5], ["kubeadm", "init", "phase", "control-plane", "apiserver"], "{rendering:?}");
    assert_eq!(rendering.environment["KUBEADM_INIT_DRYRUN_DIR"].expose(), "{directory}");
    let (node, cluster) = rendering.input.expose().split_once("---\n").ok_or("one document")?;
    let [node, cluster] = [node, cluster].map(|text| objects::yaml::value(text).map_err(|error| error.to_string()));
    let (node, cluster) = (node?, cluster?);
    let endpoint = &node["localAPIEndpoint"];
    let advertised = format!("{}:{}", endpoint["advertiseAddress"].as_str().unwrap_or_default(), endpoint["bindPort"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let flags = list(&cluster["apiServer"]["extraArgs"]);
    let is_set = |name: &str| flags.iter().any(|arg| arg["name"] == name);
    let defaults = [
        ("authorization-mode", "Node,RBAC", "authorization-config"),
        ("enable-admission-plugins", "NodeRestriction", "enable-admission-plugins"),
    ];
    let defaults = defaults.into_iter().filter(|(_, _, other)| !is_set(other));
    let defaults = defaults.map(|(name, value, _)| format!("    - --{name}={value}\n"));
    let set = flags.iter().map(|arg| format!("    - --{}={}\n", text(&arg["name"]), text(&arg["value"])));
    let flags = defaults.chain(set);
    let volumes = list(&cluster["apiServer"]["extraVolumes"]);
    let volumes = volumes.iter().map(|volume| format!("  - name: {}\n", text(&volume["name"])));
    let version = text(&cluster["kubernetesVersion"]);
    Ok(format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    {ADVERTISED}: {advertised}\nspec:\n  containers:\n  - command:\n    \
         - kube-apiserver\n{}    image: kube-apiserver:{version}\n  volumes:\n{}",
        flags.collect::<String>(),
        volumes.collect::<String>() + "  - name: pki\n"
    ))
}

/// A control plane node that kubeadm made, without a ControlPlaneConfig.
pub(super) fn node() -> Memory {
    let mut host = Memory { renderer: Renderer(rendered), ..fresh() };
    let rendering = host::Rendering {
        argv: ["kubeadm", "init", "phase", "control-plane", "apiserver"].map(str::to_owned).to_vec(),
        environment: [("KUBEADM_INIT_DRYRUN_DIR".to_owned(), Secret::new("{directory}".to_owned()))].into(),
        input: Secret::new(format!("localAPIEndpoint: {{advertiseAddress: 10.0.0.1, bindPort: 6443}}\n---\n{CLUSTER}")),
        output: String::new(),
        within: Duration::ZERO,
    };
    let manifest = rendered(&rendering).unwrap();
    let mut manifest = file(&manifest);
    manifest.mode = 0o600;
    host.files.insert(MANIFEST.to_owned(), manifest);
    host.files.insert("/etc/kubernetes/admin.conf".to_owned(), file(ADMIN));
    host.files.insert("/etc/kubernetes/pki/sa.key".to_owned(), file("key"));
    host.note("kubeadm init", Progress::Ended).unwrap();
    host
}

/// The cluster of that node, alone.
pub(super) struct FakeControlPlane {
    /// kubeadm-config.
    pub(super) map: RefCell<Value>,
    /// Why the API server does not become ready by a manifest that is not the first.
    pub(super) fails: RefCell<Option<String>>,
    /// The hash of the pod that runs.
    pub(super) running: RefCell<String>,
    /// Whether the API server does not answer.
    pub(super) is_silent: Cell<bool>,
    /// What is written into kubeadm-config by another client just before machineadm writes it.
    pub(super) other_client: Cell<bool>,
    /// Whether another client writes it while the new API server is waited for.
    pub(super) writes_meanwhile: Cell<bool>,
    /// What was waited for.
    pub(super) waits: RefCell<Vec<String>>,
}

impl FakeControlPlane {
    pub(super) fn new() -> Self {
        let map = json!({
            "metadata": {"name": "kubeadm-config", "resourceVersion": "1"},
            "data": {"ClusterConfiguration": CLUSTER},
        });
        Self {
            map: RefCell::new(map),
            fails: RefCell::default(),
            running: RefCell::new("old".to_owned()),
            is_silent: Cell::default(),
            other_client: Cell::default(),
            writes_meanwhile: Cell::default(),
            waits: RefCell::default(),
        }
    }

    /// The ClusterConfiguration in kubeadm-config.
    pub(super) fn configuration(&self) -> String {
        self.map.borrow()["data"]["ClusterConfiguration"].as_str().unwrap().to_owned()
    }

    fn answers(&self) -> Result<(), Unanswered> {
        if self.is_silent.get() { Err(Unanswered("connection refused".to_owned())) } else { Ok(()) }
    }

    /// Another client changes kubeadm-config.
    fn write_otherwise(&self) {
        let mut other = self.map.borrow().clone();
        other["data"]["other"] = "changed".into();
        self.write(&other);
    }

    fn write(&self, object: &Value) {
        let mut map = self.map.borrow_mut();
        let version: u64 = map["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        *map = object.clone();
        map["metadata"]["resourceVersion"] = (version + 1).to_string().into();
    }
}

impl Cluster for FakeControlPlane {
    fn object(&self, kubeconfig: &[u8], path: &str, _: &Patience<'_>) -> Result<Option<Value>, Unanswered> {
        assert_eq!((path, kubeconfig), (MAP, ADMIN.as_bytes()));
        self.answers()?;
        Ok(Some(self.map.borrow().clone()))
    }

    fn replace(&self, kubeconfig: &[u8], path: &str, object: &Value) -> Result<Replacement, Unanswered> {
        assert_eq!((path, kubeconfig), (MAP, ADMIN.as_bytes()));
        self.answers()?;
        if self.other_client.take() {
            self.write_otherwise();
        }
        if self.map.borrow()["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"] {
            return Ok(Replacement::Conflict);
        }
        self.write(object);
        Ok(Replacement::Done)
    }

    fn api_server_pod(
        &self,
        kubeconfig: &[u8],
        advertised: &str,
        _: &Patience<'_>,
    ) -> Result<Option<ApiServerPod>, Unanswered> {
        assert!(String::from_utf8_lossy(kubeconfig).contains(&format!("https://{ADDRESS}")), "this node's own server");
        assert_eq!(advertised, ADDRESS);
        self.answers()?;
        Ok(Some(ApiServerPod { hash: self.running.borrow().clone(), is_ready: true }))
    }

    fn wait_for_api_server(&self, kubeconfig: &[u8], wait: &ApiServerWait<'_>) -> Result<(), Unanswered> {
        assert!(String::from_utf8_lossy(kubeconfig).contains(&format!("https://{ADDRESS}")), "this node's own server");
        self.waits.borrow_mut().push(format!("{:?}", wait.hash));
        if self.writes_meanwhile.take() {
            self.write_otherwise();
        }
        if !(wait.patience.while_true)() {
            return Err(Unanswered("the new pod has failed".to_owned()));
        }
        match (self.fails.borrow().clone(), wait.hash.accepts("old")) {
            (Some(why), false) => Err(Unanswered(why)),
            _ => {
                self.is_silent.set(false);
                Ok(())
            }
        }
    }

    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        panic!("nothing here looks for objects")
    }
    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, machineadm_engine::PlanError> {
        panic!("nothing here discovers a cluster")
    }
    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("nothing here needs networks")
    }
    fn delete(&self, _: &[u8], _: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        panic!("nothing here deletes an object")
    }
    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        panic!("nothing here needs a version")
    }
    fn wait_for_node(&self, _: &[u8], _: &NodeWait<'_>) -> Result<(), Unanswered> {
        panic!("nothing here waits for a Node")
    }
    fn live_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        panic!("nothing here copies certificates")
    }
    fn upload_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: BTreeMap<FileName, Found>,
    ) -> Result<(), machineadm_engine::PlanError> {
        panic!("nothing here copies certificates")
    }
    fn download_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &CaBundle,
    ) -> Result<CertificateSet, machineadm_engine::PlanError> {
        panic!("nothing here copies certificates")
    }
}

pub(super) fn post(
    wanted: &Wanted,
    manifests: Manifests,
    host: &mut Memory,
    cluster: &FakeControlPlane,
) -> Result<Done, Failure> {
    run(&Run { mode: Mode::Post, wanted, prune: Prune::List, manifests, reviewed: None }, host, cluster)
}

pub(super) fn run(run: &Run<'_>, host: &mut Memory, cluster: &FakeControlPlane) -> Result<Done, Failure> {
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    bootstrap(run, world, &mut |_| ())
}

pub(super) fn plan(wanted: &Wanted, host: &Memory, cluster: &FakeControlPlane) -> Result<Preview, Failure> {
    let ask = Ask {
        mode: Mode::Post,
        wanted,
        prune: Prune::List,
        manifests: Manifests::Respected,
        checks: Checks::Executed,
        patience: PATIENCE,
    };
    preview(&ask, host, cluster, &FakeRuntime::running())
}
