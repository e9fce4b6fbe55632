//! ProgramsConfig: the programs of a node, from an https server or a directory, with their units.
use super::{
    API_VERSION, AddressRight, ProgramSource, SourceSpec, duration,
    installed_programs::{PROGRAM_DIRECTORIES, Program, ProgramFile, Programs},
    program_source::{self, Base, local_problem},
    trust_bundle::authorities,
};
use crate::{
    Secret,
    document::{Check, Document},
    findings::Findings,
    path::{item, member},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, time::Duration};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(6 * 60 * 60);

/// Installs programs of a node from an https server or a directory. Each is verified by its SHA-256 before it is installed
/// or executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProgramsConfig {
    /// Base of every `source` that is not an absolute path: an https URI or the absolute path of a directory on this
    /// machine. Output shows a URI without credentials and query; a query is sent with every file.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub location: Option<Secret<String>>,
    /// CA certificates (PEM) for the https server. When set, no other CA certificates are used. Default: those of the
    /// system and of every TrustBundleConfig before this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
    /// Special addresses that programs may come from: loopback addresses, link-local addresses. Default: none of them.
    /// In a fetched document, the RemoteConfig that fetched it must allow them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<AddressRight>,
    /// Timeout of the download of one file, such as `30m`, from 1s to 6h; includes retries. An interrupted download is
    /// resumed where the server supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN), extend("default" = "30m"))]
    pub timeout: Option<String>,
    /// Directory for the programs, one in which kubeadm finds them. The default also works where `/usr` is read-only.
    #[serde(default = "opt_bin")]
    pub directory: String,
    /// The programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramsSpec>,
    /// Container images that are imported into containerd for Kubernetes (namespace `k8s.io`), each archive once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<ImagesSpec>,
}

/// The programs of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct ProgramsSpec {
    /// kubeadm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeadm: Option<SourceSpec>,
    /// kubelet. Its unit and kubeadm's drop-in for it are written to `/etc/systemd/system`, and the unit is enabled. A
    /// kubelet that runs is restarted when its program changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<SourceSpec>,
    /// machineadm itself: the next run uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machineadm: Option<SourceSpec>,
    /// runc, which containerd uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runc: Option<SourceSpec>,
    /// containerd, a release archive (`.tar.gz` with files in `bin/`). Its unit is written to `/etc/systemd/system`, enabled
    /// and started, and restarted when the program changes. It reads `/etc/containerd/config.toml`, which a FilesConfig
    /// before this document can write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containerd: Option<SourceSpec>,
    /// CNI plugins, a release archive (`.tgz`), installed in `/opt/cni/bin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cni_plugins: Option<SourceSpec>,
    /// Further programs, each one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProgram>,
}

/// A further program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["source"]}, {"required": ["uri"]}]))]
pub struct OtherProgram {
    /// Name of the installed file, such as `crictl`.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Path below `location`, such as `bin/crictl`, or an absolute path on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub source: Option<String>,
    /// Complete https URI in place of `source`. Output shows it without credentials and query.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub uri: Option<Secret<String>>,
    /// SHA-256 of the file, 64 hexadecimal digits.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    pub sha256: String,
}

/// Image archives (`.tar`) as `ctr images export` and `docker save` write them: either a directory or files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["directory"]}, {"required": ["files"]}]))]
pub struct ImagesSpec {
    /// Directory on this machine: every `.tar` in it is imported, in the order of their names. Only root may be able to
    /// write the directory and the archives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Archives that are fetched or copied, each with its SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub files: Option<Vec<SourceSpec>>,
}

fn opt_bin() -> String {
    "/opt/bin".to_owned()
}

impl Document for ProgramsConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ProgramsConfig";
    const SUMMARY: &str = "Programs of a node, with their units and images, from an https server or a directory.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ProgramsConfig
metadata:
  name: kubernetes
spec:
  location: https://files.example.com/kubernetes/v1.36.4/
  programs:
    kubeadm:
      source: kubeadm
      sha256: 'd5be5966597725a3cc0fa65c23fdcbd49dc3fae514a1ca0d439a56086565c5cc'
    kubelet:
      source: kubelet
      sha256: '1ca4bc7eb9b3d6f1e205da9cfab437c89d3760d0765a29a6bcbccf4ad51a2cb1'
    runc:
      source: runc.amd64
      sha256: '501e03083c73bb097e77509a3cb92cedc7f44d6d53e1e54eb4c40f23f03307e9'
    containerd:
      source: containerd-2.1.9-linux-amd64.tar.gz
      sha256: '2397d068a8d1552a4c3f9147ba9c94e086bfd66fb2acb5bbaf47197105127d5f'
    cniPlugins:
      source: cni-plugins-linux-amd64-v1.9.0.tgz
      sha256: 'df08d57eecf39eb20ac9177e96c1c14708b9b0872b5a22aa6d7fb225ab182bd4'
  images:
    directory: /srv/images
