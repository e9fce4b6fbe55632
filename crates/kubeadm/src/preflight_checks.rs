//! kubeadm's own preflight checks: which of machineadm's checks looks at the same thing, and which minors have them.
//!
//! Read off the sources of kubeadm 1.21, 1.22, 1.24 to 1.32 and 1.33 to 1.37. No kubeadm refuses a name that it does not
//! know, and none of them minds the case of letters.

/// A check of kubeadm's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeadmCheck {
    /// As it stands in `[ERROR Swap]: ..`.
    pub name: &'static str,
    /// machineadm's check of the same thing; none where kubeadm only warns, or no document of ours leads there.
    pub ours: Option<&'static str>,
    /// The first minor that has it.
    pub first: u32,
    /// The last one.
    pub last: Option<u32>,
}

/// The word that ignores every check. Up to 1.27 kubeadm refuses it in a file, so that it always goes by flag.
pub const ALL: &str = "all";

/// Every check of the supported minors.
pub const CHECKS: &[KubeadmCheck] = &[
    always("KubernetesVersion", "kubeadm"),
    always("KubeletVersion", "kubelet"),
    always("Service-Kubelet", "kubelet"),
    always("CRI", "runtime"),
    since("ContainerRuntimeVersion", "runtime", 35),
    until("Service-Docker", "runtime", 23),
    until("IsDockerSystemdCheck", "cgroup-driver", 23),
    always("SystemVerification", "cgroups"),
    always("Swap", "swap"),
    always("Mem", "memory"),
    always("NumCPU", "cpu"),
    always("Port-6443", "ports"),
    always("Port-2379", "ports"),
    always("Port-2380", "ports"),
    always("Port-10250", "ports"),
    always("Port-10257", "ports"),
    always("Port-10259", "ports"),
    until("Port-10251", "ports", 19),
    until("Port-10252", "ports", 19),
    always("FileContent--proc-sys-net-ipv4-ip_forward", "ip-forward"),
    always("FileContent--proc-sys-net-ipv6-conf-default-forwarding", "ip-forward"),
    until("FileContent--proc-sys-net-bridge-bridge-nf-call-iptables", "kernel-modules", 29),
    until("FileContent--proc-sys-net-bridge-bridge-nf-call-ip6tables", "kernel-modules", 29),
    always("Hostname", "name-resolution"),
    always("FileAvailable--etc-kubernetes-pki-ca.crt", "files"),
    always("FileAvailable--etc-kubernetes-kubelet.conf", "files"),
    always("FileAvailable--etc-kubernetes-bootstrap-kubelet.conf", "files"),
    always("FileAvailable--etc-kubernetes-manifests-kube-apiserver.yaml", "files"),
    always("FileAvailable--etc-kubernetes-manifests-kube-controller-manager.yaml", "files"),
    always("FileAvailable--etc-kubernetes-manifests-kube-scheduler.yaml", "files"),
    always("FileAvailable--etc-kubernetes-manifests-etcd.yaml", "files"),
    until("DirAvailable--etc-kubernetes-manifests", "files", 23),
    always("DirAvailable--var-lib-etcd", "files"),
    always("ImagePull", "images"),
    until("FileExisting-crictl", "programs", 31),
    until("FileExisting-conntrack", "programs", 31),
    until("FileExisting-ip", "programs", 32),
    until("FileExisting-iptables", "programs", 32),
    until("FileExisting-nsenter", "programs", 32),
    always("FileExisting-mount", "programs"),
    since("FileExisting-losetup", "programs", 33),
    since("FileExisting-cp", "programs", 33),
    until("FileExisting-ebtables", "programs", 29),
    until("FileExisting-socat", "programs", 32),
    until("FileExisting-ethtool", "programs", 32),
    until("FileExisting-tc", "programs", 32),
    until("FileExisting-touch", "programs", 32),
    kubeadms_own("IsPrivilegedUser"),
    kubeadms_own("Firewalld"),
    kubeadms_own("HTTPProxy"),
    kubeadms_own("HTTPProxyCIDR"),
    kubeadms_own("ExternalEtcdVersion"),
    kubeadms_own("ExternalEtcdClientCertificates"),
];

