//! A configuration, a machine and a cluster to try the engine on.
use certs::{CertificateSet, Etcd, FileName, FileSet, Found, check_download, check_upload};
use cri::{CgroupDriver, RuntimeReport};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use documents::{Secret, Source};
use host::{DirectoryState, Draft, FileState, Inspect, Memory, PathState, Played};
use jiff::Timestamp;
use machineadm_engine::{
    Ask, CertificateCopy, Checks, Cluster, ContainerRuntime, Done, Download, Downloads, Event, Failure, Line, Mode,
    NodeWait, Patience, Planned, Preview, Prune, ReviewedPlan, Run, ServerVersion, Unanswered, Wanted, World,
    bootstrap, preview,
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    path::Path,
    time::Duration,
};

/// A document: its kind, its name (or none), its spec.
pub(crate) type Document<'a> = (&'a str, &'a str, &'a str);

/// A configuration of these documents.
pub(crate) fn wanted(documents: &[Document<'_>]) -> Wanted {
    let document = |(kind, name, spec): &Document<'_>| {
        let metadata = if name.is_empty() { String::new() } else { format!("metadata: {{name: {name}}}\n") };
        format!("---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: {kind}\n{metadata}spec: {spec}\n")
    };
    let text: String = documents.iter().map(document).collect();
    let read = documents::read(vec![Source { name: "test".into(), bytes: text.into_bytes().into() }]);
    assert!(!read.report.has_errors(), "{}", read.report);
    Wanted::of(read.documents)
}

pub(crate) const FORWARDING: Document<'_> = ("SysctlConfig", "forwarding", "{parameters: {net.ipv4.ip_forward: '1'}}");
pub(crate) const INIT: Document<'_> = ("InitConfig", "", "{kubernetesVersion: v1.36.4}");

/// A document of every kind that asks something of a machine.
pub(crate) fn everything() -> Wanted {
    wanted(&[
        ("TrustBundleConfig", "", &format!("{{certificates: {:?}}}", certificate())),
        ("ProxyConfig", "", "{httpProxy: 'http://proxy.example:3128', services: [containerd, kubelet]}"),
        ("KernelModulesConfig", "", "{modules: [overlay, br_netfilter]}"),
        ("SysctlConfig", "", "{parameters: {net.ipv4.ip_forward: '1', net.bridge.bridge-nf-call-iptables: '1'}}"),
        (
            "FilesConfig",
            "",
            "{files: [{path: /etc/motd, content: hello}, {path: /etc/hosts, block: a, content: 10.0.0.1 a}, \
             {path: /etc/hosts, block: b, content: 10.0.0.2 b}, {path: /etc/key, content: s3cret, mode: '0600'}, \
             {path: /etc/kubernetes/pki/ca.crt, content: the user's own}, \
             {path: /srv/etcd, type: directory, mode: '0700'}, {path: /srv/etcd/note, content: x}, \
             {path: /etc/localtime, type: link, target: ../zone}, {path: /etc/old.conf, type: absent}]}",
        ),
        (
            "ContainerdConfig",
            "",
            "{registries: [{host: docker.io, mirrors: [{url: 'https://mirror.example', headers: {x: s3cret}}]}], \
             cgroupDriver: systemd}",
        ),
        (
            "CommandsConfig",
            "early",
            "{commands: [{name: seen, argv: [touch, /seen], creates: /seen}, {name: unseen, shell: 'true'}]}",
        ),
        (
            "UsersConfig",
            "",
            "{groups: [{name: operators, gid: 2000}], users: [{name: alice, groups: [operators], \
             passwordHash: '$6$s3cret$hash', sshAuthorizedKeys: [ssh-ed25519 \
             AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a]}]}",
        ),
        (
            "ServicesConfig",
            "",
            "{services: [{name: containerd, enabled: true, state: started}, {name: chrony, masked: true, state: stopped}, \
             {name: kubelet, enabled: true, state: started}]}",
        ),
        (
            "ControlPlaneConfig",
            "",
            "{audit: {policy: '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}'}, files: [{name: \
             ca.crt, content: s3cret}]}",
        ),
        (
            "StaticPodsConfig",
            "",
            "{pods: [{manifest: '{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: \
             b}]}}'}]}",
        ),
        INIT,
        ("CommandsConfig", "late", "{commands: [{name: checked, argv: [touch, /late], unless: 'test -e /late'}]}"),
    ])
}

