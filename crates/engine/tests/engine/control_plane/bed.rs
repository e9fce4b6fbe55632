//! A machine in memory, and a cluster with a control plane that it can join.
use crate::{
    pem_set::{PemSet, authority},
    support::{FORWARDING, FakeRuntime, NoDownloads, PATIENCE, file, fresh, wanted},
};
use certs::{
    CertificateSet, Etcd, FileName, FileSet, Found, check_download,
    client_certificate::{ClientCertificate, Subject},
};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use documents::Secret;
use etcd::{Member, MemberId, Membership, Quorum, Role, Standing};
use host::{Host, Memory, Played, Progress};
use jiff::Timestamp;
use kubeadm::hub::ClusterConfiguration;
use machineadm_engine::{
    Ask, CertificateCopy, Checks, Cluster, Done, EtcdAccess, Event, Failure, MemberQuestion, Mode, NodeCondition,
    NodeWait, Patience, PlanError, Preview, Prune, ResetPlan, ResetRequest, ResetScope, Run, ServerVersion, Unanswered,
    Wanted, World, bootstrap, preview, reset,
};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    path::PathBuf,
    sync::LazyLock,
    time::Duration,
};

pub(super) const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
pub(super) const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
pub(super) const PKI: &str = "/etc/kubernetes/pki";
pub(super) const ADMIN: &str = "/etc/kubernetes/admin.conf";
pub(super) const KUBELET: &str = "/etc/kubernetes/kubelet.conf";
pub(super) const BOOTSTRAP: &str = "/etc/kubernetes/bootstrap-kubelet.conf";
pub(super) const CERTIFICATE: &str = "/var/lib/kubelet/pki/kubelet-client-current.pem";
pub(super) const DATA: &str = "/var/lib/etcd/member/snap/db";
pub(super) const ETCD: &str = "/etc/kubernetes/manifests/etcd.yaml";
pub(super) const STATIC_PODS: [&str; 3] = [
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    "/etc/kubernetes/manifests/kube-controller-manager.yaml",
    "/etc/kubernetes/manifests/kube-scheduler.yaml",
];
pub(super) const OWN: &str = "https://10.0.0.2:2380";

pub(super) static SET: LazyLock<PemSet> = LazyLock::new(PemSet::new);

pub(super) fn roots() -> CaBundle {
    SET.ca()
}

/// Another CA certificate for the same key.
pub(super) fn renewed_roots() -> CaBundle {
    let mut params = authority();
    params.not_after = date_time_ymd(2999, 1, 1);
    let renewed = params.self_signed(&KeyPair::from_pem(SET.ca_key()).unwrap()).unwrap();
    CaBundle::read(renewed.pem().into_bytes()).unwrap()
}

/// The certificate that the cluster gives the kubelet of a node.
pub(super) fn client(node: &str) -> String {
    let issuer = Issuer::new(authority(), KeyPair::from_pem(SET.ca_key()).unwrap());
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("system:node:{node}"));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(3000, 1, 1));
    params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap().pem()
}

pub(super) fn kubeconfig() -> String {
    kubeconfig_of(&roots())
}

pub(super) fn kubeconfig_of(cluster: &CaBundle) -> String {
    let data = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, cluster.pem());
    format!("clusters:\n- cluster: {{certificate-authority-data: {data}}}\n")
}

pub(super) fn manifest() -> String {
    format!(
        "spec:\n  containers:\n  - command:\n    - etcd\n    - --advertise-client-urls=https://10.0.0.2:2379\n    - \
         --data-dir=/var/lib/etcd\n    - --initial-advertise-peer-urls={OWN}\n"
    )
}

pub(super) fn member(number: u8, role: Role, standing: Standing) -> Member {
    let (name, client_urls) = match standing {
        Standing::NotStarted => (String::new(), Vec::new()),
        _ => (format!("cp{number}"), vec![format!("https://10.0.0.{number}:2379")]),
    };
    let peer_urls = vec![format!("https://10.0.0.{number}:2380")];
    Member { id: MemberId(number.into()), name, peer_urls, client_urls, role, standing }
}

pub(super) fn voter(number: u8) -> Member {
    member(number, Role::Voter, Standing::Answers)
}

pub(super) fn learner(number: u8) -> Member {
    member(number, Role::Learner, Standing::NotStarted)
}