/// The programs without which a kubeadm refuses to go on, with the minors that need them.
const PROGRAMS: &[(&str, u32, Option<u32>)] = &[
    ("crictl", 0, Some(30)),
    ("conntrack", 0, Some(31)),
    ("ip", 0, Some(32)),
    ("iptables", 0, Some(32)),
    ("nsenter", 0, Some(32)),
    ("mount", 0, None),
    ("losetup", 33, None),
    ("cp", 33, None),
];

/// The last minor whose kubeadm wants the kernel to pass bridged packets to iptables.
const LAST_BRIDGE: u32 = 29;
/// The last minor whose kubeadm refuses to join a machine with static pods.
const LAST_MANIFESTS: u32 = 23;
/// The first minor whose kubeadm refuses control groups of version 1, as the kubelet does by default.
const FIRST_WITHOUT_CGROUP_V1: u32 = 35;
/// The first minor whose kubelet needs the CRI method RuntimeConfig (CHANGELOG-1.37: the fallback leaves in 1.38).
const FIRST_RUNTIME_CONFIG: u32 = 38;
/// The first minor whose kubeadm warns of a runtime without it.
const FIRST_RUNTIME_CONFIG_WARNING: u32 = 35;
/// The first minor whose kubeadm supports kubelets that are three minors older; before, it was one.
const FIRST_WIDE_SKEW: u32 = 29;
/// The first minor whose API server supports kubelets that are three minors older; before, it was two.
const FIRST_WIDE_CLUSTER_SKEW: u32 = 28;
/// The first minor whose kubelet speaks CRI v1 only.
const FIRST_CRI_V1: u32 = 26;

const fn always(name: &'static str, ours: &'static str) -> KubeadmCheck {
    KubeadmCheck { name, ours: Some(ours), first: 0, last: None }
}

const fn since(name: &'static str, ours: &'static str, first: u32) -> KubeadmCheck {
    KubeadmCheck { name, ours: Some(ours), first, last: None }
}

const fn until(name: &'static str, ours: &'static str, last: u32) -> KubeadmCheck {
    KubeadmCheck { name, ours: Some(ours), first: 0, last: Some(last) }
}

const fn kubeadms_own(name: &'static str) -> KubeadmCheck {
    KubeadmCheck { name, ours: None, first: 0, last: None }
}

fn has(first: u32, last: Option<u32>, minor: u32) -> bool {
    minor >= first && last.is_none_or(|last| minor <= last)
}

/// What the name of a check of a port begins with; its number follows.
const PORT: &str = "Port-";
/// What the name of a check of an empty directory begins with; its path follows.
const DIRECTORY: &str = "DirAvailable-";

/// kubeadm's name for its check of a port.
pub fn port(port: u16) -> String {
    format!("{PORT}{port}")
}

/// kubeadm's name for its check of an empty directory.
pub fn directory(path: &str) -> String {
    format!("{DIRECTORY}{}", path.replace('/', "-"))
}

/// The check of this name, in any case of letters. A port and a directory that kubeadm was given have names of their own.
pub fn named(name: &str) -> Option<&'static KubeadmCheck> {
    let known = |name: &str| CHECKS.iter().find(|check| check.name.eq_ignore_ascii_case(name));
    let begins = |with: &str| name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    let is_port = || begins(PORT) && name[PORT.len()..].parse::<u16>().is_ok();
    let is_directory = || begins(DIRECTORY) && name[DIRECTORY.len()..].starts_with('-');
    known(name)
        .or_else(|| is_port().then(|| known("Port-6443")).flatten())
        .or_else(|| is_directory().then(|| known("DirAvailable--var-lib-etcd")).flatten())
}

/// The checks of kubeadm that look at the same thing as one of ours, as the kubeadm of a minor names them.
pub fn names(ours: &str, minor: u32) -> impl Iterator<Item = &'static str> {
    CHECKS
        .iter()
        .filter(move |check| check.ours == Some(ours) && has(check.first, check.last, minor))
        .map(|check| check.name)
}

/// The programs without which the kubeadm of a minor refuses to go on.
pub fn required_programs(minor: u32) -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().filter(move |(_, first, last)| has(*first, *last, minor)).map(|(program, ..)| *program)
}

/// Whether the kubeadm of a minor wants `net.bridge.bridge-nf-call-iptables`.
pub const fn wants_bridge(minor: u32) -> bool {
    minor <= LAST_BRIDGE
}

