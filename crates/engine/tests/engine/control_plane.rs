//! A further control plane node on a machine in memory: what is found there and in etcd decides how a join goes on.
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
use kubeadm::hub::{ClusterConfiguration, HostPathMount};
use machineadm_engine::{
    Ask, CertificateCopy, Checks, Cluster, Done, EtcdAccess, Failure, Line, Mode, NodeCondition, NodeWait, Patience,
    PlanError, Preview, Prune, Run, ServerVersion, Unanswered, Wanted, World, bootstrap, preview,
};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    path::PathBuf,
    sync::LazyLock,
    time::Duration,
};

const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const PKI: &str = "/etc/kubernetes/pki";
const ADMIN: &str = "/etc/kubernetes/admin.conf";
const KUBELET: &str = "/etc/kubernetes/kubelet.conf";
const BOOTSTRAP: &str = "/etc/kubernetes/bootstrap-kubelet.conf";
const CERTIFICATE: &str = "/var/lib/kubelet/pki/kubelet-client-current.pem";
const DATA: &str = "/var/lib/etcd/member/snap/db";
const ETCD: &str = "/etc/kubernetes/manifests/etcd.yaml";
const STATIC_PODS: [&str; 3] = [
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    "/etc/kubernetes/manifests/kube-controller-manager.yaml",
    "/etc/kubernetes/manifests/kube-scheduler.yaml",
];
const OWN: &str = "https://10.0.0.2:2380";

static SET: LazyLock<PemSet> = LazyLock::new(PemSet::new);

fn roots() -> CaBundle {
    SET.ca()
}

/// The certificate that the cluster gives the kubelet.
fn client() -> String {
    let issuer = Issuer::new(authority(), KeyPair::from_pem(SET.ca_key()).unwrap());
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(3000, 1, 1));
    params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap().pem()
}

fn kubeconfig() -> String {
    let data = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, roots().pem());
    format!("clusters:\n- cluster: {{certificate-authority-data: {data}}}\n")
}

fn manifest() -> String {
    format!(
        "spec:\n  containers:\n  - command:\n    - etcd\n    - --advertise-client-urls=https://10.0.0.2:2379\n    - \
         --data-dir=/var/lib/etcd\n    - --initial-advertise-peer-urls={OWN}\n"
    )
}

fn member(number: u8, role: Role, standing: Standing) -> Member {
    let (name, client_urls) = match standing {
        Standing::NotStarted => (String::new(), Vec::new()),
        _ => (format!("cp{number}"), vec![format!("https://10.0.0.{number}:2379")]),
    };
    let peer_urls = vec![format!("https://10.0.0.{number}:2380")];
    Member { id: MemberId(number.into()), name, peer_urls, client_urls, role, standing }
}

fn voter(number: u8) -> Member {
    member(number, Role::Voter, Standing::Answers)
}

fn learner(number: u8) -> Member {
    member(number, Role::Learner, Standing::NotStarted)
}

/// A cluster with a control plane that can be joined. It checks whatever it is asked, and keeps what it was told to do.
struct FakeCluster {
    members: RefCell<Vec<Member>>,
    quorum: RefCell<Quorum>,
    /// Whether etcd answers.
    is_silent: Cell<bool>,
    /// Whether etcd refuses to remove a member.
    keeps_members: Cell<bool>,
    configuration: ClusterConfiguration,
    node: RefCell<Option<Value>>,
    events: RefCell<Vec<String>>,
}

impl FakeCluster {
    fn of(members: Vec<Member>) -> Self {
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
            node: RefCell::new(None),
            events: RefCell::default(),
        }
    }

    fn did(&self, event: &str) -> bool {
        self.events.borrow().iter().any(|done| done == event)
    }
}

