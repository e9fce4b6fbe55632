//! UpgradeConfiguration.
use super::{Patches, Timeouts};
use crate::shape::shape;

shape! {
    pub(crate) struct UpgradeConfiguration {
        pub(crate) apply: UpgradeApply,
        pub(crate) diff: UpgradeDiff,
        pub(crate) node: UpgradeNode,
        pub(crate) plan: UpgradePlan,
        pub(crate) timeouts: Option<Timeouts>,
    }

    pub(crate) struct UpgradeApply {
        pub(crate) kubernetes_version: Option<String>,
        pub(crate) allow_experimental_upgrades: Option<bool>,
        #[serde(rename = "allowRCUpgrades")]
        pub(crate) allow_rc_upgrades: Option<bool>,
        pub(crate) certificate_renewal: Option<bool>,
        pub(crate) dry_run: Option<bool>,
        pub(crate) etcd_upgrade: Option<bool>,
        pub(crate) force_upgrade: Option<bool>,
        pub(crate) ignore_preflight_errors: Vec<String>,
        pub(crate) patches: Option<Patches>,
        pub(crate) print_config: Option<bool>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) image_pull_policy: Option<String>,
        pub(crate) image_pull_serial: Option<bool>,
    }

    pub(crate) struct UpgradeDiff {
        pub(crate) kubernetes_version: Option<String>,
        pub(crate) context_lines: Option<i64>,
    }

    pub(crate) struct UpgradeNode {
        pub(crate) certificate_renewal: Option<bool>,
        pub(crate) dry_run: Option<bool>,
        pub(crate) etcd_upgrade: Option<bool>,
        pub(crate) ignore_preflight_errors: Vec<String>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) patches: Option<Patches>,
        pub(crate) image_pull_policy: Option<String>,
        pub(crate) image_pull_serial: Option<bool>,
    }

    pub(crate) struct UpgradePlan {
        pub(crate) kubernetes_version: Option<String>,
        pub(crate) allow_experimental_upgrades: Option<bool>,
        #[serde(rename = "allowRCUpgrades")]
        pub(crate) allow_rc_upgrades: Option<bool>,
        pub(crate) dry_run: Option<bool>,
        pub(crate) etcd_upgrade: Option<bool>,
        pub(crate) ignore_preflight_errors: Vec<String>,
        pub(crate) print_config: Option<bool>,
    }
}