/// Whether the kubeadm of a minor refuses to join a machine with static pods.
pub const fn refuses_static_pods(minor: u32) -> bool {
    minor <= LAST_MANIFESTS
}

/// Whether kubeadm and, by default, the kubelet of a minor refuse control groups of version 1.
pub const fn refuses_cgroup_v1(minor: u32) -> bool {
    minor >= FIRST_WITHOUT_CGROUP_V1
}

/// Whether the kubelet of a minor needs the CRI method RuntimeConfig.
pub const fn needs_runtime_config(minor: u32) -> bool {
    minor >= FIRST_RUNTIME_CONFIG
}

/// Whether kubeadm and the kubelet of a minor warn that a later one needs RuntimeConfig.
pub const fn warns_of_runtime_config(minor: u32) -> bool {
    minor >= FIRST_RUNTIME_CONFIG_WARNING
}

/// The oldest minor of a kubelet that the kubeadm of a minor supports.
pub const fn oldest_kubelet(minor: u32) -> u32 {
    minor.saturating_sub(if minor >= FIRST_WIDE_SKEW { 3 } else { 1 })
}

/// The oldest minor of a kubelet that the API server of a minor supports.
/// <https://kubernetes.io/releases/version-skew-policy/>
pub const fn oldest_kubelet_of_cluster(minor: u32) -> u32 {
    minor.saturating_sub(if minor >= FIRST_WIDE_CLUSTER_SKEW { 3 } else { 2 })
}

/// Whether the kubelet of a minor speaks CRI v1 only.
pub const fn needs_cri_v1(minor: u32) -> bool {
    minor >= FIRST_CRI_V1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_check_stands_once() {
        let names: BTreeSet<_> = CHECKS.iter().map(|check| check.name.to_ascii_lowercase()).collect();
        assert_eq!(names.len(), CHECKS.len());
    }

    #[test]
    fn a_check_of_ours_has_the_names_of_each_minor() {
        let of = |ours, minor| names(ours, minor).collect::<Vec<_>>();
        assert_eq!(of("cgroups", 36), ["SystemVerification"]);
        assert_eq!(of("runtime", 36), ["CRI", "ContainerRuntimeVersion"]);
        assert_eq!(of("runtime", 21), ["CRI", "Service-Docker"]);
        assert_eq!(of("kernel-modules", 36), [""; 0]);
        assert_eq!(of("kernel-modules", 26).len(), 2);
        assert_eq!(of("disk", 36), [""; 0]);
    }

    #[test]
    fn kubeadms_names_are_found_in_any_case() {
        assert_eq!(named("systemverification").and_then(|check| check.ours), Some("cgroups"));
        assert_eq!(named("FIREWALLD").map(|check| check.ours), Some(None));
        assert!(named("Swop").is_none());
        assert_eq!(named(&port(6444)).and_then(|check| check.ours), Some("ports"));
        assert_eq!(named("diravailable--srv-etcd").and_then(|check| check.ours), Some("files"));
        assert_eq!(directory("/var/lib/etcd"), "DirAvailable--var-lib-etcd");
        assert!(["Port-", "Port-x", "DirAvailable-", "Pört"].iter().all(|name| named(name).is_none()));
    }

    #[test]
    fn each_requirement_begins_and_ends_with_its_minor() {
        assert_eq!([29, 30].map(wants_bridge), [true, false]);
        assert_eq!([23, 24].map(refuses_static_pods), [true, false]);
        assert_eq!([34, 35].map(refuses_cgroup_v1), [false, true]);
        assert_eq!([34, 35].map(warns_of_runtime_config), [false, true]);
        assert_eq!([37, 38].map(needs_runtime_config), [false, true]);
        assert_eq!([25, 26].map(needs_cri_v1), [false, true]);
        assert_eq!([28, 29, 36].map(oldest_kubelet), [27, 26, 33]);
        assert_eq!([27, 28, 36].map(oldest_kubelet_of_cluster), [25, 25, 33]);
    }

    #[test]
    fn every_program_that_kubeadm_needs_has_its_check() {
        for minor in 13..=40 {
            for program in required_programs(minor) {
                let check = format!("FileExisting-{program}");
                assert!(names("programs", minor).any(|name| name == check), "1.{minor}: {check}");
            }
        }
        assert_eq!(required_programs(36).collect::<Vec<_>>(), ["mount", "losetup", "cp"]);
    }
}
