//! A control plane node in memory, with an operator's own files, and an etcd that answers what it is told.
use crate::support::{FORWARDING, FakeRuntime, INIT, NoDownloads, PATIENCE, file, fresh, wanted};
use certs::{CertificateSet, FileName, Found};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use etcd::{Member, MemberId, Membership, Quorum, Role, Standing};
use host::{DirectoryState, Enablement, FileState, Memory, Played};
use machineadm_engine::{
    CertificateCopy, Cluster, Done, EtcdAccess, Failure, Mode, NodeWait, Patience, Prune, Run, ServerVersion,
    Unanswered, Wanted, World, bootstrap,
};
use serde_json::{Value, json};
use std::{cell::RefCell, collections::BTreeMap, time::Duration};

const MANIFEST: &str = "\
apiVersion: v1
kind: Pod
spec:
  containers:
  - command:
    - etcd
    - --advertise-client-urls=https://10.50.0.1:2379
    - --data-dir=/var/lib/etcd
    - --initial-advertise-peer-urls=https://10.50.0.1:2380
";
/// What etcd writes once it has started.
pub(crate) const DATA: &str = "/var/lib/etcd/member/snap/db";

/// The documents of a control plane node, with a file of its own in pki.
pub(crate) fn documents() -> Wanted {
    let files = "{files: [{path: /etc/motd, content: hello}, {path: /etc/hosts, block: a, content: 10.0.0.1 a}, \
         {path: /etc/kubernetes/pki/ca.crt, content: of the document}]}";
    wanted(&[FORWARDING, ("FilesConfig", "", files), INIT])
}

/// A machine with files of an operator below kubeadm's directories; its kubeadm does what the real one does there.
pub(crate) fn machine() -> Memory {
    let mut host = fresh();
    let secret = FileState { mode: 0o600, uid: 7, ..file("the operator's key") };
    host.files.insert("/etc/kubernetes/pki/own.key".into(), secret);
    host.files.insert("/etc/kubernetes/manifests/own.yaml".into(), file("the operator's pod"));
    host.files.insert("/etc/kubernetes/audit.yaml".into(), file("the operator's policy"));
    host.files
        .insert("/var/lib/kubelet/config.json".into(), FileState { mode: 0o600, ..file("a registry's password") });
    host.links.insert("/etc/kubernetes/pki/link".into(), "../elsewhere".into());
    host.directories.insert("/etc/kubernetes/pki".into(), DirectoryState { mode: 0o700, uid: 0, gid: 0 });
    for unit in ["kubelet.service", "containerd.service"] {
        host.enablement.insert(unit.into(), Enablement::Enabled);
    }
    host.services.insert("kubelet".into(), true);
    host.programs.insert("kubeadm init".into(), init());
    host.programs.insert("kubeadm reset".into(), reset());
    host
}

fn write(path: &str, text: &str) -> Played {
    Played::Write(path.into(), text.into())
}

/// The files of `kubeadm init`, in its order.
pub(crate) fn init() -> Vec<Played> {
    let pki = ["etcd/ca.crt", "etcd/healthcheck-client.crt", "etcd/healthcheck-client.key", "apiserver.key"];
    let pki = pki.map(|name| write(&format!("/etc/kubernetes/pki/{name}"), name));
    let manifest = |name: &str, text: &str| write(&format!("/etc/kubernetes/manifests/{name}.yaml"), text);
    let rest = [
        write("/etc/kubernetes/admin.conf", "the administrator's kubeconfig"),
        write("/etc/kubernetes/super-admin.conf", "k"),
        write("/etc/kubernetes/kubelet.conf", "users: [{name: 'system:node:cp1'}]"),
        write("/etc/kubernetes/controller-manager.conf", "k"),
        write("/etc/kubernetes/scheduler.conf", "k"),
        manifest("etcd", MANIFEST),
        manifest("kube-apiserver", "k"),
        manifest("kube-controller-manager", "k"),
        manifest("kube-scheduler", "k"),
        write("/var/lib/kubelet/config.yaml", "k"),
        write(DATA, "all of the cluster"),
    ];
    pki.into_iter().chain(rest).collect()
}

/// What the real program deletes, without its etcd phase.
fn reset() -> Vec<Played> {
    let names = ["pki/", "manifests/", "admin.conf", "kubelet.conf", "controller-manager.conf", "scheduler.conf"];
    let below = names.map(|name| Played::RemoveBelow(format!("/etc/kubernetes/{name}")));
    below.into_iter().chain([Played::RemoveBelow("/var/lib/kubelet/".into())]).collect()
}

/// A voter that answers.
pub(crate) fn member(number: u64) -> Member {
    Member {
        id: MemberId(number),
        name: format!("cp{number}"),
        peer_urls: vec![format!("https://10.50.0.{number}:2380")],
        client_urls: vec![format!("https://10.50.0.{number}:2379")],
        role: Role::Voter,
        standing: Standing::Answers,
    }
}