/// A cluster with a control plane that can be joined. It checks whatever it is asked, and keeps what it was told to do.
pub(super) struct FakeCluster {
    pub(super) members: RefCell<Vec<Member>>,
    pub(super) quorum: RefCell<Quorum>,
    /// Whether etcd answers.
    pub(super) is_silent: Cell<bool>,
    /// Whether etcd refuses to remove a member.
    pub(super) keeps_members: Cell<bool>,
    pub(super) configuration: ClusterConfiguration,
    /// Where etcd runs.
    pub(super) etcd: Etcd,
    /// Whether it has the objects that other nodes ask for.
    pub(super) objects: Cell<Option<bool>>,
    /// The Node cp2.
    pub(super) node: RefCell<Option<Value>>,
    pub(super) events: RefCell<Vec<String>>,
}

impl FakeCluster {
    pub(super) fn of(members: Vec<Member>) -> Self {
        Self {
            members: RefCell::new(members),
            quorum: RefCell::new(Quorum::Held),
            is_silent: Cell::new(false),
            keeps_members: Cell::new(false),
            configuration: ClusterConfiguration {
                control_plane_endpoint: Some("10.0.0.1:6443".into()),
                kubernetes_version: Some("v1.36.4".into()),
                ..ClusterConfiguration::default()
            },
            etcd: Etcd::Stacked,
            objects: Cell::new(None),
            node: RefCell::new(None),
            events: RefCell::default(),
        }
    }

    pub(super) fn did(&self, event: &str) -> bool {
        self.events.borrow().iter().any(|done| done == event)
    }
}

impl Cluster for FakeCluster {
    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        Ok(self.objects.get().expect("a control plane node is looked at whole"))
    }

    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("there is no proxy")
    }

    fn delete(&self, _: &[u8], object: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        let name = object.strip_prefix("/api/v1/nodes/").expect("a Node");
        self.events.borrow_mut().push(format!("delete node {name}"));
        if name == "cp2" {
            *self.node.borrow_mut() = None;
        }
        Ok(())
    }

    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, PlanError> {
        self.events.borrow_mut().push("discover".into());
        Ok(ClusterInfo::new("https://10.0.0.1:6443".into(), roots(), None).unwrap())
    }

    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        Ok(ServerVersion { version: "v1.36.4".into(), skew: None })
    }

    fn wait_for_node(&self, _: &[u8], wait: &NodeWait<'_>) -> Result<(), Unanswered> {
        assert_eq!(wait.node, "cp2");
        if wait.condition == NodeCondition::NotReady {
            let is_ready = self.node.borrow().as_ref().is_some_and(|node| *node == ready());
            return if is_ready { Err(Unanswered("it is still Ready".into())) } else { Ok(()) };
        }
        self.events.borrow_mut().push("wait for node".into());
        Ok(())
    }

    fn live_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        panic!("a joining machine uploads nothing")
    }

    fn upload_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: BTreeMap<FileName, Found>) -> Result<(), PlanError> {
        panic!("a joining machine uploads nothing")
    }

    fn download_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        roots: &CaBundle,
    ) -> Result<CertificateSet, PlanError> {
        assert!(String::from_utf8_lossy(kubeconfig).contains(TOKEN), "with the rights of a bootstrap token");
        assert_eq!(copy.key.expose_digits().as_str(), KEY);
        let mut found = SET.found();
        for (of_etcd, stacked) in [
            (FileName::ExternalEtcdCaCertificate, FileName::EtcdCaCertificate),
            (FileName::ExternalEtcdCertificate, FileName::EtcdCaCertificate),
            (FileName::ExternalEtcdKey, FileName::EtcdCaKey),
        ] {
            found.insert(of_etcd, found[&stacked].clone());
        }
        Ok(check_download(copy.files, found, roots, Timestamp::now()).expect("the cluster's own set"))
    }

    fn object(&self, _: &[u8], path: &str, _: &Patience<'_>) -> Result<Option<Value>, Unanswered> {
        match path {
            "/api/v1/nodes/cp2" => Ok(self.node.borrow().clone()),
            "/api/v1/namespaces/kube-system/secrets/kubeadm-certs" => Ok(Some(Value::Null)),
            _ => panic!("{path}"),
        }
    }

    fn configuration(
        &self,
        kubeconfig: &[u8],
        _: &Patience<'_>,
    ) -> Result<Option<Box<ClusterConfiguration>>, Unanswered> {
        assert!(String::from_utf8_lossy(kubeconfig).contains(TOKEN), "with the rights of a bootstrap token");
        Ok(Some(Box::new(self.configuration.clone())))
    }

    fn certs_layout(&self, _: &[u8], _: &Patience<'_>) -> Result<Option<(PathBuf, FileSet)>, Unanswered> {
        Ok(Some((PKI.into(), FileSet::new(&self.etcd))))
    }

    fn members(&self, access: &EtcdAccess, _: &Patience<'_>) -> Result<Membership, Unanswered> {
        let is_known = access.kubeconfig.is_some() || !access.endpoints.is_empty();
        assert!(is_known, "the cluster says where its etcd is, or the manifest of this machine");
        match self.is_silent.get() {
            true => Err(Unanswered("connection refused".into())),
            false => {
                let (members, quorum) = (self.members.borrow().clone(), self.quorum.borrow().clone());
                Ok(Membership { members, quorum })
            }
        }
    }

    fn remove_member(&self, _: &EtcdAccess, member: &Member) -> Result<(), Unanswered> {
        if self.keeps_members.get() {
            return Err(Unanswered("etcdserver: unhealthy cluster".into()));
        }
        self.events.borrow_mut().push(format!("remove {}", member.id));
        self.members.borrow_mut().retain(|other| other.id != member.id);
        Ok(())
    }

    fn issue(
        &self,
        authority: &[u8],
        key: &Secret<Vec<u8>>,
        subject: Subject,
    ) -> Result<ClientCertificate, Unanswered> {
        let files = SET.on_a_node(PKI);
        let name = if subject.name == "kubernetes-admin" { "ca" } else { "etcd/ca" };
        let content = |suffix: &str| files[&format!("{PKI}/{name}.{suffix}")].contents.expose().clone();
        assert_eq!((authority, key.expose()), (&content("crt")[..], &content("key")));
        let group = (name == "ca").then_some("kubeadm:cluster-admins");
        assert_eq!(subject.group, group);
        Ok(ClientCertificate { certificate: b"issued".to_vec(), key: Secret::new(b"issued key".to_vec()) })
    }
}

