//! The real programs, built once from pinned Go modules and then kept by version.
mod build;

use crate::error::Result;
use crate::judges::{self, Version};
use crate::{cache, digest};
use std::path::{Path, PathBuf};

/// Programs that are pinned and built together.
#[derive(Debug)]
pub struct Set {
    /// Name and version, as its folder below `testbed/programs` is called.
    pub name: &'static str,
    /// The folder's files, which pin every source by its digest.
    files: &'static [(&'static str, &'static str)],
    /// What each program is called, and the package it is built from: the package's tests if the name ends in `.test`.
    programs: &'static [(&'static str, &'static str)],
    /// What the linker writes into them, mostly their version.
    stamps: &'static [(&'static str, &'static str)],
    /// Disk that a build takes while it runs, in GiB.
    disk: u64,
    /// The first tier that needs it.
    pub tier: Tier,
}

/// The variable that names a run's tier to its tests: `quick` or `long`.
pub const TIER: &str = "MACHINEADM_TIER";

/// Which tests a run has: the quick ones, or those that take longer besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// What every change has to pass.
    Quick,
    /// The quick tier and the tests that are marked `#[ignore = "long tier: .."]`.
    Long,
}

macro_rules! files {
    ($set:literal: $($file:literal),+) => { &[$(($file, include_str!(concat!("../programs/", $set, "/", $file)))),+] };
}

/// kubeadm, kubelet, kubectl and the control plane.
pub const KUBERNETES: Set = Set {
    name: "kubernetes-1.36.4",
    files: files!("kubernetes-1.36.4": "go.mod", "go.sum"),
    programs: &[
        ("kubeadm", "k8s.io/kubernetes/cmd/kubeadm"),
        ("kubelet", "k8s.io/kubernetes/cmd/kubelet"),
        ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
        ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
        ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
        ("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"),
        ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    ],
    stamps: &[
        ("k8s.io/component-base/version.gitVersion", "v1.36.4"),
        ("k8s.io/component-base/version.gitMajor", "1"),
        ("k8s.io/component-base/version.gitMinor", "36"),
    ],
    disk: 7,
    tier: Tier::Quick,
};

/// A kubeadm by itself, of another version, to judge files that are written for it.
macro_rules! kubeadm {
    ($version:literal, $minor:literal, $set:literal, $tier:ident) => {
        Set {
            name: $set,
            files: files!($set: "go.mod", "go.sum"),
            programs: &[("kubeadm", "k8s.io/kubernetes/cmd/kubeadm")],
            stamps: &[
                ("k8s.io/component-base/version.gitVersion", concat!("v", $version)),
                ("k8s.io/component-base/version.gitMajor", "1"),
                ("k8s.io/component-base/version.gitMinor", $minor),
            ],
            disk: 4,
            tier: Tier::$tier,
        }
    };
}

/// The last kubeadm that reads v1beta1; it writes v1beta2.
pub const KUBEADM_1_21: Set = kubeadm!("1.21.14", "21", "kubeadm-1.21.14", Long);
/// The last kubeadm that reads v1beta2.
pub const KUBEADM_1_26: Set = kubeadm!("1.26.15", "26", "kubeadm-1.26.15", Long);
/// The last kubeadm that writes v1beta3.
pub const KUBEADM_1_30: Set = kubeadm!("1.30.14", "30", "kubeadm-1.30.14", Quick);
/// The first kubeadm that writes v1beta4.
pub const KUBEADM_1_31: Set = kubeadm!("1.31.14", "31", "kubeadm-1.31.14", Long);
/// The first kubeadm that no longer reads v1beta3, and knows v1.
pub const KUBEADM_1_37: Set = kubeadm!("1.37.1", "37", "kubeadm-1.37.1", Quick);

/// Kubelet and control plane of another version; their kubeadm is a set of its own.
macro_rules! kubernetes {
    ($version:literal, $minor:literal, $set:literal) => {
        Set {
            name: $set,
            files: files!($set: "go.mod", "go.sum"),
            programs: &[
                ("kubelet", "k8s.io/kubernetes/cmd/kubelet"),
                ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
                ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
                ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
                ("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"),
            ],
            stamps: &[
                ("k8s.io/component-base/version.gitVersion", concat!("v", $version)),
                ("k8s.io/component-base/version.gitMajor", "1"),
                ("k8s.io/component-base/version.gitMinor", $minor),
            ],
            disk: 7,
            tier: Tier::Long,
        }
    };
}