impl Cluster for FakeCluster {
    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        panic!("a control plane node is looked at whole")
    }

    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("there is no proxy")
    }

    fn delete(&self, _: &[u8], object: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        assert_eq!(object, "/api/v1/nodes/cp2");
        self.events.borrow_mut().push("delete node".into());
        *self.node.borrow_mut() = None;
        Ok(())
    }

    fn discover(&self, _: &Method, _: Duration) -> host::Result<ClusterInfo> {
        self.events.borrow_mut().push("discover".into());
        Ok(ClusterInfo::new("https://10.0.0.1:6443".into(), roots(), None).unwrap())
    }

    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        Ok(ServerVersion { version: "v1.36.4".into(), skew: None })
    }

    fn wait_for_node(&self, _: &[u8], wait: &NodeWait<'_>) -> Result<(), Unanswered> {
        assert_eq!((wait.node, wait.condition), ("cp2", NodeCondition::Registered));
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

    fn upload_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: BTreeMap<FileName, Found>) -> host::Result<()> {
        panic!("a joining machine uploads nothing")
    }

    fn download_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        roots: &CaBundle,
    ) -> host::Result<CertificateSet> {
        assert!(String::from_utf8_lossy(kubeconfig).contains(TOKEN), "with the rights of a bootstrap token");
        assert_eq!(copy.key.expose_digits().as_str(), KEY);
        Ok(check_download(copy.files, SET.found(), roots, Timestamp::now()).expect("the cluster's own set"))
    }

    fn object(&self, _: &[u8], path: &str, _: &Patience<'_>) -> Result<Option<Value>, Unanswered> {
        assert_eq!(path, "/api/v1/nodes/cp2");
        Ok(self.node.borrow().clone())
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
        Ok(Some((PKI.into(), FileSet::new(&Etcd::Stacked))))
    }

    fn members(&self, access: &EtcdAccess, _: &Patience<'_>) -> Result<Membership, Unanswered> {
        assert!(access.kubeconfig.is_some(), "the cluster says where its etcd is");
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

fn joining() -> Wanted {
    joining_with(&format!("{{certificateKey: {KEY}}}"))
}

fn joining_with(control_plane: &str) -> Wanted {
    let token = format!("{{endpoints: ['10.0.0.1:6443'], token: {TOKEN}, unsafeWithoutCAPins: true}}");
    let spec = format!("{{nodeName: cp2, discovery: {{token: {token}}}, controlPlane: {control_plane}}}");
    wanted(&[FORWARDING, ("JoinConfig", "further", &spec)])
}

/// What `kubeadm join` leaves of a control plane node.
fn joined() -> Vec<Played> {
    let text = |path: &str| match path {
        ETCD => manifest(),
        KUBELET | ADMIN => kubeconfig(),
        CERTIFICATE => client(),
        _ => String::new(),
    };
    let client = ["crt", "key"].map(|suffix| format!("{PKI}/etcd/healthcheck-client.{suffix}"));
    let paths = [
        &client[0],
        &client[1],
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

fn machine() -> Memory {
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

const MARK: &str = "kubeadm join phase control-plane-join mark-control-plane --config /run/machineadm/kubeadm.yaml";

/// A machine on which these files are.
fn with(files: &[&str], progress: Progress) -> Memory {
    let mut host = machine();
    host.files.extend(SET.on_a_node(PKI));
    for (name, text) in [("healthcheck-client.crt", "certificate"), ("healthcheck-client.key", "key")] {
        host.files.insert(format!("{PKI}/etcd/{name}"), file(text));
    }
    for path in files {
        let text = match *path {
            ETCD => manifest(),
            KUBELET | ADMIN => kubeconfig(),
            CERTIFICATE => client(),
            _ => String::new(),
        };
        host.files.insert((*path).to_owned(), file(&text));
    }
    host.note("kubeadm join", progress).unwrap();
    host
}

fn run(wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> Result<Done, Failure> {
    let run = Run { mode: Mode::Provision, wanted, prune: Prune::List, reviewed: None };
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    bootstrap(&run, world, &mut |_| ())
}

fn plan(wanted: &Wanted, host: &Memory, cluster: &FakeCluster) -> Result<Preview, Failure> {
    let ask = Ask { mode: Mode::Provision, wanted, prune: Prune::List, checks: Checks::Executed, patience: PATIENCE };
    preview(&ask, host, cluster, &FakeRuntime::running())
}

fn ran(host: &Memory, words: &str) -> usize {
    host.log.iter().filter(|line| line.contains(words) && !line.contains("mark-control-plane")).count()
}

fn marked() -> Value {
    json!({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}})
}

/// Every problem that keeps a machine from joining, which must be untouched.
fn problems(wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> Vec<String> {
    let before = host.files.clone();
    let failure = run(wanted, host, cluster).unwrap_err();
    assert_eq!(failure.at.to_string(), "control plane", "{failure:?}");
    let PlanError::Unfit(problems) = *failure.cause else { panic!("{failure:?}") };
    let of_kubernetes = |files: &BTreeMap<String, host::FileState>| {
        files.keys().filter(|path| path.starts_with("/etc/kubernetes") || path.starts_with("/var/lib/etcd")).count()
    };
    assert_eq!((of_kubernetes(&host.files), ran(host, "kubeadm join")), (of_kubernetes(&before), 0));
    problems
}

#[test]
fn a_control_plane_node_gets_the_certificates_of_the_cluster_and_joins() {
    let (wanted, mut host, cluster) = (joining(), machine(), FakeCluster::of(vec![voter(1)]));
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!((ran(&host, "kubeadm join"), ran(&host, "kubeadm reset")), (1, 0));
    for (path, file) in SET.on_a_node(PKI) {
        assert_eq!(host.files.get(&path), Some(&file), "{path}");
    }
    let holds = |file: &host::FileState| String::from_utf8_lossy(file.contents.expose()).contains(KEY);
    assert!(!host.files.values().any(holds), "the certificate key is in no file");
}

/// The files that kubeadm is given: those of a machine whose power fails while it runs.
#[test]
fn kubeadm_gets_no_certificate_key_and_the_address_of_the_machine() {
    for power in 0..200 {
        let mut host = Memory { power: Some(power), ..machine() };
        let ended = run(&joining(), &mut host, &FakeCluster::of(vec![voter(1)]));
        if let Some(file) = host.files.get("/run/machineadm/kubeadm.yaml") {
            let text = String::from_utf8(file.contents.expose().clone()).unwrap();
            assert!(text.contains("advertiseAddress: \"10.0.0.2\"") && !text.contains("certificateKey"), "{text}");
            return;
        }
        assert!(ended.is_err());
    }
    panic!("no file for kubeadm");
}

/// The etcd member, the files, whether the Node is marked; what a run does.
struct Row {
    member: Option<Member>,
    files: Vec<&'static str>,
    node: Option<Value>,
    /// kubeadm joins, resets and marks so often.
    kubeadm: (usize, usize, usize),
    removes: bool,
}

/// The table of `acts/kubeadm_join_control_plane.rs`, row by row.
#[test]
fn what_is_found_on_the_machine_and_in_etcd_decides_what_a_join_needs() {
    let pods = || STATIC_PODS.to_vec();
    let serving = || [pods(), vec![ADMIN, ETCD, DATA, KUBELET, CERTIFICATE]].concat();
    let promoted = || [pods(), vec![ADMIN, ETCD, DATA, BOOTSTRAP]].concat();
    let unmarked = || Some(json!({"metadata": {"labels": {}}}));
    let (own, started) = (|| Some(voter(2)), || Some(member(2, Role::Learner, Standing::Answers)));
    let rows = [
        // Nothing of it is there.
        Row { member: None, files: vec![], node: None, kubeadm: (1, 0, 0), removes: false },
        // It is a control plane node.
        Row { member: own(), files: serving(), node: Some(marked()), kubeadm: (0, 0, 0), removes: false },
        // Only the marks of its Node are missing, or the Node.
        Row { member: own(), files: serving(), node: unmarked(), kubeadm: (0, 0, 1), removes: false },
        Row { member: own(), files: serving(), node: None, kubeadm: (0, 0, 1), removes: false },
        // Its member votes, and its kubelet never gets a certificate.
        Row { member: own(), files: promoted(), node: None, kubeadm: (1, 1, 0), removes: true },
        // A learner, started or not, with what kubeadm of any version has written by then.
        Row { member: Some(learner(2)), files: vec![ADMIN, BOOTSTRAP], node: None, kubeadm: (1, 1, 0), removes: true },
        Row { member: started(), files: promoted(), node: None, kubeadm: (1, 1, 0), removes: true },
        Row { member: started(), files: serving(), node: unmarked(), kubeadm: (1, 1, 0), removes: true },
        Row { member: Some(learner(2)), files: vec![], node: None, kubeadm: (1, 1, 0), removes: true },
        // A voter whose data is gone.
        Row {
            member: Some(member(2, Role::Voter, Standing::Silent("refused".into()))),
            files: [pods(), vec![ADMIN, ETCD, KUBELET, CERTIFICATE]].concat(),
            node: Some(marked()),
            kubeadm: (1, 1, 0),
            removes: true,
        },
        // No member, and some files.
        Row { member: None, files: vec![ADMIN], node: None, kubeadm: (1, 1, 0), removes: false },
        Row { member: None, files: [pods(), vec![ADMIN]].concat(), node: None, kubeadm: (1, 1, 0), removes: false },
        Row {
            member: None,
            files: [pods(), vec![ADMIN, KUBELET, CERTIFICATE]].concat(),
            node: None,
            kubeadm: (1, 1, 0),
            removes: false,
        },
        Row { member: None, files: vec![DATA], node: None, kubeadm: (1, 1, 0), removes: false },
        Row { member: None, files: promoted(), node: None, kubeadm: (1, 1, 0), removes: false },
    ];
    for Row { member, files, node, kubeadm, removes } in rows {
        let shown = format!("{member:?}, {files:?}, {node:?}");
        let members = [voter(1), voter(3)].into_iter().chain(member).collect();
        let (cluster, mut host) = (FakeCluster::of(members), with(&files, Progress::Started));
        *cluster.node.borrow_mut() = node;
        run(&joining(), &mut host, &cluster).unwrap_or_else(|failure| panic!("{shown}: {failure:?}"));
        let marks = host.log.iter().filter(|line| line.contains("mark-control-plane")).count();
        let counted = (ran(&host, "kubeadm join"), ran(&host, "kubeadm reset"), marks);
        assert_eq!((counted, cluster.did("remove 2")), (kubeadm, removes), "{shown}");
        assert!(!host.files.contains_key(BOOTSTRAP), "{shown}");
        let holds = |file: &host::FileState| String::from_utf8_lossy(file.contents.expose()).contains(KEY);
        assert!(!host.files.values().any(holds), "{shown}");
    }
}

/// The last row of the table: what is not known is not deleted.
#[test]
fn nothing_is_deleted_while_etcd_does_not_answer_or_keeps_the_member() {
    for silent in [true, false] {
        let members = vec![voter(1), voter(3), learner(2)];
        let (cluster, mut host) = (FakeCluster::of(members), with(&[ADMIN, ETCD, DATA, BOOTSTRAP], Progress::Started));
        cluster.is_silent.set(silent);
        cluster.keeps_members.set(!silent);
        let failure = run(&joining(), &mut host, &cluster).unwrap_err();
        let why = machineadm_engine::outcome::chain(&*failure.cause);
        assert!(why.contains("etcd"), "{why}");
        assert!(host.files.contains_key(DATA) && host.files.contains_key(ETCD), "{why}");
        assert_eq!((ran(&host, "kubeadm reset"), ran(&host, "kubeadm join")), (0, 0), "{why}");
    }
}

#[test]
fn of_two_voters_the_one_that_joined_is_removed_only_while_the_other_answers() {
    let dead = member(1, Role::Voter, Standing::Silent("connection refused".into()));
    let (cluster, mut host) =
        (FakeCluster::of(vec![dead, voter(2)]), with(&[ADMIN, ETCD, DATA, KUBELET, CERTIFICATE], Progress::Started));
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    let why = machineadm_engine::outcome::chain(&*failure.cause);
    assert!(why.contains("etcd would lose its quorum"), "{why}");
    assert!(host.files.contains_key(DATA) && cluster.events.borrow().is_empty(), "{why}");
}

#[test]
fn a_learner_of_others_a_dead_voter_and_a_lost_quorum_are_named_and_nothing_is_started() {
    let silent = member(3, Role::Voter, Standing::Silent("connection refused".into()));
    let cluster = FakeCluster::of(vec![voter(1), learner(9), silent]);
    let found = problems(&joining(), &mut machine(), &cluster);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("https://10.0.0.9:2380") && found[0].contains("learner"), "{found:?}");
    assert!(found[1].contains("cp3") && found[1].contains("machineadm control-plane remove cp3"), "{found:?}");
    let cluster = FakeCluster::of(vec![voter(1)]);
    *cluster.quorum.borrow_mut() = Quorum::Lost("etcdserver: request timed out".into());
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].contains("no quorum"), "{found:?}");
    let cluster = FakeCluster::of(vec![voter(1)]);
    cluster.is_silent.set(true);
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].starts_with("etcd does not answer"), "{found:?}");
}

