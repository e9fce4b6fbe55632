//! A worker on a machine in memory: what is found there decides how a join goes on, wherever it was cut.
use crate::{
    pem_set::{PemSet, authority},
    support::{FORWARDING, FakeRuntime, NoDownloads, PATIENCE, file, fresh, left, wanted},
};
use certs::{CertificateSet, FileName, Found};
use discovery::{ClusterInfo, Method, Pin, certificate::CaBundle};
use host::{FileState, Host, Memory, Played, Progress};
use machineadm_engine::{
    Ask, CertificateCopy, Checks, Cluster, Done, Failure, Line, Mode, NodeCondition, NodeWait, Patience, PlanError,
    Preview, Prune, Run, ServerVersion, Unanswered, Wanted, World, bootstrap, outcome::Reason, preview,
};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, date_time_ymd};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::LazyLock,
    time::Duration,
};

const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const KUBELET: &str = "/etc/kubernetes/kubelet.conf";
const BOOTSTRAP: &str = "/etc/kubernetes/bootstrap-kubelet.conf";
const CA: &str = "/etc/kubernetes/pki/ca.crt";
const CERTIFICATE: &str = "/var/lib/kubelet/pki/kubelet-client-current.pem";

static OWN: LazyLock<PemSet> = LazyLock::new(PemSet::new);
static OTHER: LazyLock<PemSet> = LazyLock::new(PemSet::new);
static AUTHORITY: LazyLock<String> = LazyLock::new(|| ca(&OWN));
/// The certificate that the cluster gives the kubelet.
static CLIENT: LazyLock<String> = LazyLock::new(|| client(&OWN, 3000));

/// A client certificate that the CA of a set has issued, valid until a year.
fn client(set: &PemSet, until: i32) -> String {
    let issuer = Issuer::new(authority(), KeyPair::from_pem(set.ca_key()).unwrap());
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(until, 1, 1));
    params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap().pem()
}

fn ca(set: &PemSet) -> String {
    String::from_utf8(set.ca().pem().to_vec()).unwrap()
}

fn roots() -> CaBundle {
    CaBundle::read(AUTHORITY.clone().into_bytes()).unwrap()
}

/// A configuration that joins by token and pin.
fn joining() -> Wanted {
    let pin = Pin::of(&roots().certificates()[0]);
    let spec = format!(
        "{{nodeName: w1, discovery: {{token: {{endpoints: ['10.0.0.10:6443'], token: {TOKEN}, caPins: ['{pin}']}}}}}}"
    );
    wanted(&[FORWARDING, ("JoinConfig", "worker", &spec)])
}

/// A cluster that can be joined. It checks whatever it is asked.
#[derive(Default)]
struct FakeCluster {
    discoveries: Cell<usize>,
    /// Whether it has the Node; a kubelet with a certificate registers while it is waited for.
    has_node: Cell<bool>,
    is_silent: Cell<bool>,
    waits: RefCell<Vec<NodeCondition>>,
    /// None where it does not tell.
    version: RefCell<Option<ServerVersion>>,
}

impl Cluster for FakeCluster {
    fn has(&self, kubeconfig: &[u8], objects: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        assert_eq!((kubeconfig, objects), (kubelet_kubeconfig().as_bytes(), &["/api/v1/nodes/w1"][..]));
        if self.is_silent.get() { Err(Unanswered("connection refused".into())) } else { Ok(self.has_node.get()) }
    }

    fn networks(&self, kubeconfig: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        assert!(String::from_utf8_lossy(kubeconfig).contains(TOKEN));
        Ok(vec!["10.96.0.0/12".into(), "10.244.0.0/16".into()])
    }

    fn delete(&self, _: &[u8], _: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        panic!("a worker deletes nothing")
    }

    fn discover(&self, method: &Method, within: Duration) -> Result<ClusterInfo, PlanError> {
        let Method::Token { endpoints, token, .. } = method else { panic!("{method:?}") };
        assert_eq!((endpoints[0].authority().as_str(), token.id.as_str()), ("10.0.0.10:6443", "ae23dc"));
        assert_eq!(within, Duration::from_secs(300));
        self.discoveries.set(self.discoveries.get() + 1);
        Ok(ClusterInfo::new("https://10.0.0.10:6443".into(), roots(), None).unwrap())
    }

    fn version(&self, kubeconfig: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        // With the bootstrap token, so that it works where anonymous access is off.
        assert!(String::from_utf8_lossy(kubeconfig).contains(TOKEN));
        self.version.borrow().clone().ok_or_else(|| Unanswered("403 Forbidden".into()))
    }

