//! What a ControlPlaneConfig makes of the API server: files in one directory, arguments that name them, and volumes.
use super::{
    absolute_path::{is_below, is_virtual, path_problem, without_aliases},
    api_server_texts::Checked,
    control_plane::{Arguments, Volume, VolumeType, check_arguments},
    control_plane_config::ControlPlaneFileSpec,
    control_plane_member::Member,
};
use crate::{Claim, Claimed, Secret, document::Body, findings::Findings, path};
use objects::kubernetes_paths;
use std::collections::BTreeSet;

/// The directory of the files. It is mounted as a whole: a mounted file would stay the old one when a new one replaces
/// it.
pub const CONTROL_PLANE_FILES_DIRECTORY: &str = kubernetes_paths::CONTROL_PLANE_FILES;
/// What the names of all volumes begin with that a ControlPlaneConfig makes.
pub const CONTROL_PLANE_VOLUME_PREFIX: &str = "machineadm-";
/// The arguments that members of a ControlPlaneConfig make.
pub const CONTROL_PLANE_ARGUMENTS: [&str; 15] = [
    "admission-control-config-file",
    "audit-log-maxage",
    "audit-log-maxbackup",
    "audit-log-maxsize",
    AUDIT_LOG,
    "audit-policy-file",
    "audit-webhook-config-file",
    "authentication-config",
    "authentication-token-webhook-cache-ttl",
    "authentication-token-webhook-config-file",
    "authentication-token-webhook-version",
    "authorization-config",
    DISABLED_PLUGINS,
    ENABLED_PLUGINS,
    "encryption-provider-config",
];
const AUDIT_LOG: &str = "audit-log-path";
const ENABLED_PLUGINS: &str = "enable-admission-plugins";
const DISABLED_PLUGINS: &str = "disable-admission-plugins";
/// The plugin that kubeadm enables. An argument of ours replaces kubeadm's, so that it must name it as well.
const NODE_RESTRICTION: &str = "NodeRestriction";
/// Directories of the whole system: to mount one would give the API server the files of every other program.
const SYSTEM_DIRECTORIES: [&str; 13] = [
    "/",
    "/boot",
    "/dev",
    "/etc",
    kubernetes_paths::KUBERNETES,
    "/home",
    "/lib",
    "/opt",
    "/proc",
    "/run",
    "/sys",
    "/usr",
    "/var",
];

/// Directories that kubeadm mounts into the API server itself: the kubelet refuses a pod that mounts one twice.
/// <https://github.com/kubernetes/kubernetes/blob/v1.36.4/cmd/kubeadm/app/phases/controlplane/volumes.go>
const KUBEADM_MOUNTS: [&str; 8] = [
    "/etc/ca-certificates",
    kubernetes_paths::PKI,
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki",
    "/etc/ssl/certs",
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
];