#[test]
fn a_member_at_the_address_of_a_new_machine_is_named() {
    let cluster = FakeCluster::of(vec![voter(1), voter(3), voter(2)]);
    let found = problems(&joining(), &mut machine(), &cluster);
    assert!(found.len() == 1 && found[0].contains("machineadm control-plane remove cp2"), "{found:?}");
}

#[test]
fn missing_files_of_static_pods_and_a_missing_endpoint_are_named_at_once() {
    let mount = |path: &str, sort: Option<&str>| HostPathMount {
        host_path: Some(path.into()),
        path_type: sort.map(str::to_owned),
        ..HostPathMount::default()
    };
    let mut cluster = FakeCluster::of(vec![voter(1)]);
    cluster.configuration.control_plane_endpoint = None;
    cluster.configuration.api_server.extra_volumes = vec![
        mount("/etc/audit.yaml", Some("File")),
        mount("/etc/here", None),
        mount("/var/log/a", Some("DirectoryOrCreate")),
    ];
    cluster.configuration.scheduler.extra_volumes = vec![mount("/etc/scheduler", None)];
    let mut host = machine();
    host.files.insert("/etc/here".into(), file("x"));
    let found = problems(&joining(), &mut host, &cluster);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("controlPlaneEndpoint"), "{found:?}");
    assert!(found[1].starts_with("/etc/audit.yaml is missing here, and kube-apiserver"), "{found:?}");
    assert!(found[2].starts_with("/etc/scheduler is missing here, and kube-scheduler"), "{found:?}");
}