    fn wait_for_node(&self, kubeconfig: &[u8], wait: &NodeWait<'_>) -> Result<(), Unanswered> {
        assert_eq!(wait.node, "w1");
        self.waits.borrow_mut().push(wait.condition);
        match wait.condition {
            NodeCondition::Registered => {
                assert_eq!(kubeconfig, kubelet_kubeconfig().as_bytes());
                self.has_node.set(true);
            }
            // With the bootstrap token: the kubelet has no certificate.
            NodeCondition::NotReady => assert!(String::from_utf8_lossy(kubeconfig).contains(TOKEN)),
        }
        Ok(())
    }

    fn live_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        panic!("a worker copies no certificates")
    }

    fn upload_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: BTreeMap<FileName, Found>) -> Result<(), PlanError> {
        panic!("a worker copies no certificates")
    }

    fn download_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: &CaBundle) -> Result<CertificateSet, PlanError> {
        panic!("a worker copies no certificates")
    }
}

/// The kubeconfig that a kubelet writes, with the cluster's CA.
fn kubelet_kubeconfig() -> String {
    kubeconfig_of(&AUTHORITY)
}

fn kubeconfig_of(authority: &str) -> String {
    let data = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, authority);
    format!("clusters:\n- cluster: {{certificate-authority-data: {data}}}\n")
}

/// What `kubeadm join` and the kubelet leave, in their order.
fn join() -> Vec<Played> {
    vec![
        Played::Write(BOOTSTRAP.into(), "bootstrap".into()),
        Played::Write(CA.into(), AUTHORITY.clone()),
        Played::Write(KUBELET.into(), kubelet_kubeconfig()),
        Played::Write(CERTIFICATE.into(), CLIENT.clone()),
        Played::RemoveBelow(BOOTSTRAP.into()),
    ]
}

fn machine() -> Memory {
    let mut host = fresh();
    host.programs.insert("kubeadm join".into(), join());
    host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
    host
}

