//! Preflight lists every problem at once, tolerates what a document names, and never guesses what only a command can bring.
use crate::support::{
    FORWARDING, FakeCluster, FakeRuntime, INIT, PATIENCE, TRACES, file, fresh, has, look, run, turn, wanted,
};
use cri::{CgroupDriver, RuntimeReport};
use host::{CgroupVersion, DiskSpace, Enablement, Host, Memory, Progress};
use machineadm_engine::{
    Ask, CHECKS, Checks, ContainerRuntime, Failure, Mode, NodeRole, Patience, PlanError, Planned, Preview, Prune,
    Remark, TurnId, Wanted, preview,
};
use std::time::{Duration, SystemTime};

const JOIN: &str = "discovery: {token: {endpoints: ['10.0.0.10:6443'], token: ae23dc.faddc87f5a5ab458, \
                    unsafeWithoutCAPins: true}}";

/// A machine and its runtime, to be spoiled.
struct Bed {
    host: Memory,
    runtime: FakeRuntime,
}

impl Bed {
    fn fit() -> Self {
        let mut host = fresh();
        host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
        Self { host, runtime: FakeRuntime::running() }
    }

    fn report(&mut self) -> &mut RuntimeReport {
        self.runtime.0.as_mut().unwrap()
    }

    fn preview(&self, wanted: &Wanted) -> Result<Preview, Failure> {
        let ask = Ask {
            mode: Mode::Provision,
            wanted,
            prune: Prune::List,
            manifests: machineadm_engine::Manifests::Respected,
            checks: Checks::Executed,
            patience: PATIENCE,
        };
        preview(&ask, &self.host, &FakeCluster::answering(Ok(true)), &self.runtime)
    }

    /// The problems of preflight, or its turn.
    fn preflight(&self, node: &Wanted) -> Result<Planned, Vec<String>> {
        match self.preview(node) {
            Ok(preview) => Ok(turn(&preview, "preflight").clone()),
            Err(failure) => {
                let PlanError::Unfit(problems) = &*failure.cause else { panic!("{failure:?}") };
                assert_eq!(failure.at, TurnId::from(machineadm_engine::outcome::AddedTurn::Preflight));
                Err(problems.iter().map(|problem| problem.text.clone()).collect())
            }
        }
    }
}

fn init(further: &str) -> Wanted {
    wanted(&[("InitConfig", "", &format!("{{kubernetesVersion: v1.36.4{further}}}"))])
}

fn join(further: &str) -> Wanted {
    wanted(&[("JoinConfig", "", &format!("{{{JOIN}{further}}}"))])
}

type Node = fn(&str) -> Wanted;

/// One way in which a machine is not fit.
struct Fault {
    check: &'static str,
    node: Node,
    /// What the document says besides.
    further: &'static str,
    spoil: fn(&mut Bed),
    /// A part of the problem.
    problem: &'static str,
}

const fn fault(check: &'static str, node: Node, spoil: fn(&mut Bed), problem: &'static str) -> Fault {
    Fault { check, node, further: "", spoil, problem }
}

fn version(bed: &mut Bed, program: &str, text: &str) {
    bed.host.outputs.insert(program.into(), text.into());
}

const FULL: DiskSpace = DiskSpace { bytes: 10 << 30, available: 900 << 20, inodes: 1000, available_inodes: 900 };
const NO_INODES: DiskSpace = DiskSpace { bytes: 100 << 30, available: 90 << 30, inodes: 1000, available_inodes: 49 };