/// The certificate of the kind's own example.
fn certificate() -> String {
    let trust_bundle = documents::KINDS.iter().find(|kind| kind.kind == "TrustBundleConfig");
    let example = trust_bundle.expect("the kind is listed").example;
    example.lines().map(str::trim).skip_while(|line| !line.starts_with("-----BEGIN")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn file(text: &str) -> FileState {
    FileState { contents: Secret::new(text.into()), mode: 0o644, uid: 0, gid: 0 }
}

pub(crate) fn text_of(host: &Memory, path: &str) -> String {
    String::from_utf8(host.files[path].contents.expose().clone()).expect("text")
}

/// What `kubeadm init` leaves on a machine, in its order.
pub(crate) const TRACES: [&str; 6] = [
    "/etc/kubernetes/kubelet.conf",
    "/etc/kubernetes/admin.conf",
    "/etc/kubernetes/manifests/etcd.yaml",
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    "/etc/kubernetes/manifests/kube-controller-manager.yaml",
    "/etc/kubernetes/manifests/kube-scheduler.yaml",
];

/// A machine with containerd and kubeadm, and nothing of machineadm's.
pub(crate) fn fresh() -> Memory {
    let init = TRACES.map(|path| Played::Write(path.into(), String::new())).to_vec();
    // As `kubeadm reset` does, whoever put them there.
    let reset = vec![Played::RemoveBelow("/etc/kubernetes/".into())];
    Memory {
        files: [
            ("/etc/hosts".into(), file("127.0.0.1 localhost\n")),
            ("/etc/old.conf".into(), file("old\n")),
            ("/run/containerd/containerd.sock".into(), file("")),
        ]
        .into(),
        outputs: [
            ("kubeadm version -o short".into(), "v1.36.4\n".into()),
            ("kubelet --version".into(), "Kubernetes v1.36.4\n".into()),
            ("containerd --version".into(), "containerd github.com/containerd/containerd/v2 v2.4.2 \n".into()),
            (
                "containerd config default".into(),
                "version = 3\n[plugins.'io.containerd.cri.v1.images']\n[plugins.'io.containerd.cri.v1.runtime']\n\
                 [plugins.'io.containerd.grpc.v1.cri']\n"
                    .into(),
            ),
        ]
        .into(),
        // A containerd that takes up everything.
        echoing: ["containerd -c /dev/stdin config dump".to_owned()].into(),
        programs: [("kubeadm init".into(), init), ("kubeadm reset".into(), reset)].into(),
        sysctls: [("net/ipv4/ip_forward".into(), "0".into())].into(),
        sysctls_of: [("net/bridge/bridge-nf-call-iptables".into(), ("br_netfilter".into(), "0".into()))].into(),
        services: [("containerd".into(), true), ("kubelet".into(), false), ("chrony".into(), true)].into(),
        ..Memory::default()
    }
}

/// A cluster whose API server answers what it is told, and remembers what it was asked.
pub(crate) struct FakeCluster {
    pub(crate) answer: Result<bool, Unanswered>,
    pub(crate) asked: RefCell<Vec<Duration>>,
    /// None where nothing may ask for it.
    pub(crate) certs: Option<FakeCertificates>,
    /// Whether it has the token that `kubeadm init` creates although nobody uses it.
    pub(crate) has_token: Cell<bool>,
}

/// Where that token is.
const UNUSED_TOKEN: &str = "/api/v1/namespaces/kube-system/secrets/bootstrap-token-unused";

/// The certificates copy of a fake cluster. It encrypts nothing, but it checks whatever it is asked.
#[derive(Default)]
pub(crate) struct FakeCertificates {
    /// The digits of a key, and the files that it would decrypt.
    pub(crate) stored: RefCell<Option<(String, BTreeMap<FileName, Found>)>>,
    /// How often it was asked to store something.
    pub(crate) uploads: Cell<usize>,
    /// Whether an upload fails.
    pub(crate) fails: Cell<bool>,
    /// Whether it gives no answer when it is looked at.
    pub(crate) silent: Cell<bool>,
    /// Where the files of the node are; where kubeadm puts them if absent.
    pub(crate) directory: Cell<Option<&'static str>>,
}

/// The kubeconfig that `kubeadm init` leaves for the administrator.
pub(crate) const ADMIN_KUBECONFIG: &str = "the administrator's kubeconfig";

impl FakeCluster {
    pub(crate) fn answering(answer: Result<bool, Unanswered>) -> Self {
        Self { answer, asked: RefCell::default(), certs: None, has_token: Cell::new(true) }
    }

    /// One that has everything, and no certificates copy yet.
    pub(crate) fn with_certificates() -> Self {
        Self { certs: Some(FakeCertificates::default()), ..Self::answering(Ok(true)) }
    }

    /// The copy, for somebody who asks with the administrator's rights for the files of a usual cluster.
    fn certs(&self, kubeconfig: &[u8], copy: &CertificateCopy<'_>) -> &FakeCertificates {
        let Some(certs) = &self.certs else { panic!("nothing here copies certificates") };
        assert_eq!(kubeconfig, ADMIN_KUBECONFIG.as_bytes());
        assert_eq!(copy.directory, Path::new(certs.directory.get().unwrap_or("/etc/kubernetes/pki")));
        assert_eq!(*copy.files, FileSet::new(&Etcd::Stacked));
        certs
    }
}

impl Cluster for FakeCluster {
    fn has(&self, _: &[u8], objects: &[&str], patience: &Patience<'_>) -> Result<bool, Unanswered> {
        if objects == [UNUSED_TOKEN] {
            return self.answer.clone().map(|_| self.has_token.get());
        }
        assert!(objects[0].ends_with("/configmaps/kubeadm-config"), "{objects:?}");
        self.asked.borrow_mut().push(patience.within);
        self.answer.clone()
    }

    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("a control plane names its networks itself")
    }

    fn delete(&self, _: &[u8], object: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        assert_eq!(object, UNUSED_TOKEN);
        self.has_token.set(false);
        Ok(())
    }

    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, machineadm_engine::PlanError> {
        panic!("nothing here discovers a cluster")
    }

    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        panic!("nothing here discovers a cluster")
    }

    fn wait_for_node(&self, _: &[u8], _: &NodeWait<'_>) -> Result<(), Unanswered> {
        panic!("nothing here waits for a Node")
    }

    fn live_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        patience: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        let certs = self.certs(kubeconfig, copy);
        assert_eq!(patience.within, PATIENCE);
        if certs.silent.get() {
            return Err(Unanswered("it did not answer".into()));
        }
        let stored = certs.stored.borrow().clone();
        let own = stored.filter(|(digits, _)| *digits == copy.key.expose_digits().as_str()).map(|(_, files)| files);
        Ok(own.and_then(|files| check_download(copy.files, files, &CaBundle::default(), Timestamp::now()).ok()))
    }

    fn upload_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        found: BTreeMap<FileName, Found>,
    ) -> Result<(), machineadm_engine::PlanError> {
        let certs = self.certs(kubeconfig, copy);
        certs.uploads.set(certs.uploads.get() + 1);
        check_upload(copy.files, found.clone(), Timestamp::now()).expect("a whole set is uploaded");
        if certs.fails.get() {
            let (what, why) = ("certificates".to_owned(), "the token cleaner does not work".to_owned());
            return Err(host::Error::Unfit { what, why, advice: "start it".to_owned() }.into());
        }
        *certs.stored.borrow_mut() = Some((copy.key.expose_digits().to_string(), found));
        Ok(())
    }

    fn download_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &CaBundle,
    ) -> Result<CertificateSet, machineadm_engine::PlanError> {
        panic!("no document asks for a download yet")
    }
}

