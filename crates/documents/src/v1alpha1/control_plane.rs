//! The programs of a control plane: their arguments, certificate names and volumes, as an InitConfig names them.
use super::absolute_path::{is_virtual, path_problem};
use crate::{findings::Findings, metadata::is_subdomain, path};
use core::net::IpAddr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments of a program beyond those that kubeadm sets, by their names without dashes.
pub type Arguments = BTreeMap<String, String>;

/// Settings of the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApiServer {
    /// Further names and addresses in the certificate of the API server, such as `api.example.com`.
    #[serde(rename = "certSANs", default, skip_serializing_if = "Vec::is_empty")]
    pub cert_sans: Vec<String>,
    /// Arguments by their names without dashes, such as `audit-log-path`. They replace those that kubeadm sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: Arguments,
    /// Files and directories of the machine that the API server sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
}

/// Settings of the controller manager or of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneProgram {
    /// Arguments by their names without dashes, such as `bind-address`. They replace those that kubeadm sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: Arguments,
    /// Files and directories of the machine that the program sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
}

/// Settings of the etcd member on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EtcdMember {
    /// Directory of its data. Default: `/var/lib/etcd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_directory: Option<String>,
    /// Arguments by their names without dashes, such as `quota-backend-bytes`. They replace those that kubeadm sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: Arguments,
    /// Further names and addresses in its certificate for clients.
    #[serde(rename = "serverCertSANs", default, skip_serializing_if = "Vec::is_empty")]
    pub server_cert_sans: Vec<String>,
    /// Further names and addresses in its certificate for other members.
    #[serde(rename = "peerCertSANs", default, skip_serializing_if = "Vec::is_empty")]
    pub peer_cert_sans: Vec<String>,
}

/// A file or directory of the machine inside a static pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Volume {
    /// Name of the volume: lower-case letters, digits and `-`. One that kubeadm uses itself, such as `ca-certs`, is
    /// replaced.
    pub name: String,
    /// Absolute path on the machine.
    pub host_path: String,
    /// Absolute path in the pod.
    pub mount_path: String,
    /// Whether the pod cannot write to it.
    #[serde(default = "read_only")]
    pub read_only: bool,
    /// What must be on the machine. Default: it is not checked.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub sort: Option<VolumeType>,
}

/// What must be at the path of a volume on the machine, as Kubernetes names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VolumeType {
    /// A directory.
    Directory,
    /// A directory, which is created if it is missing.
    DirectoryOrCreate,
    /// A file.
    File,
    /// A file, which is created if it is missing.
    FileOrCreate,
    /// A Unix socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl VolumeType {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Directory,
        Self::DirectoryOrCreate,
        Self::File,
        Self::FileOrCreate,
        Self::Socket,
        Self::CharDevice,
        Self::BlockDevice,
    ];

    /// As Kubernetes writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Directory => "Directory",
            Self::DirectoryOrCreate => "DirectoryOrCreate",
            Self::File => "File",
            Self::FileOrCreate => "FileOrCreate",
            Self::Socket => "Socket",
            Self::CharDevice => "CharDevice",
            Self::BlockDevice => "BlockDevice",
        }
    }
}

const fn read_only() -> bool {
    true
}

impl ApiServer {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(&self, here: &str, findings: &mut Findings<'_>) {
        check_names(&path::member(here, "certSANs"), &self.cert_sans, findings);
        check_arguments(&path::member(here, "arguments"), &self.arguments, findings);
        check_volumes(&path::member(here, "volumes"), &self.volumes, findings);
    }
}

impl ControlPlaneProgram {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(&self, here: &str, findings: &mut Findings<'_>) {
        check_arguments(&path::member(here, "arguments"), &self.arguments, findings);
        check_volumes(&path::member(here, "volumes"), &self.volumes, findings);
    }
}

impl EtcdMember {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(&self, here: &str, findings: &mut Findings<'_>) {
        check_directory(&path::member(here, "dataDirectory"), self.data_directory.as_deref(), findings);
        check_arguments(&path::member(here, "arguments"), &self.arguments, findings);
        check_names(&path::member(here, "serverCertSANs"), &self.server_cert_sans, findings);
        check_names(&path::member(here, "peerCertSANs"), &self.peer_cert_sans, findings);
    }
}

/// A directory in which a program writes.
pub(super) fn check_directory(here: &str, directory: Option<&str>, findings: &mut Findings<'_>) {
    let Some(directory) = directory else { return };
    if let Some(problem) = path_problem(directory) {
        findings.error(here, problem);
    } else if is_virtual(directory) {
        findings.error(here, "must not be below /proc, /sys or /dev");
    }
}

pub(super) fn check_arguments(here: &str, arguments: &Arguments, findings: &mut Findings<'_>) {
    for (name, value) in arguments {
        let here = path::member(here, name);
        if name.starts_with('-') {
            findings.error(&here, "must be the name of an argument without its dashes, such as `audit-log-path`");
        } else if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            findings.error(&here, "must be the name of an argument: letters, digits, `-`, `_` and `.`");
        }
        if value.chars().any(char::is_control) {
            findings.error(&here, "must not contain control characters");
        }
    }
}