/// What a control plane node has beside what kubeadm gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlPlane {
    /// Files in [`CONTROL_PLANE_FILES_DIRECTORY`].
    pub files: Vec<ControlPlaneFile>,
    /// Arguments of the API server.
    pub arguments: Vec<ApiServerArgument>,
    /// Volumes of the API server.
    pub volumes: Vec<Volume>,
    /// Members that need a minor version of Kubernetes.
    requirements: Vec<(Member, u32)>,
    /// Files of the directory that texts name, and the fields of the texts.
    references: Vec<(String, String)>,
    /// Keys, passwords and tokens in the texts.
    secrets: Vec<Secret<String>>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPlaneFile {
    /// Its name in the directory.
    pub name: String,
    /// What it holds.
    pub contents: Secret<Vec<u8>>,
    /// Whether it came encrypted, so that its contents are never shown.
    pub confidential: bool,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiServerArgument {
    /// Its name, without dashes.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The field that makes it.
    field: String,
}

impl ControlPlane {
    /// A member's file, and the argument that names it.
    pub(super) fn text(&mut self, member: Member, text: &str, checked: Checked) {
        let Checked { minor, files, secrets } = checked;
        let (name, field) = (member.file().to_owned(), member.field());
        self.argument(member.argument(), file_path(&name), field.to_owned());
        self.files.push(ControlPlaneFile { name, contents: contents(text), confidential: false });
        self.requirements.extend(minor.map(|minor| (member, minor)));
        self.references.extend(files.into_iter().map(|name| (name, field.to_owned())));
        self.secrets.extend(secrets);
    }

    /// An argument that a field makes.
    pub(super) fn argument(&mut self, name: &str, value: String, field: String) {
        self.arguments.push(ApiServerArgument { name: name.to_owned(), value, field });
    }

    /// The audit log, whose directory the API server can write to.
    pub(super) fn log(&mut self, log: &str, findings: &mut Findings<'_>) {
        let here = "spec.audit.log.path";
        self.argument(AUDIT_LOG, log.to_owned(), here.to_owned());
        if log == "-" {
            findings
                .error(here, "must be a file: the standard output is not supported")
                .hint("set the argument `audit-log-path` in `apiServer.arguments` of the InitConfig");
            return;
        }
        if let Some(problem) = path_problem(log) {
            findings.error(here, problem);
            return;
        }
        let directory = parent(log);
        if let Some(problem) = mount_problem(directory).or_else(|| own_directory_problem(directory)) {
            findings.error(here, problem);
        }
        self.volume("audit-log", directory, VolumeType::DirectoryOrCreate);
    }

    /// Directories with sockets of KMS plugins.
    pub(super) fn sockets(&mut self, directories: &BTreeSet<String>) {
        for (index, directory) in directories.iter().enumerate() {
            self.volume(&format!("kms-{index}"), directory, VolumeType::DirectoryOrCreate);
        }
    }

    fn volume(&mut self, name: &str, directory: &str, sort: VolumeType) {
        self.volumes.push(Volume {
            name: format!("{CONTROL_PLANE_VOLUME_PREFIX}{name}"),
            host_path: directory.to_owned(),
            mount_path: directory.to_owned(),
            read_only: sort == VolumeType::Directory,
            sort: Some(sort),
        });
    }

    /// The lists of admission plugins.
    pub(super) fn admission_plugins(&mut self, enable: &[String], disable: &[String], findings: &mut Findings<'_>) {
        for (field, plugins) in [("enable", enable), ("disable", disable)] {
            let here = format!("spec.admission.{field}");
            for (index, plugin) in plugins.iter().enumerate() {
                if plugin.is_empty() || !plugin.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                    findings.error(&path::item(&here, index), "must be the name of an admission plugin");
                } else if plugins[..index].contains(plugin) {
                    findings.error(&path::item(&here, index), "is listed twice");
                } else if field == "disable" && enable.contains(plugin) {
                    findings.error(&path::item(&here, index), "is also in `enable`: the API server would not start");
                }
            }
        }
        let is_restricted = !disable.iter().any(|plugin| plugin == NODE_RESTRICTION);
        if !is_restricted {
            let message = "disables NodeRestriction: each kubelet can then change every Node and pod of the cluster";
            findings.warning("spec.admission.disable", message);
        }
        if !enable.is_empty() || !is_restricted {
            let others = enable.iter().map(String::as_str).filter(|plugin| *plugin != NODE_RESTRICTION);
            let enabled: Vec<_> = is_restricted.then_some(NODE_RESTRICTION).into_iter().chain(others).collect();
            self.argument(ENABLED_PLUGINS, enabled.join(","), "spec.admission.enable".to_owned());
        }
        if !disable.is_empty() {
            self.argument(DISABLED_PLUGINS, disable.join(","), "spec.admission.disable".to_owned());
        }
    }

    /// A file that the user names.
    pub(super) fn further_file(&mut self, index: usize, file: ControlPlaneFileSpec, findings: &mut Findings<'_>) {
        let ControlPlaneFileSpec { name, content } = file;
        let here = path::item("spec.files", index);
        let named = path::member(&here, "name");
        if !is_file_name(&name) {
            findings.error(&named, "must be letters, digits, `.`, `_` and `-`, at most 128, and no path");
        } else if Member::ALL.iter().any(|member| member.file() == name) {
            findings.error(&named, "is the name of a file that another member of this kind makes");
        } else if self.files.iter().any(|other| other.name == name) {
            findings.error(&named, "is the name of an earlier file");
        }
        if findings.spend_decoded(content.expose().len()).is_none() {
            findings.error(&path::member(&here, "content"), "is too large for a configuration");
        }
        self.files.push(ControlPlaneFile { name, contents: contents(content.expose()), confidential: false });
        self.secrets.push(content);
    }

    /// Arguments that the user names.
    pub(super) fn further_arguments(&mut self, arguments: &Arguments, findings: &mut Findings<'_>) {
        check_arguments("spec.arguments", arguments, findings);
        for (name, value) in arguments {
            let here = path::member("spec.arguments", name);
            if name.contains('_') {
                // Under another name than the one that members of this document and kubeadm set.
                findings.error(&here, "must be written with `-`: kube-apiserver takes `_` for the same");
            }
            if let Some(made) = self.arguments.iter().find(|made| made.name == *name) {
                findings.error(&here, format!("is set by {}: remove one of them", made.field));
            }
            for member in Member::ALL.into_iter().filter(|member| self.has(*member)) {
                if member.excludes().iter().any(|start| name.starts_with(start)) {
                    findings.error(&here, format!("must not be set with {}", member.field()));
                }
            }
            if let Some(file) = in_directory(value) {
                self.references.push((file.to_owned(), here.clone()));
            }
            self.argument(name, value.clone(), here);
        }
    }

    fn has(&self, member: Member) -> bool {
        self.files.iter().any(|file| file.name == member.file())
    }

    /// Checks what all members are together, and mounts the directory.
    pub(super) fn finish(&mut self, findings: &mut Findings<'_>) {
        if self.arguments.is_empty() && self.files.is_empty() {
            findings.error("spec", "must have at least one member");
        }
        for (name, field) in &self.references {
            if !self.files.iter().any(|file| file.name == *name) {
                let message = match findings.word(name) {
                    Some(name) => format!(
                        "names the file {name} in {CONTROL_PLANE_FILES_DIRECTORY}, which no member of this document makes"
                    ),
                    None => {
                        format!("names a file in {CONTROL_PLANE_FILES_DIRECTORY} that no member of this document makes")
                    }
                };
                findings.error(field, message).hint("add it to `files`");
            }
        }
        if !self.files.is_empty() {
            self.volume("files", CONTROL_PLANE_FILES_DIRECTORY, VolumeType::Directory);
        }
        let mut mounted = BTreeSet::new();
        self.volumes.retain(|volume| mounted.insert(volume.mount_path.clone()));
    }
}