/// A container runtime that answers so; `None` does not run.
pub(crate) struct FakeRuntime(pub(crate) Option<RuntimeReport>);

impl FakeRuntime {
    /// containerd, as it should be.
    pub(crate) fn report() -> RuntimeReport {
        RuntimeReport {
            name: "containerd".into(),
            version: "v2.4.2".into(),
            cgroup_driver: Some(CgroupDriver::Systemd),
            ..RuntimeReport::default()
        }
    }

    pub(crate) fn running() -> Self {
        Self(Some(Self::report()))
    }
}

impl ContainerRuntime for FakeRuntime {
    fn ask(&self, socket: &str, patience: &Patience<'_>) -> cri::Result<RuntimeReport> {
        assert!(socket.starts_with("/run/") && patience.within == PATIENCE, "{socket}, {:?}", patience.within);
        self.0.clone().ok_or_else(|| cri::Error::NoSocket { socket: socket.to_owned() })
    }
}

/// Nothing may be fetched.
pub(crate) struct NoDownloads;

impl Downloads for NoDownloads {
    fn receive(&self, download: &Download<'_>, _: &mut dyn Draft) -> host::Result<()> {
        panic!("nothing here fetches {}", download.name)
    }
}

pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// What a plan says of this machine.
pub(crate) fn look(mode: Mode, wanted: &Wanted, host: &Memory) -> Result<Preview, Failure> {
    look_with(mode, wanted, host, Prune::List)
}