pub(super) fn joining() -> Wanted {
    joining_with(&format!("{{certificateKey: {KEY}}}"))
}

pub(super) fn joining_with(control_plane: &str) -> Wanted {
    let token = format!("{{endpoints: ['10.0.0.1:6443'], token: {TOKEN}, unsafeWithoutCAPins: true}}");
    let spec = format!("{{nodeName: cp2, discovery: {{token: {token}}}, controlPlane: {control_plane}}}");
    wanted(&[FORWARDING, ("JoinConfig", "further", &spec)])
}

/// With whatever programs the machine has.
pub(super) fn joining_with_any_programs() -> Wanted {
    let token = format!("{{endpoints: ['10.0.0.1:6443'], token: {TOKEN}, unsafeWithoutCAPins: true}}");
    let control_plane = format!("controlPlane: {{certificateKey: {KEY}}}, toleratedChecks: [all]");
    let spec = format!("{{nodeName: cp2, discovery: {{token: {token}}}, {control_plane}}}");
    wanted(&[FORWARDING, ("JoinConfig", "further", &spec)])
}

/// The same machine as a worker.
pub(super) fn joining_as_worker() -> Wanted {
    let token = format!("{{endpoints: ['10.0.0.1:6443'], token: {TOKEN}, unsafeWithoutCAPins: true}}");
    wanted(&[FORWARDING, ("JoinConfig", "further", &format!("{{nodeName: cp2, discovery: {{token: {token}}}}}"))])
}

/// What `kubeadm join` leaves of a control plane node.
pub(super) fn joined() -> Vec<Played> {
    let text = |path: &str| match path {
        ETCD => manifest(),
        KUBELET | ADMIN => kubeconfig(),
        CERTIFICATE => client("cp2"),
        _ => "x".to_owned(),
    };
    let of_etcd = ["crt", "key"].map(|suffix| format!("{PKI}/etcd/healthcheck-client.{suffix}"));
    let paths = [
        &of_etcd[0],
        &of_etcd[1],
        ADMIN,
        STATIC_PODS[0],
        STATIC_PODS[1],
        STATIC_PODS[2],
        BOOTSTRAP,
        ETCD,
        DATA,
        KUBELET,
        CERTIFICATE,
    ];
    let mut written: Vec<_> = paths.iter().map(|path| Played::Write((*path).to_owned(), text(path))).collect();
    written.push(Played::RemoveBelow(BOOTSTRAP.into()));
    written
}