#[test]
fn without_a_certificate_key_the_machine_needs_all_certificates_of_the_cluster() {
    let cluster = FakeCluster::of(vec![voter(1)]);
    let mut host = machine();
    host.files.insert(format!("{PKI}/ca.crt"), SET.on_a_node(PKI)[&format!("{PKI}/ca.crt")].clone());
    let found = problems(&joining_with("{}"), &mut host, &cluster);
    assert!(found.len() == 7 && found.iter().all(|text| text.contains("controlPlane.certificateKey")), "{found:?}");
    host.files.extend(SET.on_a_node(PKI));
    run(&joining_with("{}"), &mut host, &cluster).unwrap();
    assert_eq!(ran(&host, "kubeadm join"), 1);
}

#[test]
fn certificates_of_another_cluster_are_in_the_way_before_anything_is_started() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), machine());
    host.files.extend(PemSet::new().on_a_node(PKI));
    let found = problems(&joining(), &mut host, &cluster);
    assert!(found.iter().any(|text| text.contains("exists with other content")), "{found:?}");
}

#[test]
fn a_certificate_key_in_a_file_is_taken_only_if_nobody_but_root_has_access_to_it() {
    let wanted = joining_with("{certificateKeyFile: /srv/key}");
    let cluster = FakeCluster::of(vec![voter(1)]);
    for (mode, text, problem) in [(0o640, KEY, "has mode 0640"), (0o600, "0123", "/srv/key")] {
        let mut host = machine();
        host.files.insert("/srv/key".into(), host::FileState { mode, ..file(text) });
        let found = problems(&wanted, &mut host, &cluster);
        assert!(found.len() == 1 && found[0].contains(problem) && !found[0].contains("e6a2eb"), "{found:?}");
    }
    let mut host = machine();
    host.files.insert("/srv/key".into(), host::FileState { mode: 0o600, ..file(&format!("{KEY}\n")) });
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(ran(&host, "kubeadm join"), 1);
}