impl Body for ControlPlane {
    fn secrets(&self) -> Vec<&[u8]> {
        self.secrets.iter().map(|secret| secret.expose().as_bytes()).collect()
    }

    fn confidential(&self) -> Vec<&[u8]> {
        let contents = self.files.iter().map(|file| file.contents.expose().as_slice());
        contents.chain(self.arguments.iter().map(|argument| argument.value.as_bytes())).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let fixed = [Claimed::ControlPlaneFiles, Claimed::FilesBelow(CONTROL_PLANE_FILES_DIRECTORY)];
        let arguments = self
            .arguments
            .iter()
            .map(|argument| Claim::new(&*argument.field, Claimed::ApiServerArgument(&argument.name)));
        let volumes = self.volumes.iter().map(|volume| {
            Claim::new("spec", Claimed::ApiServerVolume { name: &volume.name, path: &volume.mount_path })
        });
        let requirements = self
            .requirements
            .iter()
            .map(|(member, minor)| Claim::new(member.field(), Claimed::RequiredKubernetes(*minor)));
        let excluded = Member::ALL.into_iter().filter(|member| self.has(*member)).flat_map(|member| {
            member.excludes().iter().map(move |start| Claim::new(member.field(), Claimed::NoApiServerArgument(start)))
        });
        let fixed = fixed.into_iter().map(|claimed| Claim::new("spec", claimed));
        fixed.chain(arguments).chain(volumes).chain(requirements).chain(excluded).collect()
    }

    fn conceal(&mut self) {
        self.files.iter_mut().for_each(|file| file.confidential = true);
    }
}

/// The path of a file in the directory.
fn file_path(name: &str) -> String {
    format!("{CONTROL_PLANE_FILES_DIRECTORY}/{name}")
}

/// The name of the file in the directory that a path is.
pub(super) fn in_directory(path: &str) -> Option<&str> {
    path.strip_prefix(CONTROL_PLANE_FILES_DIRECTORY)?.strip_prefix('/')
}

fn contents(text: &str) -> Secret<Vec<u8>> {
    Secret::new(text.as_bytes().to_vec())
}

/// The directory of an absolute path.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

/// Why a directory cannot be mounted into the API server.
pub(super) fn mount_problem(directory: &str) -> Option<String> {
    let real = &*without_aliases(directory);
    if SYSTEM_DIRECTORIES.contains(&real) || is_virtual(real) {
        return Some(format!("must be in a directory of its own: the API server would see all of {directory}"));
    }
    if KUBEADM_MOUNTS.contains(&real) {
        return Some(format!("must be in a directory of its own: kubeadm mounts {directory} already"));
    }
    None
}

fn own_directory_problem(directory: &str) -> Option<String> {
    is_below(directory, CONTROL_PLANE_FILES_DIRECTORY)
        .then(|| format!("must not be below {CONTROL_PLANE_FILES_DIRECTORY}, which the API server cannot write"))
}

fn is_file_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    first && name.len() <= 128 && name.bytes().all(is_plain)
}