/// A cluster whose etcd and API server answer so.
pub(crate) struct FakeEtcd {
    pub(crate) has_objects: Result<bool, Unanswered>,
    pub(crate) members: RefCell<Result<Membership, Unanswered>>,
    pub(crate) nodes: Result<Vec<&'static str>, Unanswered>,
    /// The Nodes, as etcd has them.
    pub(crate) nodes_in_etcd: Result<Vec<&'static str>, Unanswered>,
    /// Whether a removal is done and then reported as failed, as if the power had failed in between.
    pub(crate) loses_removal: bool,
    /// The client URLs that were asked.
    pub(crate) asked: RefCell<Vec<String>>,
    /// The kubeconfigs by which its servers were looked for.
    pub(crate) kubeconfigs: RefCell<Vec<String>>,
}

impl FakeEtcd {
    /// One with these members, whose `kubeadm init` has finished.
    pub(crate) fn with(members: &[u64]) -> Self {
        let members = members.iter().map(|number| member(*number)).collect();
        Self {
            has_objects: Ok(true),
            members: RefCell::new(Ok(Membership { members, quorum: Quorum::Held })),
            nodes: Ok(vec!["cp1"]),
            nodes_in_etcd: Ok(vec!["cp1"]),
            loses_removal: false,
            asked: RefCell::default(),
            kubeconfigs: RefCell::default(),
        }
    }

    pub(crate) fn silent() -> Self {
        let silent = || Unanswered("connection refused".into());
        let members = RefCell::new(Err(silent()));
        Self { has_objects: Err(silent()), members, nodes: Err(silent()), ..Self::with(&[]) }
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.members.borrow().as_ref().map(|all| all.members.iter().map(|one| one.id.0).collect()).unwrap_or_default()
    }

    fn check(&self, access: &EtcdAccess) {
        assert_eq!(access.credentials.certificate, b"etcd/healthcheck-client.crt");
        assert_eq!(access.credentials.key.expose(), b"etcd/healthcheck-client.key");
        self.asked.borrow_mut().extend(access.endpoints.iter().cloned());
        let text = |bytes: &documents::Secret<Vec<u8>>| String::from_utf8_lossy(bytes.expose()).into_owned();
        self.kubeconfigs.borrow_mut().extend(access.kubeconfig.as_ref().map(text));
    }
}

impl Cluster for FakeEtcd {
    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        self.has_objects.clone()
    }
    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, machineadm_engine::PlanError> {
        panic!("nothing here discovers a cluster")
    }
    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("nothing here asks for networks")
    }
    fn delete(&self, _: &[u8], _: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        panic!("nothing here deletes an object")
    }
    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        panic!("nothing here asks for a version")
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
    fn object(&self, kubeconfig: &[u8], path: &str, _: &Patience<'_>) -> Result<Option<Value>, Unanswered> {
        assert_eq!((kubeconfig, path), (&b"the administrator's kubeconfig"[..], "/api/v1/nodes"));
        let item = |name: &&str| json!({"metadata": {"name": name}});
        self.nodes
            .as_ref()
            .map(|names| Some(json!({"items": names.iter().map(item).collect::<Vec<_>>()})))
            .map_err(Clone::clone)
    }
    fn members(&self, access: &EtcdAccess, patience: &Patience<'_>) -> Result<Membership, Unanswered> {
        assert!([PATIENCE, Duration::ZERO].contains(&patience.within));
        self.check(access);
        self.members.borrow().clone()
    }
    fn nodes_in_etcd(&self, access: &EtcdAccess) -> Result<Vec<String>, Unanswered> {
        self.check(access);
        self.nodes_in_etcd.as_ref().map(|names| names.iter().map(ToString::to_string).collect()).map_err(Clone::clone)
    }
    fn remove_member(&self, access: &EtcdAccess, member: &Member) -> Result<(), Unanswered> {
        self.check(access);
        let mut members = self.members.borrow_mut();
        let membership = members.as_mut().expect("etcd answers");
        assert!(membership.members.iter().any(|one| one.id == member.id), "{member:?} is a member");
        membership.members.retain(|one| one.id != member.id);
        match self.loses_removal {
            true => Err(Unanswered("the connection was lost".into())),
            false => Ok(()),
        }
    }
}

/// All that a test acts on.
pub(crate) fn world<'a>(host: &'a mut Memory, cluster: &'a FakeEtcd) -> World<'a> {
    const RUNTIME: &FakeRuntime = &FakeRuntime(None);
    World { host, cluster, runtime: RUNTIME, downloads: &NoDownloads, patience: PATIENCE }
}

/// Runs documents, with a container runtime that answers.
pub(crate) fn run(wanted: &Wanted, host: &mut Memory, cluster: &FakeEtcd) -> Result<Done, Failure> {
    let run = Run {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let runtime = FakeRuntime::running();
    bootstrap(&run, &mut World { runtime: &runtime, ..world(host, cluster) }, &mut |_| ())
}