#[test]
fn a_worker_does_not_become_a_control_plane_node() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1)]), with(&[KUBELET, CERTIFICATE], Progress::Ended));
    let found = problems(&joining(), &mut host, &cluster);
    assert!(found.len() == 1 && found[0].contains("is a worker of the cluster"), "{found:?}");
}

#[test]
fn a_join_that_others_started_is_left_alone() {
    let (cluster, mut host) = (FakeCluster::of(vec![voter(1), learner(2)]), with(&[ADMIN, BOOTSTRAP], Progress::New));
    let failure = run(&joining(), &mut host, &cluster).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Foreign(_)), "{failure:?}");
    assert!(!cluster.did("remove 2") && ran(&host, "kubeadm") == 0);
}

#[test]
fn a_plan_asks_no_cluster_and_shows_download_and_join_without_their_secrets() {
    let (wanted, host, cluster) = (joining(), machine(), FakeCluster::of(vec![voter(1)]));
    let preview = plan(&wanted, &host, &cluster).unwrap();
    assert!(cluster.events.borrow().is_empty());
    let lines: Vec<_> = preview
        .0
        .iter()
        .flat_map(|(_, planned)| &planned.steps)
        .map(|step| {
            let Line { target, detail, .. } = Line::of(step);
            format!("{target} {detail}")
        })
        .collect();
    let at = |word: &str| lines.iter().position(|line| line.contains(word)).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(at("download of certificates") < at("kubeadm join"), "{lines:?}");
    let shown = format!("{preview:?}{lines:?}");
    assert!(!shown.contains(KEY) && !shown.contains("faddc87f"), "{shown}");
}

