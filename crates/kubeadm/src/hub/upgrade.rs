//! What `kubeadm upgrade` needs.
use super::{Patches, Timeouts};
use crate::shape::shape;

shape! {
    /// What `kubeadm upgrade` needs; since v1beta4.
    pub struct UpgradeConfiguration {
        /// For `kubeadm upgrade apply`.
        pub apply: UpgradeApply,
        /// For `kubeadm upgrade diff`.
        pub diff: UpgradeDiff,
        /// For `kubeadm upgrade node`.
        pub node: UpgradeNode,
        /// For `kubeadm upgrade plan`.
        pub plan: UpgradePlan,
        /// How long to wait for what.
        pub timeouts: Option<Timeouts>,
    }

    /// For `kubeadm upgrade apply`.
    pub struct UpgradeApply {
        /// The version to upgrade to.
        pub kubernetes_version: Option<String>,
        /// Whether alpha and beta versions will do.
        pub allow_experimental_upgrades: Option<bool>,
        /// Whether release candidates will do.
        #[serde(rename = "allowRCUpgrades")]
        pub allow_rc_upgrades: Option<bool>,
        /// Whether certificates are renewed.
        pub certificate_renewal: Option<bool>,
        /// Only show what would be done.
        pub dry_run: Option<bool>,
        /// Whether etcd is upgraded.
        pub etcd_upgrade: Option<bool>,
        /// Go on although requirements are not met.
        pub force_upgrade: Option<bool>,
        /// Preflight checks whose failure is only a warning.
        pub ignore_preflight_errors: Vec<String>,
        /// Patches of the components that kubeadm deploys.
        pub patches: Option<Patches>,
        /// Show the configuration.
        pub print_config: Option<bool>,
        /// Phases to leave out.
        pub skip_phases: Vec<String>,
        /// When images are pulled: Always, IfNotPresent or Never.
        pub image_pull_policy: Option<String>,
        /// Whether images are pulled one after the other.
        pub image_pull_serial: Option<bool>,
    }

    /// For `kubeadm upgrade diff`.
    pub struct UpgradeDiff {
        /// The version to compare with.
        pub kubernetes_version: Option<String>,
        /// Lines around a difference.
        pub context_lines: Option<i64>,
    }

    /// For `kubeadm upgrade node`.
    pub struct UpgradeNode {
        /// Whether certificates are renewed.
        pub certificate_renewal: Option<bool>,
        /// Only show what would be done.
        pub dry_run: Option<bool>,
        /// Whether etcd is upgraded.
        pub etcd_upgrade: Option<bool>,
        /// Preflight checks whose failure is only a warning.
        pub ignore_preflight_errors: Vec<String>,
        /// Phases to leave out.
        pub skip_phases: Vec<String>,
        /// Patches of the components that kubeadm deploys.
        pub patches: Option<Patches>,
        /// When images are pulled: Always, IfNotPresent or Never.
        pub image_pull_policy: Option<String>,
        /// Whether images are pulled one after the other.
        pub image_pull_serial: Option<bool>,
    }

    /// For `kubeadm upgrade plan`.
    pub struct UpgradePlan {
        /// The version to upgrade to.
        pub kubernetes_version: Option<String>,
        /// Whether alpha and beta versions will do.
        pub allow_experimental_upgrades: Option<bool>,
        /// Whether release candidates will do.
        #[serde(rename = "allowRCUpgrades")]
        pub allow_rc_upgrades: Option<bool>,
        /// Only show what would be done.
        pub dry_run: Option<bool>,
        /// Whether etcd is upgraded; since Kubernetes 1.33.
        pub etcd_upgrade: Option<bool>,
        /// Preflight checks whose failure is only a warning.
        pub ignore_preflight_errors: Vec<String>,
        /// Show the configuration.
        pub print_config: Option<bool>,
    }
}