const FAULTS: &[Fault] = &[
    fault("kubeadm", init, |bed| _ = bed.host.outputs.remove("kubeadm version -o short"), "kubeadm is not installed"),
    fault("kubeadm", init, |bed| version(bed, "kubeadm version -o short", "v1.37.1\n"), "kubeadm is v1.37.1, but"),
    fault("kubelet", join, |bed| _ = bed.host.outputs.remove("kubelet --version"), "the kubelet is not installed"),
    fault("kubelet", join, |bed| version(bed, "kubelet --version", "Kubernetes v1.37.0"), "newer than kubeadm v1.36.4"),
    fault("kubelet", join, |bed| version(bed, "kubelet --version", "Kubernetes v1.32.9"), "supports 1.33 and newer"),
    fault("kubelet", join, |bed| _ = bed.host.services.remove("kubelet"), "kubelet.service does not exist"),
    fault(
        "kubelet",
        join,
        |bed| _ = bed.host.enablement.insert("kubelet.service".into(), Enablement::Masked),
        "kubelet.service is masked",
    ),
    fault(
        "runtime",
        join,
        |bed| bed.runtime.0 = None,
        "does not answer: the socket /run/containerd/containerd.sock does",
    ),
    fault(
        "runtime",
        join,
        |bed| bed.report().not_ready = Some("no shim".into()),
        "containerd v2.4.2 is not ready: no shim",
    ),
    fault(
        "runtime",
        join,
        |bed| {
            version(bed, "kubeadm version -o short", "v1.38.0\n");
            version(bed, "kubelet --version", "Kubernetes v1.38.0");
            bed.report().cgroup_driver = None;
        },
        "does not implement the CRI method RuntimeConfig",
    ),
    Fault {
        further: ", kubelet: {cgroupDriver: systemd}",
        ..fault(
            "cgroup-driver",
            init,
            |bed| bed.report().cgroup_driver = Some(CgroupDriver::Cgroupfs),
            "kubelet.cgroupDriver is systemd, but the container runtime containerd v2.4.2 uses cgroupfs",
        )
    },
    fault(
        "cgroups",
        join,
        |bed| bed.host.resources.cgroups.version = CgroupVersion::V1,
        "control groups have version 1",
    ),
    fault(
        "cgroups",
        join,
        |bed| bed.host.resources.cgroups.controllers = ["cpu".into(), "pids".into()].into(),
        "missing: cpuset, memory",
    ),
    fault("swap", join, |bed| bed.host.resources.swaps = vec!["/dev/sda2".into()], "swap is on (/dev/sda2)"),
    fault("memory", init, |bed| bed.host.resources.memory = 1699 << 20, "1699 MiB of memory"),
    fault("cpu", init, |bed| bed.host.resources.processors = 1, "has 1 CPU"),
    fault("ports", init, |bed| _ = bed.host.ports.insert(2379), "port 2379 is in use"),
    Fault {
        further: ", apiServerPort: 6444",
        ..fault("ports", init, |bed| bed.host.ports.extend([6443, 6444]), "port 6444 is in use")
    },
    fault("ports", join, |bed| _ = bed.host.ports.insert(10250), "port 10250 is in use"),
    fault(
        "ip-forward",
        join,
        |bed| _ = bed.host.sysctls.insert("net/ipv4/ip_forward".into(), "0".into()),
        "net.ipv4.ip_forward is not 1",
    ),
    Fault {
        further: ", podSubnets: [10.244.0.0/16, 'fd00::/56']",
        ..fault("ip-forward", init, |_| (), "net.ipv6.conf.default.forwarding is not 1")
    },
    fault("kernel-modules", join, |bed| bed.host.resources.loadable.clear(), "no overlay file system"),
    fault(
        "kernel-modules",
        join,
        |bed| {
            version(bed, "kubeadm version -o short", "v1.29.15\n");
            version(bed, "kubelet --version", "Kubernetes v1.29.15");
        },
        "net.bridge.bridge-nf-call-iptables is not 1",
    ),
    fault(
        "disk",
        join,
        |bed| _ = bed.host.resources.spaces.insert("/var/lib/kubelet".into(), FULL),
        "/var/lib/kubelet has 900 MiB free",
    ),
    fault("disk", init, |bed| _ = bed.host.resources.spaces.insert("/var/lib/etcd".into(), FULL), "/var/lib/etcd has"),
    fault(
        "disk",
        join,
        |bed| {
            bed.report().root = Some("/srv/images".into());
            bed.host.resources.spaces.insert("/srv".into(), NO_INODES);
        },
        "/srv/images has 4 % of its inodes free",
    ),
    fault(
        "clock",
        join,
        |bed| bed.host.resources.clock.now = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400),
        "the clock of this machine is 1970-01-02T00:00:00Z",
    ),
    Fault {
        further: ", controlPlaneEndpoint: 'api.example:6443'",
        ..fault("name-resolution", init, |_| (), "the host api.example of controlPlaneEndpoint has no address")
    },
    fault(
        "files",
        init,
        |bed| _ = bed.host.files.insert("/var/lib/etcd/member/wal".into(), file("")),
        "/var/lib/etcd is",
    ),
    Fault {
        further: ", etcd: {dataDirectory: /srv/etcd}",
        ..fault(
            "files",
            init,
            |bed| {
                bed.host.files.insert("/var/lib/etcd/member/wal".into(), file(""));
                bed.host.files.insert("/srv/etcd/member/wal".into(), file(""));
            },
            "/srv/etcd is",
        )
    },
    Fault { further: ", patches: /srv/patches", ..fault("files", init, |_| (), "/srv/patches is not a directory") },
    fault(
        "files",
        join,
        |bed| _ = bed.host.files.insert("/etc/kubernetes/pki/ca.crt".into(), file("")),
        "/etc/kubernetes/pki/ca.crt exists",
    ),
    Fault {
        further: ", imagePull: Never",
        ..fault(
            "images",
            init,
            |bed| {
                let list = "registry.k8s.io/pause:3.10.2\nregistry.k8s.io/etcd:3.6.8-0\n";
                version(bed, "kubeadm config images list --kubernetes-version v1.36.4", list);
                bed.report().images = ["registry.k8s.io/pause:3.10.2".into()].into();
            },
            "the image registry.k8s.io/etcd:3.6.8-0 is missing",
        )
    },
    Fault {
        further: ", imagePull: Never, imageRepository: r.example/k8s",
        ..fault(
            "images",
            init,
            |bed| {
                let list = "kubeadm config images list --kubernetes-version v1.36.4 --image-repository r.example/k8s";
                version(bed, list, "r.example/k8s/pause:3.10.2\n");
            },
            "the image r.example/k8s/pause:3.10.2 is missing",
        )
    },
    Fault {
        further: ", imagePull: Never",
        ..fault(
            "images",
            join,
            |bed| bed.report().sandbox_image = Some("a/pause:1".into()),
            "the image a/pause:1 is missing",
        )
    },
    Fault { further: ", imagePull: Never", ..fault("images", join, |_| (), "has no sandbox image") },
    fault(
        "programs",
        join,
        |bed| bed.host.resources.missing_programs = ["losetup".into(), "cp".into(), "crictl".into()].into(),
        "not installed: losetup, cp:",
    ),
];

