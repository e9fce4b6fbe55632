//! Preflight checks by machineadm's own names, so that a document can say which of them may fail.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A preflight check, as a document names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreflightCheck {
    /// Every check.
    All,
    /// kubeadm is installed, in the minor version that is asked for.
    Kubeadm,
    /// The kubelet is installed, with its unit, in a version that fits kubeadm's.
    Kubelet,
    /// The container runtime answers over CRI v1 and is ready.
    Runtime,
    /// The container runtime and the kubelet use the same cgroup driver.
    CgroupDriver,
    /// The kubelet accepts the control groups of this machine.
    Cgroups,
    /// Swap is off.
    Swap,
    /// There is enough memory for a control plane.
    Memory,
    /// There are enough CPUs for a control plane.
    Cpu,
    /// The ports of the node are free.
    Ports,
    /// The kernel forwards packets.
    IpForward,
    /// The kernel has the modules and parameters that the node needs.
    #[serde(rename = "kernel-modules")]
    Modules,
    /// There is enough free disk space.
    Disk,
    /// The clock is not far off.
    Clock,
    /// Host names of the configuration can be resolved.
    NameResolution,
    /// There are no files of another cluster.
    Files,
    /// The images are there if nothing may be pulled.
    Images,
    /// The programs that kubeadm and the kubelet run are installed.
    Programs,
}

impl PreflightCheck {
    /// Every check, and `all`.
    pub const EVERY: [Self; 18] = [
        Self::All,
        Self::Kubeadm,
        Self::Kubelet,
        Self::Runtime,
        Self::CgroupDriver,
        Self::Cgroups,
        Self::Swap,
        Self::Memory,
        Self::Cpu,
        Self::Ports,
        Self::IpForward,
        Self::Modules,
        Self::Disk,
        Self::Clock,
        Self::NameResolution,
        Self::Files,
        Self::Images,
        Self::Programs,
    ];

    /// As a document writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Kubeadm => "kubeadm",
            Self::Kubelet => "kubelet",
            Self::Runtime => "runtime",
            Self::CgroupDriver => "cgroup-driver",
            Self::Cgroups => "cgroups",
            Self::Swap => "swap",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Ports => "ports",
            Self::IpForward => "ip-forward",
            Self::Modules => "kernel-modules",
            Self::Disk => "disk",
            Self::Clock => "clock",
            Self::NameResolution => "name-resolution",
            Self::Files => "files",
            Self::Images => "images",
            Self::Programs => "programs",
        }
    }

    /// The check of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|check| check.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{found, with_spec};

    #[test]
    fn kubeadms_names_and_unknown_words_are_refused_with_the_list() {
        let spec =
            "{kubernetesVersion: v1.36.4, toleratedChecks: [swap, SystemVerification, Swap], imagePull: Sometimes}";
        let problems = found(&with_spec("InitConfig", spec));
        let fields = ["spec.toleratedChecks[1]: ", "spec.toleratedChecks[2]: ", "spec.imagePull: "];
        assert_eq!(problems.len(), fields.len(), "{problems:?}");
        assert!(problems.iter().zip(fields).all(|(problem, field)| problem.starts_with(field)), "{problems:?}");
        assert!(problems[0].contains("name-resolution") && problems[2].contains("Never"), "{problems:?}");
    }

    #[test]
    fn a_check_has_the_name_that_documents_write() {
        for check in PreflightCheck::EVERY {
            assert_eq!(serde_json::to_value(check).unwrap(), check.name());
            assert_eq!(PreflightCheck::named(check.name()), Some(check));
        }
        assert_eq!(PreflightCheck::named("SystemVerification"), None);
    }
}