fn run(wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> Result<Done, Failure> {
    let run = Run {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    bootstrap(&run, world, &mut |_| ())
}

fn plan(wanted: &Wanted, host: &Memory, cluster: &FakeCluster) -> Result<Preview, Failure> {
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

fn joins(host: &Memory) -> usize {
    host.log.iter().filter(|line| line.contains("kubeadm join")).count()
}

/// A machine on which some of these files are.
fn with(files: &[&str], progress: Progress) -> Memory {
    let mut host = machine();
    for path in files {
        let text = match *path {
            KUBELET => kubelet_kubeconfig(),
            CERTIFICATE => CLIENT.clone(),
            _ => AUTHORITY.clone(),
        };
        host.files.insert((*path).to_owned(), file(&text));
    }
    host.note("kubeadm join", progress).unwrap();
    host
}

#[test]
fn a_token_in_a_file_is_taken_only_if_nobody_but_root_has_access_to_it() {
    let discovery = "{token: {endpoints: ['10.0.0.10:6443'], tokenFile: /srv/token, unsafeWithoutCAPins: true}}";
    let joining = wanted(&[FORWARDING, ("JoinConfig", "", &format!("{{nodeName: w1, discovery: {discovery}}}"))]);
    for (mode, uid, text, problem) in [
        (0o640, 0, TOKEN, "has mode 0640 and belongs to user 0"),
        (0o600, 1000, TOKEN, "has mode 0600 and belongs to user 1000"),
        (0o600, 0, "nonsense", "is not a bootstrap token"),
    ] {
        let (mut host, cluster) = (machine(), FakeCluster::default());
        host.files.insert("/srv/token".into(), FileState { mode, uid, ..file(text) });
        let failure = run(&joining, &mut host, &cluster).unwrap_err().cause.to_string();
        assert!(failure.contains("/srv/token") && failure.contains(problem), "{failure}");
        assert!(!failure.contains("faddc87f") && !failure.contains("nonsense"), "{failure}");
        assert_eq!((joins(&host), cluster.discoveries.get()), (0, 0));
    }
}

#[test]
fn a_worker_reaches_its_cluster_and_its_networks_without_the_proxy() {
    let (mut host, cluster) = (machine(), FakeCluster::default());
    let proxy = ("ProxyConfig", "", "{httpsProxy: 'http://p:3128', services: [kubelet], kubeadm: true}");
    let mut joining = joining();
    joining.documents.splice(0..0, wanted(&[proxy]).documents);
    run(&joining, &mut host, &cluster).unwrap();
    let given = &host.environments["kubeadm join"];
    let expected = "localhost,127.0.0.1,::1,.svc,.cluster.local,10.0.0.10,10.96.0.0/12,10.244.0.0/16";
    assert_eq!(
        (given["HTTPS_PROXY"].expose().as_str(), given["NO_PROXY"].expose().as_str()),
        ("http://p:3128", expected)
    );
}

#[test]
fn a_plan_discovers_nothing_and_shows_the_join_without_its_token() {
    let (wanted, host, cluster) = (joining(), machine(), FakeCluster::default());
    let preview = plan(&wanted, &host, &cluster).unwrap();
    assert_eq!(cluster.discoveries.get(), 0);
    let line = |step| {
        let Line { target, detail, .. } = Line::of(step);
        format!("{target} {detail}")
    };
    let lines: Vec<_> = preview.0.iter().flat_map(|(_, planned)| &planned.steps).map(line).collect();
    let join = lines.iter().find(|line| line.contains("kubeadm join")).unwrap();
    assert!(join.contains("10.0.0.10:6443, kubeadm v1.36.4, kubeadm.k8s.io/v1beta4"), "{join}");
    assert!(!format!("{preview:?}{lines:?}").contains("faddc87f5a5ab458"));
}

#[test]
fn a_join_leaves_a_worker_and_no_file_with_its_token() {
    let (wanted, mut host, cluster) = (joining(), machine(), FakeCluster::default());
    cluster.has_node.set(true);
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!((cluster.discoveries.get(), joins(&host)), (1, 1));
    let holds = |file: &host::FileState| String::from_utf8_lossy(file.contents.expose()).contains("faddc87f5a5ab458");
    let holders: Vec<_> = host.files.iter().filter(|(_, file)| holds(file)).map(|(path, _)| path).collect();
    assert_eq!(holders, [""; 0]);
    // Neither discovery nor kubeadm again: the token may have expired.
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!((cluster.discoveries.get(), joins(&host)), (1, 1));
}

/// The files that kubeadm is given by a machine with this kubeadm: those of a machine whose power fails while it runs.
fn given_to_kubeadm(wanted: &Wanted, version: &str) -> Memory {
    let fresh = || {
        let mut host = machine();
        host.outputs.insert("kubeadm version -o short".into(), format!("{version}\n"));
        host.outputs.insert("kubelet --version".into(), format!("Kubernetes {version}\n"));
        host.sysctls.insert("net/bridge/bridge-nf-call-iptables".into(), "1".into());
        host
    };
    for power in 0..100 {
        let mut host = Memory { power: Some(power), ..fresh() };
        let ended = run(wanted, &mut host, &FakeCluster::default());
        if host.files.contains_key("/run/machineadm/kubeadm.yaml") {
            return host;
        }
        assert!(ended.is_err(), "{version}: no file for kubeadm");
    }
    panic!("{version}: no file for kubeadm")
}

fn text(host: &Memory, path: &str) -> String {
    String::from_utf8(host.files[path].contents.expose().clone()).unwrap()
}

#[test]
fn kubeadm_gets_the_discovered_cluster_with_the_token_in_a_root_only_file() {
    let host = given_to_kubeadm(&joining(), "v1.36.4");
    let files = ["/run/machineadm/discovery.conf", "/run/machineadm/kubeadm.yaml"];
    assert_eq!(files.map(|path| host.files[path].mode), [0o600, 0o600]);
    let value: serde_json::Value = serde_json::from_str(&text(&host, files[0])).unwrap();
    assert_eq!(value["clusters"][0]["cluster"]["server"], "https://10.0.0.10:6443");
    assert_eq!(value["users"][0]["user"]["token"], TOKEN);
    assert_ne!(value["clusters"][0]["name"], "");
    let file = text(&host, files[1]);
    assert!(file.contains("kubeConfigPath: \"/run/machineadm/discovery.conf\"") && !file.contains(TOKEN), "{file}");
}

#[test]
fn one_document_becomes_the_file_that_each_kubeadm_prefers() {
    let spec = format!(
        "{{nodeName: 'on', labels: {{a: b, c: d}}, taints: [{{key: k, value: v, effect: NoExecute}}], toleratedChecks: [swap], \
         discovery: {{token: {{endpoints: ['10.0.0.10:6443'], token: {TOKEN}, unsafeWithoutCAPins: true}}}}}}"
    );
    let wanted = wanted(&[FORWARDING, ("JoinConfig", "worker", &spec)]);
    for (version, api) in
        [("v1.21.14", "v1beta2"), ("v1.30.14", "v1beta3"), ("v1.36.4", "v1beta4"), ("v1.37.1", "v1beta4")]
    {
        let file = text(&given_to_kubeadm(&wanted, version), "/run/machineadm/kubeadm.yaml");
        let head = format!("apiVersion: \"kubeadm.k8s.io/{api}\"\n");
        assert!(file.contains(&head) && file.contains("kind: \"JoinConfiguration\""), "{version}: {file}");
        for part in ["node-labels", "a=b,c=d", "NoExecute", "name: \"on\"", "Swap"] {
            assert!(file.contains(part), "{version} lacks {part}: {file}");
        }
    }
}

#[test]
fn an_old_kubeadm_ignores_static_pods_of_the_configuration_and_no_others() {
    let pod = "{pods: [{manifest: '{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: \
               b}]}}'}]}";
    let mut wanted = wanted(&[("StaticPodsConfig", "", pod)]);
    wanted.documents.extend(joining().documents);
    let ignores = |version: &str| {
        let file = text(&given_to_kubeadm(&wanted, version), "/run/machineadm/kubeadm.yaml");
        file.contains("DirAvailable--etc-kubernetes-manifests")
    };
    assert_eq!((ignores("v1.23.17"), ignores("v1.24.0")), (true, false));
    let mut host = machine();
    host.files.insert("/etc/kubernetes/manifests/other.yaml".into(), file("the operator's pod"));
    host.outputs.insert("kubeadm version -o short".into(), "v1.23.17\n".into());
    host.outputs.insert("kubelet --version".into(), "Kubernetes v1.23.17\n".into());
    host.sysctls.insert("net/bridge/bridge-nf-call-iptables".into(), "1".into());
    let failure = run(&wanted, &mut host, &FakeCluster::default()).unwrap_err();
    assert!(failure.cause.to_string().contains("/etc/kubernetes/manifests is not empty"), "{failure:?}");
}

/// The files that are there, the journal, whether there is a Node; how often kubeadm joins, and what is waited for.
type Case = (&'static [&'static str], Progress, bool, usize, &'static [NodeCondition]);

/// The table of `acts/kubeadm_join.rs`, row by row.
#[test]
fn what_is_found_decides_what_a_join_needs() {
    use NodeCondition::{NotReady, Registered};
    let cases: [Case; 9] = [
        (&[], Progress::Started, false, 1, &[]),
        (&[CA], Progress::Started, false, 1, &[NotReady]),
        (&[BOOTSTRAP], Progress::Started, false, 1, &[NotReady]),
        (&[BOOTSTRAP, CA], Progress::Started, false, 1, &[NotReady]),
        (&[BOOTSTRAP, CA, KUBELET], Progress::Started, false, 1, &[NotReady]),
        (&[BOOTSTRAP, CA, KUBELET, CERTIFICATE], Progress::Started, false, 0, &[Registered]),
        (&[BOOTSTRAP, CA, KUBELET, CERTIFICATE], Progress::Started, true, 0, &[Registered]),
        (&[CA, KUBELET, CERTIFICATE], Progress::Started, true, 0, &[]),
        (&[CA, KUBELET, CERTIFICATE], Progress::New, true, 0, &[]),
    ];
    for (files, progress, has_node, kubeadm, waits) in cases {
        let (wanted, mut host, cluster) = (joining(), with(files, progress), FakeCluster::default());
        cluster.has_node.set(has_node);
        run(&wanted, &mut host, &cluster).unwrap_or_else(|failure| panic!("{files:?}: {failure:?}"));
        assert_eq!((joins(&host), &cluster.waits.borrow()[..]), (kubeadm, waits), "{files:?}, {progress:?}");
        assert!(!host.files.contains_key(BOOTSTRAP), "{files:?}");
    }
}

/// A file with a certificate is not enough: it must be valid, and of the cluster that the kubeconfig names.
#[test]
fn a_certificate_that_has_expired_or_is_of_another_cluster_is_none() {
    for certificate in [client(&OWN, 2001), client(&OTHER, 3000), ca(&OWN), String::new()] {
        let (wanted, cluster) = (joining(), FakeCluster::default());
        let mut host = with(&[BOOTSTRAP, CA, KUBELET], Progress::Started);
        host.files.insert(CERTIFICATE.to_owned(), file(&certificate));
        run(&wanted, &mut host, &cluster).unwrap();
        assert_eq!((joins(&host), &cluster.waits.borrow()[..]), (1, &[NodeCondition::NotReady][..]), "{certificate}");
    }
}

#[test]
fn a_join_that_others_started_is_left_alone() {
    for files in [&[BOOTSTRAP][..], &[BOOTSTRAP, KUBELET], &[KUBELET]] {
        let (wanted, mut host, cluster) = (joining(), with(files, Progress::New), FakeCluster::default());
        let before = left(&host);
        let failure = run(&wanted, &mut host, &cluster).unwrap_err();
        assert!(matches!(*failure.cause, PlanError::Foreign(_)), "{failure:?}");
        assert_eq!((left(&host).files.get(BOOTSTRAP), joins(&host)), (before.files.get(BOOTSTRAP), 0), "{files:?}");
    }
}

#[test]
fn files_with_which_kubeadm_refuses_a_worker_are_named_before_discovery() {
    let (wanted, cluster) = (joining(), FakeCluster::default());
    let mut host = with(&[CA], Progress::New);
    let failure = run(&wanted, &mut host, &cluster).unwrap_err();
    let PlanError::Unfit(problems) = &*failure.cause else { panic!("{failure:?}") };
    assert!(problems.len() == 1 && problems[0].text.starts_with(CA), "{problems:?}");
    assert_eq!(failure.reason(), Reason::NodeOfAnotherCluster);
    assert_eq!((cluster.discoveries.get(), joins(&host)), (0, 0));
}

#[test]
fn a_kubelet_that_does_not_fit_the_cluster_is_refused_before_kubeadm_runs() {
    let (wanted, mut host, cluster) = (joining(), machine(), FakeCluster::default());
    *cluster.version.borrow_mut() = Some(ServerVersion { version: "v1.35.2".into(), skew: None });
    let failure = run(&wanted, &mut host, &cluster).unwrap_err();
    let PlanError::Unfit(problems) = &*failure.cause else { panic!("{failure:?}") };
    assert!(problems.len() == 1 && problems[0].text.contains("newer than the API server v1.35.2"), "{problems:?}");
    assert_eq!((failure.at.to_string().as_str(), joins(&host)), ("discovery", 0));
    assert_eq!(failure.reason(), Reason::VersionSkew);
    *cluster.version.borrow_mut() = Some(ServerVersion { version: "v1.36.0".into(), skew: None });
    cluster.has_node.set(true);
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(joins(&host), 1);
}

#[test]
fn a_node_of_another_cluster_is_not_joined() {
    let (wanted, cluster) = (joining(), FakeCluster::default());
    let mut host = with(&[KUBELET, CERTIFICATE, CA], Progress::New);
    host.files.insert(KUBELET.to_owned(), file(&kubeconfig_of(&ca(&OTHER))));
    host.files.insert(CERTIFICATE.to_owned(), file(&client(&OTHER, 3000)));
    let failure = run(&wanted, &mut host, &cluster).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::OtherCluster) && failure.cause.needs_operator(), "{failure:?}");
    assert_eq!((joins(&host), cluster.discoveries.get()), (0, 0));
}

#[test]
fn a_worker_whose_api_server_does_not_answer_is_left_as_it_is() {
    let (wanted, cluster) = (joining(), FakeCluster::default());
    cluster.is_silent.set(true);
    let mut host = with(&[KUBELET, CERTIFICATE, CA], Progress::Ended);
    run(&wanted, &mut host, &cluster).unwrap();
    assert_eq!(joins(&host), 0);
}

#[test]
fn power_lost_anywhere_ends_in_the_same_worker() {
    let wanted = joining();
    let mut whole = machine();
    let cluster = FakeCluster::default();
    cluster.has_node.set(true);
    run(&wanted, &mut whole, &cluster).unwrap();
    let is_same = |host: &Memory| {
        [KUBELET, CERTIFICATE, CA, BOOTSTRAP].iter().all(|path| host.files.get(*path) == whole.files.get(*path))
    };
    let mut cuts = 0;
    for power in 0.. {
        let (mut host, cluster) = (Memory { power: Some(power), ..machine() }, FakeCluster::default());
        cluster.has_node.set(true);
        if run(&wanted, &mut host, &cluster).is_ok() {
            break;
        }
        host.power = None;
        run(&wanted, &mut host, &cluster).unwrap_or_else(|failure| panic!("cut after {power}: {failure:?}"));
        assert!(is_same(&host), "cut after {power}: {:?}", host.files.keys());
        assert!(!host.files.contains_key("/run/machineadm/discovery.conf"), "cut after {power}");
        cuts += 1;
    }
    assert!(cuts > 10, "{cuts}");
}