";
}

impl Check for ProgramsConfig {
    type Checked = Box<Programs>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Programs> {
        let Self { location, certificate_authority, allow, timeout, directory, programs, images } = self;
        let base = Base::check(location, "spec.location", findings);
        let authorities = authorities("spec.certificateAuthority", certificate_authority.as_deref(), findings);
        let timeout = checked_timeout(timeout.as_deref(), findings);
        if !PROGRAM_DIRECTORIES.contains(&directory.as_str()) {
            let message = format!("must be one of {}", PROGRAM_DIRECTORIES.join(", "));
            findings.error("spec.directory", message).hint("kubeadm finds programs only there");
        }
        if programs.is_none() && images.is_none() {
            findings.error("spec", "requires `programs` or `images`");
        }
        let programs = programs.map_or_else(Vec::new, |programs| programs.check(base.as_ref(), findings));
        let (images, images_directory) = checked_images(images, base.as_ref(), findings);
        let (bundles, proxy) = (Vec::new(), None);
        Box::new(Programs {
            directory,
            programs,
            images,
            images_directory,
            authorities,
            allow,
            timeout,
            bundles,
            proxy,
        })
    }
}

impl ProgramsSpec {
    fn check(self, base: Option<&Base>, findings: &mut Findings<'_>) -> Vec<ProgramFile> {
        let Self { kubeadm, kubelet, machineadm, runc, containerd, cni_plugins, others } = self;
        // Programs before those that use them: containerd starts when its turn is over.
        let known = [
            (Program::Machineadm, machineadm),
            (Program::Runc, runc),
            (Program::CniPlugins, cni_plugins),
            (Program::Containerd, containerd),
            (Program::Kubeadm, kubeadm),
            (Program::Kubelet, kubelet),
        ];
        let mut programs = Vec::new();
        for (program, source) in known {
            let Some(source) = source else { continue };
            let source = program_source::check(source, base, program.field(), findings);
            programs.push(ProgramFile { program, source });
        }
        let mut names = BTreeSet::new();
        for (index, other) in others.into_iter().enumerate() {
            let OtherProgram { name, source, uri, sha256 } = other;
            let here = item("spec.programs.others", index);
            if let Some(problem) = name_problem(&name) {
                findings.error(&member(&here, "name"), problem);
            } else if !names.insert(name.clone()) {
                findings.error(&member(&here, "name"), "is also the name of an earlier item");
            }
            let source = program_source::check(SourceSpec { source, uri, sha256 }, base, &here, findings);
            programs.push(ProgramFile { program: Program::Other(name), source });
        }
        if programs.is_empty() {
            findings.error("spec.programs", "must name at least one program");
        }
        programs
    }
}

fn checked_timeout(given: Option<&str>, findings: &mut Findings<'_>) -> Duration {
    let timeout = match given.map(duration::parse) {
        None => Some(DEFAULT_TIMEOUT),
        Some(given) => given.ok().filter(|timeout| (SHORTEST..=LONGEST).contains(timeout)),
    };
    if timeout.is_none() {
        findings.error("spec.timeout", "must be a duration from 1s to 6h, such as `30m`");
    }
    timeout.unwrap_or(DEFAULT_TIMEOUT)
}

fn checked_images(
    images: Option<ImagesSpec>,
    base: Option<&Base>,
    findings: &mut Findings<'_>,
) -> (Vec<ProgramSource>, Option<String>) {
    let Some(ImagesSpec { directory, files }) = images else { return (Vec::new(), None) };
    if directory.is_some() == files.is_some() {
        findings.error("spec.images", "requires either `directory` or `files`");
    }
    if let Some(problem) = directory.as_deref().and_then(local_problem) {
        findings.error("spec.images.directory", problem);
    }
    if files.as_ref().is_some_and(Vec::is_empty) {
        findings.error("spec.images.files", "must contain at least one file");
    }
    let files = files
        .unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(|(index, file)| program_source::check(file, base, &item("spec.images.files", index), findings));
    (files.collect(), directory)
}

/// Names that have members of their own, which do more than install a file.
const KNOWN: [&str; 5] = ["kubeadm", "kubelet", "machineadm", "runc", "containerd"];

fn name_problem(name: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._+".contains(&byte);
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if name.len() > 64 || !starts_well || !name.bytes().all(is_plain) {
        return Some("must be the name of a file: letters, digits, `-`, `.`, `_` and `+`, at most 64");
    }
    KNOWN.contains(&name).then_some("has a member of its own in `spec.programs`: use that")
}

#[cfg(test)]
mod tests;