fn texts(planned: &Planned) -> Vec<String> {
    planned.remarks.iter().map(ToString::to_string).collect()
}

#[test]
fn each_check_reports_its_problem_alone_and_is_tolerated_by_its_name_alone() {
    for Fault { check, node, further, spoil, problem } in FAULTS {
        let mut bed = Bed::fit();
        spoil(&mut bed);
        let problems = bed.preflight(&node(further)).expect_err(problem);
        assert!(problems.len() == 1 && problems[0].contains(problem), "{check}: {problems:?}");
        assert!(!problems[0].contains('\n') && problems[0].contains(':'), "one line, with the next step: {problems:?}");
        // Without kubeadm nothing can be planned, tolerated or not.
        if problem.starts_with("kubeadm is not") {
            continue;
        }
        for tolerated in [check, "all"] {
            let planned = bed.preflight(&node(&format!("{further}, toleratedChecks: [{tolerated}]")));
            let planned = planned.unwrap_or_else(|problems| panic!("{tolerated}: {problems:?}"));
            assert!(
                planned.remarks.iter().any(|remark| matches!(remark, Remark::Tolerated { check: found, text }
                if found == check && text.contains(problem))),
                "{check}: {:?}",
                texts(&planned)
            );
            assert!(texts(&planned)[0].ends_with("checks, 1 problem tolerated"), "{:?}", texts(&planned));
        }
        let other = if *check == "swap" { "cpu" } else { "swap" };
        let still = bed.preflight(&node(&format!("{further}, toleratedChecks: [{other}]")));
        assert!(still.is_err(), "{check} is not {other}");
    }
}