/// What kubeadm up to 1.30 starts as `crictl`.
pub const FAKE_CRICTL: Set = Set {
    name: "fake-crictl-0.30.14",
    files: files!("fake-crictl-0.30.14": "go.mod", "go.sum", "fake-crictl/main.go"),
    programs: &[("fake-crictl", "pins/fake-crictl")],
    stamps: &[],
    disk: 1,
    tier: Tier::Long,
};

/// The last version in which a control plane node joins etcd after its kubelet has a certificate.
pub const KUBERNETES_1_30: Set = kubernetes!("1.30.14", "30", "kubernetes-1.30.14");
/// What a cluster of 1.36 is upgraded to.
pub const KUBERNETES_1_37: Set = kubernetes!("1.37.1", "37", "kubernetes-1.37.1");

/// Kubernetes' own tests of whole clusters, what runs several of them at once, and the program that most of their pods run.
pub const CONFORMANCE: Set = Set {
    name: "conformance-1.36.4",
    files: files!("conformance-1.36.4": "go.mod", "go.sum"),
    programs: &[
        ("e2e.test", "k8s.io/kubernetes/test/e2e"),
        ("ginkgo", "github.com/onsi/ginkgo/v2/ginkgo"),
        ("agnhost", "k8s.io/kubernetes/test/images/agnhost"),
    ],
    stamps: &[
        ("k8s.io/component-base/version.gitVersion", "v1.36.4"),
        ("k8s.io/component-base/version.gitMajor", "1"),
        ("k8s.io/component-base/version.gitMinor", "36"),
    ],
    disk: 7,
    tier: Tier::Long,
};

/// Kubernetes' own types and strict decoder of the kubelet's and kube-proxy's configuration, without the components.
pub const DECODER: Set = Set {
    name: "decoder-0.36.4",
    files: files!("decoder-0.36.4": "go.mod", "go.sum", "decoder/main.go"),
    programs: &[("decoder", "pins/decoder")],
    stamps: &[],
    disk: 2,
    tier: Tier::Quick,
};

/// kube-apiserver's own client of KMS v2 plugins, without its clocks, and its format of what etcd stores.
pub const KMS_CLIENT: Set = Set {
    name: "kms-client-0.36.4",
    files: files!("kms-client-0.36.4": "go.mod", "go.sum", "client/main.go"),
    programs: &[("kms-client", "pins/client")],
    stamps: &[],
    disk: 2,
    tier: Tier::Quick,
};

/// A plugin in Go over a PKCS#11 token, which the figures compare ours with, and kube-apiserver's own client under load.
pub const KMS_PEER: Set = Set {
    name: "kms-peer-0.36.4",
    files: files!("kms-peer-0.36.4": "go.mod", "go.sum", "peer/main.go", "load/main.go"),
    programs: &[("kms-peer", "pins/peer"), ("kms-load", "pins/load")],
    stamps: &[],
    disk: 2,
    tier: Tier::Long,
};

/// Vault's own core with its transit engine and three ways to log in, in memory.
pub const VAULT: Set = Set {
    name: "vault-1.13.1",
    files: files!("vault-1.13.1": "go.mod", "go.sum", "transit/main.go"),
    programs: &[("vault-transit", "pins/transit")],
    stamps: &[],
    disk: 6,
    tier: Tier::Quick,
};

/// A set of one program, which needs no stamps.
macro_rules! one_program {
    ($set:literal, $program:literal, $package:literal, $disk:literal, $tier:ident) => {
        Set {
            name: $set,
            files: files!($set: "go.mod", "go.sum"),
            programs: &[($program, $package)],
            stamps: &[],
            disk: $disk,
            tier: Tier::$tier,
        }
    };
}

/// The store below the control plane.
pub const ETCD: Set = one_program!("etcd-3.6.8", "etcd", "go.etcd.io/etcd/server/v3", 2, Quick);

/// The store that kubeadm 1.30 runs.
pub const ETCD_3_5: Set = one_program!("etcd-3.5.15", "etcd", "go.etcd.io/etcd/server/v3", 2, Long);

/// The store that kubeadm 1.37 upgrades to.
pub const ETCD_3_7: Set = one_program!("etcd-3.7.0", "etcd", "go.etcd.io/etcd/server/v3", 2, Long);