pub(super) fn machine() -> Memory {
    let mut host = fresh();
    host.programs.insert("kubeadm join".into(), joined());
    let emptied = ["/etc/kubernetes/", "/var/lib/kubelet/"].map(|path| Played::RemoveBelow(path.into()));
    host.programs.insert("kubeadm reset".into(), emptied.to_vec());
    // Marking the Node writes nothing on the machine.
    host.programs.insert(MARK.into(), Vec::new());
    host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
    host.address = Some("10.0.0.2".parse().unwrap());
    host
}

pub(super) const MARK: &str =
    "kubeadm join phase control-plane-join mark-control-plane --config /run/machineadm/kubeadm.yaml";

/// A machine on which these files are.
pub(super) fn with(files: &[&str], progress: Progress) -> Memory {
    let mut host = machine();
    host.files.extend(SET.on_a_node(PKI));
    for (name, text) in [("healthcheck-client.crt", "certificate"), ("healthcheck-client.key", "key")] {
        host.files.insert(format!("{PKI}/etcd/{name}"), file(text));
    }
    for path in files {
        let text = match *path {
            ETCD => manifest(),
            KUBELET | ADMIN => kubeconfig(),
            CERTIFICATE => client("cp2"),
            _ => "x".to_owned(),
        };
        host.files.insert((*path).to_owned(), file(&text));
    }
    host.note("kubeadm join", progress).unwrap();
    host
}

pub(super) fn run(wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> Result<Done, Failure> {
    run_noting(wanted, host, cluster, &mut Vec::new())
}

/// The same, with the remarks that a user sees.
pub(super) fn run_noting(
    wanted: &Wanted,
    host: &mut Memory,
    cluster: &FakeCluster,
    remarks: &mut Vec<String>,
) -> Result<Done, Failure> {
    let run = Run {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    bootstrap(&run, world, &mut |event| {
        if let Event::Planned(_, planned) = event {
            remarks.extend(planned.remarks.iter().map(ToString::to_string));
        }
    })
}

pub(super) fn plan(wanted: &Wanted, host: &Memory, cluster: &FakeCluster) -> Result<Preview, Failure> {
    let ask = Ask {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        checks: Checks::Executed,
        patience: PATIENCE,
    };
    preview(&ask, host, cluster, &FakeRuntime::running())
}

pub(super) fn ran(host: &Memory, words: &str) -> usize {
    host.log.iter().filter(|line| line.contains(words) && !line.contains("mark-control-plane")).count()
}

/// A Node whose kubelet runs.
pub(super) fn ready() -> Value {
    let mut node = marked();
    node["status"] = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    node
}

pub(super) fn marked() -> Value {
    json!({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}})
}

/// Every problem that keeps a machine from joining, which must be untouched.
pub(super) fn problems(wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> Vec<String> {
    let before = host.files.clone();
    let failure = run(wanted, host, cluster).unwrap_err();
    assert_eq!(failure.at.to_string(), "control plane", "{failure:?}");
    let PlanError::Unfit(problems) = *failure.cause else { panic!("{failure:?}") };
    let of_kubernetes = |files: &BTreeMap<String, host::FileState>| {
        let is_ours = |path: &str| path.starts_with("/etc/kubernetes/machineadm/");
        let is_kubernetes = |path: &str| path.starts_with("/etc/kubernetes") || path.starts_with("/var/lib/etcd");
        files.keys().filter(|path| is_kubernetes(path) && !is_ours(path)).count()
    };
    assert_eq!((of_kubernetes(&host.files), ran(host, "kubeadm join")), (of_kubernetes(&before), 0));
    problems.into_iter().map(|problem| problem.text).collect()
}

/// What `machineadm reset` asks for.
pub(super) fn reset_request() -> ResetRequest {
    ResetRequest {
        runtime_socket: None,
        certificates: PKI.into(),
        kubeconfig: None,
        flags: Vec::new(),
        question: MemberQuestion::IsAsked,
        scope: ResetScope::Machine,
        patience: PATIENCE,
    }
}

/// `machineadm reset --force`. Returns the name of the Node that is left for the operator.
pub(super) fn reset_by_operator(host: &mut Memory, cluster: &FakeCluster) -> Option<String> {
    let request = reset_request();
    let plan = ResetPlan::new(&request, host, cluster).unwrap();
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    reset(&request, &plan, world, &mut |_| ()).unwrap();
    plan.node
}
