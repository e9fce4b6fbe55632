//! The contract with operating systems and their tools: every path and every exit code, in one place.
//!
//! `docs/os-contract.md` says the same to maintainers; a test keeps the two equal.

/// The directory that survives a reboot; root's alone.
pub const STATE_DIR: &str = "/var/lib/machineadm";
/// The directory that does not survive a reboot.
pub const RUN_DIR: &str = "/run/machineadm";
/// What the last run did.
pub const OUTCOME: &str = "/var/lib/machineadm/outcome.json";
/// The same in memory, when the disk is full or read-only.
pub const OUTCOME_FALLBACK: &str = "/run/machineadm/outcome.json";
/// Where the last run stands, as it is reported.
pub const REPORT: &str = "/run/machineadm/report.json";
/// Which acts started and ended.
pub const JOURNAL: &str = "/var/lib/machineadm/journal.json";
/// Where a first-boot tool delivers the configuration; the success of the run that took it deletes it.
pub const DELIVERED: &str = "/etc/machineadm/config.yaml";
/// The configuration of a run that has not succeeded yet, as it came; a reboot finds it here.
pub const CONFIGURATION: &str = "/var/lib/machineadm/configuration.yaml";
/// Encrypted parts of that configuration that were fetched, as they came; after a reboot their URI may be unavailable.
pub const FETCHED: &str = "/var/lib/machineadm/fetched.json";
/// The cluster that `discover --store` found: its address and CA certificates, how they were verified, no secret.
pub const CLUSTER_INFO: &str = "/var/lib/machineadm/cluster-info.json";
/// What each service had read at its last start.
pub const SERVICES_DIR: &str = "/var/lib/machineadm/services";
/// Programs and images that are being downloaded, each named by its SHA-256, root's alone.
pub const DOWNLOADS_DIR: &str = "/var/lib/machineadm/downloads";
/// Which document wrote which path, with the digest of what it wrote.
pub const OWNERSHIP: &str = "/var/lib/machineadm/ownership.json";
/// What was at a path before a document wrote it, one file a path.
pub const PREVIOUS_DIR: &str = "/var/lib/machineadm/previous";
/// What existed below kubeadm's directories before kubeadm was started for the first time, with contents; root's alone.
pub const BEFORE_KUBEADM: &str = "/var/lib/machineadm/before-kubeadm.json";
/// What an unfinished change of the API server overwrites; root's alone, and outside of the manifest directory.
pub const CONTROL_PLANE_CHANGE: &str = "/var/lib/machineadm/control-plane-change.json";
/// The key of this machine's saved plans, so that nobody can edit one or guess secrets by it.
pub const PLAN_KEY: &str = "/var/lib/machineadm/plan.key";
/// There while a command that needs a reboot has run and the machine has not been rebooted since.
pub const REBOOT_REQUIRED: &str = "/run/machineadm/reboot-required";
/// The same, as distributions of Debian's family say it for their packages.
pub const SYSTEM_REBOOT_REQUIRED: &str = "/run/reboot-required";
/// Held by the run at work.
pub const LOCK: &str = "/run/machineadm/lock";
/// What Cluster API's infrastructure providers poll.
pub const SUCCESS: &str = "/run/cluster-api/bootstrap-success.complete";
/// The same for the next boot, since `/run` is lost.
pub const SUCCESS_KEPT: &str = "/var/lib/machineadm/bootstrap-success.complete";
/// Why not, in one line of JSON.
pub const FAILURE: &str = "/run/cluster-api/bootstrap-failure.json";
/// The file that kubeadm is given.
pub const KUBEADM_FILE: &str = "/run/machineadm/kubeadm.yaml";
/// The kubeconfig of the discovered cluster, with the bootstrap token, that kubeadm is given.
pub const DISCOVERY_FILE: &str = "/run/machineadm/discovery.conf";
/// The directory of the patches that kubeadm is given.
pub const KUBELET_PATCHES: &str = "/run/machineadm/patches";
/// The patch of the kubelet's configuration for this node.
pub const KUBELET_PATCH: &str = "/run/machineadm/patches/kubeletconfiguration+merge.json";
/// Kernel parameters for the next boot, one file per SysctlConfig.
pub const SYSCTL_DIR: &str = "/etc/sysctl.d";
/// Kernel modules for the next boot, one file per KernelModulesConfig.
pub const MODULES_DIR: &str = "/etc/modules-load.d";
/// Proxy variables, one file per ProxyConfig.
pub const PROXY_DIR: &str = "/etc/machineadm/proxy";
/// Files that the API server of a control plane node reads, of the ControlPlaneConfig; root's alone.
pub const CONTROL_PLANE_DIR: &str = objects::kubernetes_paths::CONTROL_PLANE_FILES;
/// Where units are extended: `<unit>.service.d/<DROP_IN>`.
pub const UNIT_DIR: &str = "/etc/systemd/system";
/// The drop-in that points a unit to its proxy variables.
pub const PROXY_DROP_IN: &str = "90-machineadm-proxy.conf";

/// Where everything that machineadm starts looks for programs.
pub const PROGRAM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin";

/// Every path, for the docs and their test.
pub const PATHS: &[&str] = &[
    STATE_DIR,
    RUN_DIR,
    OUTCOME,
    OUTCOME_FALLBACK,
    REPORT,
    JOURNAL,
    DELIVERED,
    CONFIGURATION,
    FETCHED,
    CLUSTER_INFO,
    SERVICES_DIR,
    DOWNLOADS_DIR,
    OWNERSHIP,
    PREVIOUS_DIR,
    BEFORE_KUBEADM,
    CONTROL_PLANE_CHANGE,
    PLAN_KEY,
    REBOOT_REQUIRED,
    SYSTEM_REBOOT_REQUIRED,
    LOCK,
    SUCCESS,
    SUCCESS_KEPT,
    FAILURE,
    KUBEADM_FILE,
    DISCOVERY_FILE,
    KUBELET_PATCHES,
    KUBELET_PATCH,
    SYSCTL_DIR,
    MODULES_DIR,
    PROXY_DIR,
    CONTROL_PLANE_DIR,
    UNIT_DIR,
    PROXY_DROP_IN,
];

/// Files with secrets that exist only while a step needs them; a next run removes what an interrupted one left.
pub const SECRET_FILES: &[&str] = &[KUBEADM_FILE, DISCOVERY_FILE, KUBELET_PATCH];

/// Files of machineadm's own that a run writes, whatever its configuration is.
pub const WRITTEN_FILES: &[&str] = &[
    OUTCOME,
    OUTCOME_FALLBACK,
    REPORT,
    JOURNAL,
    CONFIGURATION,
    FETCHED,
    CLUSTER_INFO,
    OWNERSHIP,
    BEFORE_KUBEADM,
    CONTROL_PLANE_CHANGE,
    REBOOT_REQUIRED,
    SUCCESS,
    SUCCESS_KEPT,
    FAILURE,
];

/// How a run ended, as its exit code reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, or nothing to do.
    Done = 0,
    /// Failed; where a run had started, the outcome records where.
    Failed = 1,
    /// The input is invalid and nothing was changed.
    Input = 2,
    /// `plan --exit-code` found changes.
    Changes = 3,
    /// Another run holds the lock.
    Locked = 4,
    /// Done, but a reboot is needed.
    Reboot = 5,
    /// Manual action is required; the message says which.
    Person = 6,
}

impl Exit {
    /// Every code, for the docs and their test.
    pub const ALL: [Self; 7] =
        [Self::Done, Self::Failed, Self::Input, Self::Changes, Self::Locked, Self::Reboot, Self::Person];

    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}
