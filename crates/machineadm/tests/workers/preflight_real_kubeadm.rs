//! The preflight checks of real kubeadms: every error that one prints is in our table, and is ignored by our name for it.
//!
//! kubeadm runs in a sandbox in which everything is wrong that can be: no runtime, no kubelet, no programs, one CPU, ports
//! in use, files of another cluster, and a fake row of swap.
use crate::support::sandbox::Sandbox;
use documents::v1alpha1::PreflightCheck;
use kubeadm::preflight_checks::{self, CHECKS};
use std::{collections::BTreeSet, fs};
use testbed::programs::{KUBEADM_1_21, KUBEADM_1_26, KUBEADM_1_30, KUBEADM_1_31, KUBEADM_1_37, KUBERNETES, Set};

const IN_USE: &[&Set] = &[&KUBEADM_1_30, &KUBERNETES, &KUBEADM_1_37];
const OLDER: &[&Set] = &[&KUBEADM_1_21, &KUBEADM_1_26, &KUBEADM_1_31];

/// Spoils the sandbox. The listener ends with it.
const SPOIL: &str = r#"
ip link set lo up
echo 0 > /proc/sys/net/ipv4/ip_forward
printf 'Filename Type Size Used Priority\n/fake-swap file 1024 0 -2\n' > /srv/fake-swaps
mount --bind /srv/fake-swaps /proc/swaps
rm -rf /etc/kubernetes /var/lib/etcd
mkdir -p /etc/kubernetes/manifests /etc/kubernetes/pki /var/lib/etcd/member
for name in kube-apiserver kube-controller-manager kube-scheduler etcd; do : > /etc/kubernetes/manifests/$name.yaml; done
: > /etc/kubernetes/pki/ca.crt
: > /etc/kubernetes/kubelet.conf
: > /etc/kubernetes/bootstrap-kubelet.conf
python3 - > /dev/null 2>&1 <<'END' &
import signal, socket
sockets = [socket.create_server(("", port)) for port in (6443, 2379, 2380, 10250, 10257, 10259)]
open("/srv/listening", "w").close()
signal.pause()
END
until test -e /srv/listening; do sleep 0.05; done
"#;

/// A cluster that nobody serves.
const DISCOVERY: &str = "\
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
users: [{name: a, user: {token: ae23dc.faddc87f5a5ab458}}]
";

/// An error that released kubeadms do not have: the Go of the test bed refuses the URL that old ones make of a network.
const ARTEFACT: &str = "HTTPProxyCIDR";

/// A kubeadm in a sandbox of its own.
struct Kubeadm {
    minor: u32,
    sandbox: Sandbox,
}

impl Kubeadm {
    fn new(set: &Set) -> Self {
        let version = set.name.rsplit_once('-').expect("a version").1;
        let minor: u32 = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).expect("a minor");
        let program = set.ensure().expect("it is built").judge("kubeadm").expect("a record");
        let sandbox = Sandbox::new();
        testbed::copy_program(&program, &sandbox.at("/usr/local/bin/kubeadm")).expect("a copy");
        sandbox.sh(SPOIL);
        let (api, old, new) = match minor {
            ..22 => ("v1beta2", "timeout: 1s", ""),
            22..31 => ("v1beta3", "timeout: 1s", ""),
            _ => ("v1beta4", "", "timeouts: {discovery: 1s}"),
        };
        let node = "nodeRegistration: {name: node-7, criSocket: 'unix:///run/containerd/containerd.sock'}";
        let init = format!(
            "apiVersion: kubeadm.k8s.io/{api}\nkind: InitConfiguration\nlocalAPIEndpoint: {{advertiseAddress: \
             192.0.2.10}}\n{node}\n---\napiVersion: kubeadm.k8s.io/{api}\nkind: ClusterConfiguration\n\
             kubernetesVersion: v{version}\n"
        );
        let join = format!(
            "apiVersion: kubeadm.k8s.io/{api}\nkind: JoinConfiguration\n{node}\n{new}\ndiscovery:\n  {old}\n  \
             tlsBootstrapToken: ae23dc.faddc87f5a5ab458\n  file: {{kubeConfigPath: /srv/discovery.conf}}\n"
        );
        for (path, text) in
            [("/srv/init.yaml", init), ("/srv/join.yaml", join), ("/srv/discovery.conf", DISCOVERY.into())]
        {
            fs::write(sandbox.at(path), text).expect("a file");
        }
        Self { minor, sandbox }
    }

    /// The names of the errors of a command's preflight, without those that are ignored.
    fn errors(&self, command: &str, ignored: &[&str]) -> BTreeSet<String> {
        self.errors_with(command, ignored, "/nowhere")
    }

    fn errors_with(&self, command: &str, ignored: &[&str], path: &str) -> BTreeSet<String> {
        let ignored =
            if ignored.is_empty() { String::new() } else { format!("--ignore-preflight-errors={}", ignored.join(",")) };
        // One CPU, and usually a PATH that leads nowhere.
        let script = format!(
            "env -i PATH={path} HOME=/root /usr/bin/taskset -c 0 /usr/local/bin/kubeadm {command} phase preflight --config \
             /srv/{command}.yaml {ignored}"
        );
        let ran = self.sandbox.run(&["sh", "-c", &script]);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains("Running pre-flight checks"), "{script}: {text}");
        let names =
            text.lines().filter_map(|line| line.trim().strip_prefix("[ERROR ")?.split(']').next().map(str::to_owned));
        names.filter(|name| name != ARTEFACT).collect()
    }

    fn names(&self, ours: &str) -> Vec<&'static str> {
        preflight_checks::names(ours, self.minor).collect()
    }
}