#[test]
fn every_check_has_a_fault_here() {
    let missing: Vec<_> = CHECKS
        .iter()
        .map(|check| check.check.name())
        .filter(|name| FAULTS.iter().all(|fault| fault.check != *name))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_machine_that_is_fit_passes_every_check_of_its_role() {
    let of_worker = CHECKS.iter().filter(|check| check.role == NodeRole::Every).count();
    for (node, count) in [(init as Node, CHECKS.len()), (join, of_worker)] {
        let planned = Bed::fit().preflight(&node("")).unwrap();
        assert_eq!(texts(&planned), [format!("{count} checks, all pass")]);
        assert_eq!(
            (planned.facts.kubeadm.as_deref(), planned.facts.kubelet.as_deref()),
            (Some("v1.36.4"), Some("v1.36.4"))
        );
    }
}

#[test]
fn preflight_lists_everything_that_is_wrong_at_once() {
    let mut host = Memory { ports: [6443, 10250].into(), ..Memory::default() };
    host.outputs.insert("kubeadm version -o short".into(), "v1.35.9\n".into());
    host.resources.swaps.push("/swap".into());
    let failure = run(Mode::Provision, &wanted(&[INIT]), &mut host).unwrap_err();
    let PlanError::Unfit(problems) = &*failure.cause else { panic!("{failure:?}") };
    let found = [
        "kubeadm is v1.35.9",
        "kubelet.service does not",
        "the kubelet is not",
        "swap is on",
        "port 6443",
        "port 10250",
        "net.ipv4.ip_forward",
    ];
    assert_eq!((failure.at.to_string().as_str(), problems.len()), ("preflight", found.len()), "{problems:?}");
    assert!(problems.iter().zip(found).all(|(problem, found)| problem.text.contains(found)), "{problems:?}");
    assert_eq!(failure.cause.to_string().lines().count(), problems.len());
    assert_eq!(host.log, Vec::<String>::new());
    assert!(!failure.cause.needs_operator(), "a machine that is put right goes on by itself");
}

#[test]
fn a_worker_forwards_packets_of_the_family_by_which_it_reaches_its_cluster() {
    let joining = |endpoint: &str| {
        let discovery =
            format!("{{endpoints: ['{endpoint}'], token: ae23dc.faddc87f5a5ab458, unsafeWithoutCAPins: true}}");
        wanted(&[("JoinConfig", "", &format!("{{discovery: {{token: {discovery}}}}}"))])
    };
    let problems = |endpoint: &str, address: Option<&str>, forwarded: &[&str]| {
        let mut bed = Bed { host: fresh(), runtime: FakeRuntime::running() };
        bed.host.address = address.map(|address| address.parse().unwrap());
        for parameter in forwarded {
            bed.host.sysctls.insert((*parameter).to_owned(), "1".into());
        }
        bed.preflight(&joining(endpoint)).err().unwrap_or_default()
    };
    let (ipv4, ipv6) = ("net/ipv4/ip_forward", "net/ipv6/conf/default/forwarding");
    for (endpoint, address) in [("[fd00::10]:6443", None), ("api.example.com:6443", Some("fd00::7"))] {
        assert_eq!(
            problems(endpoint, address, &[ipv6]),
            [""; 0],
            "{endpoint}: without IPv4 nobody needs its forwarding"
        );
        assert!(problems(endpoint, address, &[ipv4]).concat().contains("net.ipv6.conf.default.forwarding is not 1"));
    }
    for (endpoint, address) in [("10.0.0.10:6443", None), ("api.example.com:6443", None)] {
        assert_eq!(problems(endpoint, address, &[ipv4]), [""; 0], "{endpoint}");
        assert!(problems(endpoint, address, &[ipv6]).concat().contains("net.ipv4.ip_forward is not 1"), "{endpoint}");
    }
}

#[test]
fn what_a_document_configures_is_no_problem() {
    let mut bed = Bed::fit();
    bed.host.resources.swaps.push("/swap".into());
    bed.host.resources.cgroups.version = CgroupVersion::V1;
    assert!(bed.preflight(&init(", kubelet: {failSwapOn: false, failCgroupV1: false}")).is_ok());
    // An old kubelet accepts version 1, and an old kubeadm wants no static pods.
    let of = |bed: &mut Bed, minor: &str| {
        version(bed, "kubeadm version -o short", &format!("v1.{minor}.0\n"));
        version(bed, "kubelet --version", &format!("Kubernetes v1.{minor}.0"));
        bed.host.resources.swaps.clear();
    };
    of(&mut bed, "34");
    bed.host.files.insert("/etc/kubernetes/manifests/vip.yaml".into(), file(""));
    assert!(bed.preflight(&join("")).is_ok());
    of(&mut bed, "22");
    bed.host.sysctls.insert("net/bridge/bridge-nf-call-iptables".into(), "1".into());
    let problems = bed.preflight(&join("")).unwrap_err();
    assert!(problems.len() == 1 && problems[0].starts_with("/etc/kubernetes/manifests is not empty"), "{problems:?}");
}

#[test]
fn what_is_only_worth_knowing_stops_nothing() {
    let mut bed = Bed::fit();
    bed.report().cgroup_driver = None;
    bed.host.resources.clock.synchronized = Some(false);
    let low = DiskSpace { bytes: 100 << 30, available: 9 << 30, inodes: 0, available_inodes: 0 };
    bed.host.resources.spaces.insert("/var".into(), low);
    bed.host.sysctls.insert("kernel/hostname".into(), "Node-7".into());
    let remarks = texts(&bed.preflight(&join("")).unwrap());
    let found = [
        "15 checks, all pass",
        "runtime: the container",
        "disk: the file system of /var/lib/containerd has 9 % free",
        "clock: systemd-timesyncd",
        "name-resolution: the name node-7",
    ];
    assert!(
        remarks.len() == found.len() && remarks.iter().zip(found).all(|(remark, found)| remark.starts_with(found)),
        "{remarks:?}"
    );
    // In /etc/hosts, no resolver is needed.
    bed.host.files.insert("/etc/hosts".into(), file("10.0.0.7 node-7\n"));
    assert!(!texts(&bed.preflight(&join("")).unwrap()).iter().any(|remark| remark.contains("node-7")));
    // With thresholds of its own, the default ones mean nothing.
    let own = bed.preflight(&join(", kubelet: {evictionHard: {nodefs.available: 1%}}")).unwrap();
    assert!(!texts(&own).iter().any(|remark| remark.starts_with("disk")), "{:?}", texts(&own));
}

#[test]
fn a_run_of_our_own_is_not_refused_for_what_it_has_left() {
    for (node, id, left) in
        [(init as Node, "kubeadm init", TRACES[0]), (join, "kubeadm join", "/etc/kubernetes/bootstrap-kubelet.conf")]
    {
        let mut bed = Bed::fit();
        bed.host.ports.extend([6443, 10250, 2379]);
        bed.host.resources.spaces.insert("/var".into(), FULL);
        for path in [left, "/etc/kubernetes/pki/ca.crt", "/var/lib/etcd/member/wal"] {
            bed.host.files.insert(path.into(), file(""));
        }
        bed.host.note(id, Progress::Started).unwrap();
        bed.preflight(&node("")).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
        // What has nothing to do with it is refused as before.
        bed.host.resources.swaps.push("/swap".into());
        assert_eq!(bed.preflight(&node("")).unwrap_err().len(), 1, "{id}");
    }
}

#[test]
fn a_machine_that_is_a_node_is_not_judged_again() {
    let mut bed = Bed::fit();
    TRACES.iter().for_each(|path| _ = bed.host.files.insert((*path).into(), file("")));
    bed.host.note("kubeadm init", Progress::Ended).unwrap();
    bed.host.resources.swaps.push("/swap".into());
    bed.runtime = FakeRuntime(None);
    assert_eq!(texts(&bed.preflight(&init("")).unwrap()), ["1 check passes"]);
}

#[test]
fn a_runtime_that_an_earlier_document_starts_is_known_after_it() {
    let mut bed = Bed::fit();
    bed.host.services.insert("containerd".into(), false);
    bed.runtime = FakeRuntime(None);
    let starts = ("ServicesConfig", "runtime", "{services: [{name: containerd, state: started}]}");
    let preview = bed.preview(&wanted(&[starts, INIT])).unwrap();
    let known_after = turn(&preview, "preflight").known_after.clone().unwrap();
    assert_eq!(known_after.reference(), "document 1 (ServicesConfig runtime)");
}

/// A runtime that does not run is started by a turn before preflight, unless nobody knows its unit or it is masked.
#[test]
fn a_runtime_is_waited_for_only_while_it_may_still_start() {
    /// Remembers whether it would have been waited for.
    struct Waited(std::cell::Cell<bool>);
    impl ContainerRuntime for Waited {
        fn ask(&self, socket: &str, patience: &Patience<'_>) -> cri::Result<RuntimeReport> {
            self.0.set((patience.while_true)());
            Err(cri::Error::NoSocket { socket: socket.to_owned() })
        }
    }
    let waited = |runs: bool, enablement: Enablement| {
        let mut bed = Bed::fit();
        bed.host.services.extend([("containerd".into(), runs), ("multi-user.target".into(), true)]);
        bed.host.enablement.insert("containerd.service".into(), enablement);
        let (wanted, runtime) = (init(""), Waited(std::cell::Cell::new(false)));
        let ask = Ask {
            mode: Mode::Provision,
            wanted: &wanted,
            prune: Prune::List,
            manifests: machineadm_engine::Manifests::Respected,
            checks: Checks::Executed,
            patience: PATIENCE,
        };
        assert!(preview(&ask, &bed.host, &FakeCluster::answering(Ok(true)), &runtime).is_err());
        runtime.0.get()
    };
    assert!(waited(true, Enablement::Enabled));
    assert!(!waited(false, Enablement::Masked));
}

#[test]
fn a_parameter_that_an_earlier_document_sets_is_no_problem_and_one_after_it_is() {
    assert!(look(Mode::Provision, &wanted(&[FORWARDING, INIT]), &fresh()).is_ok());
    let failure = look(Mode::Provision, &wanted(&[INIT, FORWARDING]), &fresh()).unwrap_err();
    assert!(
        failure.at == TurnId::from(machineadm_engine::outcome::AddedTurn::Preflight)
            && failure.cause.to_string().contains("ip_forward"),
        "{failure:?}"
    );
}

#[test]
fn a_cluster_that_was_started_outside_is_left_alone() {
    let mut host = fresh();
    host.files.insert(TRACES[0].into(), file(""));
    let failure = run(Mode::Provision, &wanted(&[FORWARDING, INIT]), &mut host).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Foreign(_)) && failure.cause.needs_operator(), "{failure:?}");
    assert!(has(&host, TRACES[0]));
    assert_eq!(host.log, ["enable containerd", "enable kubelet"]);
}