pub(crate) fn look_with(mode: Mode, wanted: &Wanted, host: &Memory, prune: Prune) -> Result<Preview, Failure> {
    let ask = Ask {
        mode,
        wanted,
        prune,
        manifests: machineadm_engine::Manifests::Respected,
        checks: Checks::Executed,
        patience: PATIENCE,
    };
    preview(&ask, host, &FakeCluster::answering(Ok(true)), &FakeRuntime::running())
}

/// The planned turn of this name.
pub(crate) fn turn<'a>(preview: &'a Preview, name: &str) -> &'a Planned {
    let found = preview.0.iter().find(|(label, _)| label.to_string() == name);
    &found.unwrap_or_else(|| panic!("no turn {name}")).1
}

/// Runs it, with a cluster that has everything.
pub(crate) fn run(mode: Mode, wanted: &Wanted, host: &mut Memory) -> Result<Done, Failure> {
    run_as(
        &Run { mode, wanted, prune: Prune::List, manifests: machineadm_engine::Manifests::Respected, reviewed: None },
        host,
        &FakeCluster::answering(Ok(true)),
    )
}

pub(crate) fn run_pruning(wanted: &Wanted, host: &mut Memory) -> Result<Done, Failure> {
    let run = Run {
        mode: Mode::Post,
        wanted,
        prune: Prune::Restore,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    run_as(&run, host, &FakeCluster::answering(Ok(true)))
}

pub(crate) fn run_reviewed(plan: &ReviewedPlan, wanted: &Wanted, host: &mut Memory) -> Result<Done, Failure> {
    let run = Run {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: Some(plan),
    };
    run_as(&run, host, &FakeCluster::answering(Ok(true)))
}

pub(crate) fn run_as(run: &Run<'_>, host: &mut Memory, cluster: &FakeCluster) -> Result<Done, Failure> {
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    bootstrap(run, world, &mut |_| ())
}

/// Every change of a run, in order, as a report names them.
pub(crate) fn changes(mode: Mode, wanted: &Wanted, host: &mut Memory) -> Vec<String> {
    let run =
        Run { mode, wanted, prune: Prune::List, manifests: machineadm_engine::Manifests::Respected, reviewed: None };
    let cluster = FakeCluster::answering(Ok(true));
    let mut changes = Vec::new();
    let mut watch = |event: Event<'_>| {
        if let Event::Done(_, _, step) = event
            && step.is_change()
        {
            changes.push(Line::of(step).to_string());
        }
    };
    let world = &mut World {
        host,
        cluster: &cluster,
        runtime: &FakeRuntime::running(),
        downloads: &NoDownloads,
        patience: PATIENCE,
    };
    bootstrap(&run, world, &mut watch).expect("the run succeeds");
    changes
}

/// What a run leaves, without the log of how it came to be. A directory with the usual mode is the same whether it was
/// created by itself or on the way to a file.
pub(crate) fn left(host: &Memory) -> Memory {
    let mut left = Memory { log: Vec::new(), environments: BTreeMap::new(), ..host.clone() };
    let usual = DirectoryState { mode: 0o755, uid: 0, gid: 0 };
    left.directories.retain(|path, state| {
        let is_implied = matches!(host.state_at(path), Ok(PathState::Directory { entries: 1.., .. }));
        *state != usual || !is_implied
    });
    left
}

/// Whether a path is there.
pub(crate) fn has(host: &Memory, path: &str) -> bool {
    host.exists(path).expect("memory answers")
}