/// The cluster's name server.
pub const COREDNS: Set = one_program!("coredns-1.14.2", "coredns", "github.com/coredns/coredns", 4, Quick);

/// The name server that kubeadm 1.37 upgrades to.
pub const COREDNS_1_14_6: Set = one_program!("coredns-1.14.6", "coredns", "github.com/coredns/coredns", 4, Long);

/// The container runtime, newer than Debian's.
pub const CONTAINERD: Set = Set {
    name: "containerd-2.4.2",
    files: files!("containerd-2.4.2": "go.mod", "go.sum"),
    programs: &[
        ("containerd", "github.com/containerd/containerd/v2/cmd/containerd"),
        ("containerd-shim-runc-v2", "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"),
        ("ctr", "github.com/containerd/containerd/v2/cmd/ctr"),
    ],
    stamps: &[("github.com/containerd/containerd/v2/version.Version", "v2.4.2")],
    disk: 3,
    tier: Tier::Quick,
};

/// Our own two: `pause`, which holds a pod open, and `probe`, which looks at the network from inside one.
pub const TOOLS: Set = Set {
    name: "tools-1",
    files: files!("tools-1": "go.mod", "pause/main.go", "probe/main.go"),
    programs: &[("pause", "pins/pause"), ("probe", "pins/probe")],
    stamps: &[],
    disk: 1,
    tier: Tier::Quick,
};

/// All sets, in the order in which `testbed build` makes them.
pub const SETS: &[&Set] = &[
    &TOOLS,
    &ETCD,
    &CONTAINERD,
    &COREDNS,
    &KUBERNETES,
    &KUBEADM_1_21,
    &KUBEADM_1_26,
    &KUBEADM_1_30,
    &KUBEADM_1_31,
    &KUBEADM_1_37,
    &DECODER,
    &KMS_CLIENT,
    &VAULT,
    &ETCD_3_5,
    &FAKE_CRICTL,
    &KUBERNETES_1_30,
    &ETCD_3_7,
    &COREDNS_1_14_6,
    &KUBERNETES_1_37,
    &CONFORMANCE,
    &KMS_PEER,
];

impl Set {
    /// The programs, built now unless they are there; prints what it builds and how long it took.
    pub fn ensure(&self) -> Result<Programs> {
        let directory = self.directory()?;
        cache::make_once(&directory, |partial| build::build(self, partial))?;
        Ok(Programs { directory, version: self.version() })
    }

    /// Whether the programs are there already.
    pub fn is_built(&self) -> Result<bool> {
        Ok(self.directory()?.exists())
    }

    /// The version of its programs.
    pub(crate) fn version(&self) -> &'static str {
        self.name.rsplit_once('-').map_or("", |(_, version)| version)
    }

    /// Below the cache, named after the version and after what exactly is pinned.
    fn directory(&self) -> Result<PathBuf> {
        let pins = format!("{:?} {:?} {:?}", self.files, self.programs, self.stamps);
        let name = format!("{}-{}", self.name, digest::short(&pins));
        Ok(cache::directory()?.join("programs").join(name))
    }
}

/// A set that is there.
#[derive(Debug, Clone)]
pub struct Programs {
    directory: PathBuf,
    version: &'static str,
}

impl Programs {
    /// Programs that were not built here.
    pub(crate) const fn unpacked(directory: PathBuf, version: &'static str) -> Self {
        Self { directory, version }
    }

    /// The path of a program that a test runs now; it is noted as one that judged.
    pub fn judge(&self, program: &str) -> Result<PathBuf> {
        judges::ran(program, Version::Pinned(self.version))?;
        Ok(self.path(program))
    }

    /// The path of one program.
    pub fn path(&self, program: &str) -> PathBuf {
        self.directory.join(program)
    }

    /// The directory that holds nothing but the programs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pin_is_complete_and_names_its_version() {
        for set in SETS.iter().filter(|set| set.name != TOOLS.name) {
            let version = set.version();
            let text = |wanted| set.files.iter().find(|(name, _)| *name == wanted).unwrap().1;
            assert!(text("go.mod").contains(&format!(" v{version}\n")), "{} does not pin {version}", set.name);
            assert!(text("go.sum").lines().count() > 40, "{} has no complete go.sum", set.name);
        }
    }
}