#[test]
fn a_root_that_does_not_run_creates_no_cluster() {
    let failure = run(Mode::Provision, &wanted(&[INIT]), &mut Memory { live: false, ..fresh() }).unwrap_err();
    assert_eq!(failure.at.to_string(), "preflight");
}

#[test]
fn what_commands_may_still_bring_is_known_after_their_document() {
    let command = ("CommandsConfig", "install", "{commands: [{name: kubeadm, argv: [touch, /x], creates: /x}]}");
    let late = ("CommandsConfig", "late", "{commands: [{name: y, argv: ['true']}]}");
    let wanted = wanted(&[command, FORWARDING, INIT, late]);
    let mut host = fresh();
    let preview = look(Mode::Provision, &wanted, &host).unwrap();
    for name in ["preflight", "InitConfig"] {
        let known_after = turn(&preview, name).known_after.clone().unwrap();
        assert_eq!(known_after.reference(), "document 1 (CommandsConfig install)", "{name}");
    }
    run(Mode::Provision, &wanted, &mut host).unwrap();
    assert!(has(&host, TRACES[5]));
}

#[test]
fn a_command_that_always_runs_does_not_keep_the_cluster_waiting() {
    let always = ("CommandsConfig", "", "{commands: [{name: always, argv: ['true'], run: always}]}");
    let mut host = fresh();
    run(Mode::Provision, &wanted(&[always, FORWARDING, INIT]), &mut host).unwrap();
    assert!(has(&host, TRACES[5]));
}