#[test]
fn power_lost_anywhere_ends_in_the_same_control_plane_node() {
    let whole = || {
        let (mut host, cluster) = (machine(), FakeCluster::of(vec![voter(1), voter(3)]));
        run(&joining(), &mut host, &cluster).unwrap();
        host
    };
    let whole = whole();
    let mut cuts = 0;
    for power in 0.. {
        let cluster = FakeCluster::of(vec![voter(1), voter(3)]);
        let mut host = Memory { power: Some(power), ..machine() };
        if run(&joining(), &mut host, &cluster).is_ok() {
            break;
        }
        host.power = None;
        // As far as kubeadm came, etcd has a member for this machine.
        if host.files.contains_key(ETCD) {
            cluster.members.borrow_mut().push(if host.files.contains_key(KUBELET) { voter(2) } else { learner(2) });
        }
        run(&joining(), &mut host, &cluster).unwrap_or_else(|failure| panic!("cut after {power}: {failure:?}"));
        for path in STATIC_PODS.iter().chain(&[ETCD, DATA, KUBELET, CERTIFICATE, BOOTSTRAP]) {
            assert_eq!(host.files.contains_key(*path), whole.files.contains_key(*path), "cut after {power}: {path}");
        }
        cuts += 1;
    }
    assert!(cuts > 20, "{cuts}");
}