fn check_volumes(here: &str, volumes: &[Volume], findings: &mut Findings<'_>) {
    let (mut names, mut mounts) = (BTreeSet::new(), BTreeSet::new());
    for (index, volume) in volumes.iter().enumerate() {
        let here = path::item(here, index);
        if !is_volume_name(&volume.name) {
            let message = "must be lower-case letters, digits and `-`, at most 63 characters";
            findings.error(&path::member(&here, "name"), message);
        } else if !names.insert(&volume.name) {
            findings.error(&path::member(&here, "name"), "is the name of an earlier volume");
        }
        if let Some(problem) = path_problem(&volume.host_path) {
            findings.error(&path::member(&here, "hostPath"), problem);
        }
        match path_problem(&volume.mount_path) {
            Some(problem) => _ = findings.error(&path::member(&here, "mountPath"), problem),
            None if !mounts.insert(&volume.mount_path) => {
                findings.error(&path::member(&here, "mountPath"), "is the path of an earlier volume");
            }
            None => {}
        }
    }
}

fn is_volume_name(name: &str) -> bool {
    name.len() <= 63 && !name.contains('.') && is_subdomain(name)
}

fn check_names(here: &str, names: &[String], findings: &mut Findings<'_>) {
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !is_certificate_name(name)) {
        let message = match name.contains(':') {
            true => "must be a DNS name or an IP address, without scheme and port",
            false => "must be a DNS name, one that starts with `*.`, or an IP address",
        };
        findings.error(&path::item(here, index), message);
    }
}

/// What may stand in a certificate: an address, a name, or a name for all names of a domain.
fn is_certificate_name(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    text.parse::<IpAddr>().is_ok() || is_subdomain(lower.strip_prefix("*.").unwrap_or(&lower))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{found, with_spec};

    fn problems_with(member: &str) -> Vec<String> {
        found(&with_spec("InitConfig", &format!("{{kubernetesVersion: v1.36.4, {member}}}")))
    }

    #[test]
    fn names_of_certificates_are_names_or_addresses() {
        for name in ["api.example.com", "*.example.com", "10.0.0.10", "fd00::10", "API.example.com"] {
            assert!(is_certificate_name(name), "{name}");
        }
        for name in ["", "https://api", "api:6443", "a_b", "*", "*.*.a", "10.0.0.0/8"] {
            assert!(!is_certificate_name(name), "{name}");
        }
    }

    #[test]
    fn arguments_are_named_without_dashes_and_hold_one_line() {
        let found = problems_with(r#"scheduler: {arguments: {--v: "2", "a b": x, v: "2\n3"}}"#);
        let wanted = [
            "spec.scheduler.arguments.--v: must be the name of an argument without its dashes, such as `audit-log-path`",
            "spec.scheduler.arguments[a b]: must be the name of an argument: letters, digits, `-`, `_` and `.`",
            "spec.scheduler.arguments.v: must not contain control characters",
        ];
        assert_eq!(found, wanted);
        assert_eq!(problems_with("scheduler: {arguments: {v: '2', log_dir: /a, feature-gates: 'A=true'}}"), [""; 0]);
    }

    #[test]
    fn volumes_have_names_and_mounts_of_their_own_and_absolute_paths() {
        let first = "{name: audit, hostPath: /etc/audit, mountPath: /etc/audit}";
        let second = "{name: audit, hostPath: etc, mountPath: /etc/audit, type: Directory}";
        let third = "{name: A.b, hostPath: /etc/, mountPath: ''}";
        let found = problems_with(&format!("apiServer: {{volumes: [{first}, {second}, {third}]}}"));
        let wanted = [
            "spec.apiServer.volumes[1].name: is the name of an earlier volume",
            "spec.apiServer.volumes[1].hostPath: must be an absolute path, starting with `/`",
            "spec.apiServer.volumes[1].mountPath: is the path of an earlier volume",
            "spec.apiServer.volumes[2].name: must be lower-case letters, digits and `-`, at most 63 characters",
            "spec.apiServer.volumes[2].hostPath: must not end with `/`",
            "spec.apiServer.volumes[2].mountPath: must be an absolute path, starting with `/`",
        ];
        assert_eq!(found, wanted);
        let volume: Volume =
            serde_json::from_str(r#"{"name": "a", "hostPath": "/a", "mountPath": "/b"}"#).expect("a volume");
        assert!(volume.read_only, "a volume that nothing is said of can be read and not written");
    }

    #[test]
    fn the_data_of_etcd_is_on_a_disk() {
        let found = problems_with("etcd: {dataDirectory: /proc/etcd, serverCertSANs: ['a:1'], peerCertSANs: [a b]}");
        let wanted = [
            "spec.etcd.dataDirectory: must not be below /proc, /sys or /dev",
            "spec.etcd.serverCertSANs[0]: must be a DNS name or an IP address, without scheme and port",
            "spec.etcd.peerCertSANs[0]: must be a DNS name, one that starts with `*.`, or an IP address",
        ];
        assert_eq!(found, wanted);
    }
}
