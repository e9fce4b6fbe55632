//! Paths that are reserved for machineadm: a FilesConfig that wrote one of them would release the lock of a run, forge its
//! outcome, or undo at every run what another document writes.
use super::{
    absolute_path::{is_below, without_aliases},
    control_plane_files::CONTROL_PLANE_FILES_DIRECTORY,
    drop_in::is_drop_in,
    kernel_modules::MODULES_DIR,
    proxy::{PROXY_DIR, UNIT_DIR, is_proxy_drop_in},
    sysctl::SYSCTL_DIR,
    trust_bundle::is_trust_anchor,
};

/// State of machineadm, and what Cluster API's infrastructure providers poll.
const STATE_DIRS: [&str; 3] = ["/var/lib/machineadm", "/run/machineadm", "/run/cluster-api"];

/// Where first-boot tools deliver the configuration itself, which a run deletes when it succeeds.
const DELIVERED: &str = "/etc/machineadm/config.yaml";

/// Why a document must not write a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// It holds machineadm's own state.
    State,
    /// It is a directory in which machineadm writes.
    Directory,
    /// Documents of another kind write it.
    WrittenBy(&'static str),
}

impl Reserved {
    /// What the path is reserved for; `None` where a document may write it.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let path = &*without_aliases(path);
        if path.split('/').any(is_draft)
            || is_below(path, DELIVERED)
            || STATE_DIRS.iter().any(|directory| path != *directory && is_below(path, directory))
        {
            return Some(Self::State);
        }
        let directories =
            STATE_DIRS.iter().chain(&[PROXY_DIR, SYSCTL_DIR, MODULES_DIR, UNIT_DIR, CONTROL_PLANE_FILES_DIRECTORY]);
        if directories.into_iter().any(|directory| is_below(directory, path)) {
            return Some(Self::Directory);
        }
        let writers = [
            ("SysctlConfig", is_drop_in(SYSCTL_DIR, path)),
            ("KernelModulesConfig", is_drop_in(MODULES_DIR, path)),
            ("ProxyConfig", is_below(path, PROXY_DIR) || is_proxy_drop_in(path)),
            ("TrustBundleConfig", is_trust_anchor(path)),
            ("ControlPlaneConfig", is_below(path, CONTROL_PLANE_FILES_DIRECTORY)),
        ];
        writers.into_iter().find(|(_, writes)| *writes).map(|(kind, _)| Self::WrittenBy(kind))
    }

    /// What a problem says of it.
    pub(crate) fn message(self) -> String {
        match self {
            Self::State => "is reserved for the state of machineadm".to_owned(),
            Self::Directory => "is a directory in which machineadm writes files".to_owned(),
            Self::WrittenBy(kind) => format!("is reserved for the files that machineadm writes for {kind}"),
        }
    }

    pub(crate) fn hint(self) -> String {
        match self {
            Self::State | Self::Directory => "use another path".to_owned(),
            Self::WrittenBy(kind) => format!("use {kind}, or another path"),
        }
    }
}

/// Whether a name is that of a draft: a file is written under it before it gets its own, and a run deletes it.
fn is_draft(name: &str) -> bool {
    let digits = name.strip_prefix(".machineadm-");
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use crate::{
        testing::{found, with_spec},
        v1alpha1::{environment_file, modules_file, proxy_drop_in, sysctl_file, trust_anchor},
    };

    fn problems(path: &str) -> Vec<String> {
        found(&with_spec("FilesConfig", &format!("files: [{{path: '{path}', content: x}}]")))
    }

    #[test]
    fn a_file_document_cannot_write_the_lock_the_journal_the_outcome_or_the_success_marks() {
        let message = "spec.files[0].path: is reserved for the state of machineadm";
        for path in [
            "/run/machineadm/lock",
            "/etc/.machineadm-5faab372d8fe1b00",
            "/etc/.machineadm-5faab372d8fe1b00/a",
            "/var/run/machineadm/lock",
            "/var/lib/machineadm/journal.json",
            "/var/lib/machineadm/services/a/b",
            "/run/cluster-api/bootstrap-success.complete",
            "/etc/machineadm/config.yaml",
        ] {
            assert_eq!(problems(path), [message], "{path}");
        }
    }

    #[test]
    fn a_file_document_cannot_write_the_files_of_other_kinds() {
        for (kind, path) in [
            ("SysctlConfig", sysctl_file(Some("kernel"))),
            ("SysctlConfig", sysctl_file(None)),
            ("KernelModulesConfig", modules_file(Some("a.b"))),
            ("ProxyConfig", environment_file("egress")),
            ("ProxyConfig", proxy_drop_in("kubelet")),
            ("ControlPlaneConfig", "/etc/kubernetes/machineadm/audit-policy.yaml".to_owned()),
            ("TrustBundleConfig", trust_anchor("/usr/local/share/ca-certificates", "root", "0011aabb")),
        ] {
            let message = format!("spec.files[0].path: is reserved for the files that machineadm writes for {kind}");
            assert_eq!(problems(&path), [message], "{path}");
        }
    }

    #[test]
    fn a_file_document_cannot_put_a_file_where_machineadm_needs_a_directory() {
        for path in ["/var", "/var/lib", "/var/lib/machineadm", "/run", "/etc/machineadm", "/etc/sysctl.d", "/var/run"]
        {
            let message = "spec.files[0].path: is a directory in which machineadm writes files";
            assert_eq!(problems(path), [message], "{path}");
        }
    }

    #[test]
    fn paths_beside_the_reserved_ones_can_be_written() {
        for path in [
            "/etc/machineadm/passphrase",
            "/etc/machineadm/proxies",
            "/var/lib/machineadmin/x",
            "/etc/sysctl.d/90-machine.conf",
            "/etc/sysctl.d/90-machineadm.d/a.conf",
            "/etc/systemd/system/kubelet.service.d/10-proxy.conf",
            "/usr/local/share/ca-certificates/root.crt",
            "/run/reboot-required",
        ] {
            assert_eq!(problems(path), [""; 0], "{path}");
        }
    }
}