#[test]
fn every_error_of_kubeadms_in_use_is_ignored_by_our_name_for_it() {
    testbed::needs!(Root, EachPinned(IN_USE));
    are_ignored(IN_USE);
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn every_error_of_older_kubeadms_is_ignored_by_our_name_for_it() {
    testbed::needs!(Root, EachPinned(OLDER));
    are_ignored(OLDER);
}

fn are_ignored(sets: &[&Set]) {
    for set in sets {
        let kubeadm = Kubeadm::new(set);
        for command in ["init", "join"] {
            let at = format!("kubeadm 1.{} {command}", kubeadm.minor);
            let errors = kubeadm.errors(command, &[]);
            for wanted in expected(command) {
                assert!(errors.contains(*wanted), "{at} does not complain of {wanted}: {errors:?}");
            }
            let ours = |error: &str| CHECKS.iter().find(|check| check.name == error).and_then(|check| check.ours);
            let unknown: Vec<_> = errors.iter().filter(|error| ours(error).is_none()).collect();
            assert!(unknown.is_empty(), "{at}: not in the table: {unknown:?}");

            let checks: BTreeSet<_> = errors.iter().filter_map(|error| ours(error)).collect();
            for check in &checks {
                let left: BTreeSet<_> = errors.iter().filter(|error| ours(error) != Some(*check)).cloned().collect();
                assert_eq!(kubeadm.errors(command, &kubeadm.names(check)), left, "{at}, tolerating {check}");
            }
            let all: Vec<_> = PreflightCheck::EVERY.iter().flat_map(|check| kubeadm.names(check.name())).collect();
            assert_eq!(kubeadm.errors(command, &all), BTreeSet::new(), "{at}, tolerating all by name");
            assert_eq!(kubeadm.errors(command, &["all"]), BTreeSet::new(), "{at}, tolerating all");
        }
    }
}

/// What each of them complains of.
const fn expected(command: &str) -> &'static [&'static str] {
    match command.as_bytes() {
        b"init" => &[
            "NumCPU",
            "KubeletVersion",
            "SystemVerification",
            "Port-6443",
            "Port-2379",
            "Port-10250",
            "FileContent--proc-sys-net-ipv4-ip_forward",
            "FileAvailable--etc-kubernetes-manifests-etcd.yaml",
            "DirAvailable--var-lib-etcd",
            "FileExisting-mount",
        ],
        _ => &[
            "KubeletVersion",
            "Port-10250",
            "FileAvailable--etc-kubernetes-pki-ca.crt",
            "FileAvailable--etc-kubernetes-kubelet.conf",
            "FileExisting-mount",
        ],
    }
}

/// A name that a kubeadm does not know does no harm: none refuses it.
#[test]
fn kubeadms_in_use_accept_names_that_they_do_not_know() {
    testbed::needs!(Root, EachPinned(IN_USE));
    for set in IN_USE {
        let kubeadm = Kubeadm::new(set);
        assert_eq!(
            kubeadm.errors("join", &["NoSuchCheck"]),
            kubeadm.errors("join", &[]),
            "kubeadm 1.{}",
            kubeadm.minor
        );
    }
}

/// Everything that this kubeadm refuses, machineadm refuses first.
#[test]
fn what_kubeadm_refuses_is_refused_before_it_runs() {
    testbed::needs!(Root, Pinned(&KUBERNETES));
    let kubeadm = Kubeadm::new(&KUBERNETES);
    let sandbox = &kubeadm.sandbox;
    // With the files of a finished cluster it would be one; and the kubelet is there, so that others can be compared.
    sandbox.sh(
        "rm -r /etc/kubernetes; printf '#!/bin/sh\\necho Kubernetes v1.36.4\\n' > /usr/local/bin/kubelet; chmod +x \
                /usr/local/bin/kubelet",
    );
    let refused = kubeadm.errors_with("init", &[], "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    let refused: BTreeSet<_> = refused.iter().filter_map(|error| preflight_checks::named(error)?.ours).collect();
    assert!(
        ["cpu", "ports", "ip-forward", "runtime", "files"].iter().all(|check| refused.contains(check)),
        "{refused:?}"
    );

    let document = |further: &str| {
        format!(
            "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: InitConfig\nspec:\n  kubernetesVersion: v1.36.4\n\
             {further}"
        )
    };
    fs::write(sandbox.at("/srv/tolerant.yaml"), document("  toleratedChecks: [all]\n")).expect("a file");
    let plan = sandbox.run(&["taskset", "-c", "0", "machineadm", "plan", "-f", "/srv/tolerant.yaml"]);
    assert_eq!(plan.code, Some(0), "{}{}", plan.stdout, plan.stderr);
    let found: BTreeSet<_> =
        plan.stdout.lines().filter_map(|line| line.trim().strip_prefix("· ")?.split_once(", tolerated: ")).collect();
    let found: BTreeSet<_> = found.into_iter().map(|(check, _)| check).collect();
    let missed: Vec<_> = refused.difference(&found).collect();
    assert!(missed.is_empty(), "kubeadm refuses {missed:?}: {}", plan.stdout);

    let ran = sandbox.bootstrap(&document(""));
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let outcome = sandbox.text("/var/lib/machineadm/outcome.json").expect("an outcome");
    assert!(outcome.contains("swap is on (/fake-swap)") && outcome.contains("port 2380 is in use"), "{outcome}");
    assert!(sandbox.machineadm(&["status"]).stdout.contains("FAILED at preflight"));
}
