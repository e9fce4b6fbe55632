//! ProgramsConfig: the programs of a node, from an https server or a directory, with their units.
use super::{
    API_VERSION, AddressRight, Certificate, ProgramLocation, ProgramSource, Proxy, ServiceState, SourceSpec,
    UnitSettings, duration,
    program_source::{self, Base, local_problem},
    trust_bundle::authorities,
    uri,
};
use crate::{
    Claim, Claimed, Rights, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path::{item, member},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, time::Duration};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(6 * 60 * 60);

/// Directories in which kubeadm, and everything else that machineadm starts, finds programs; in this order.
pub const PROGRAM_DIRECTORIES: [&str; 7] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/opt/bin"];
/// Where container runtimes look for CNI plugins.
pub const CNI_PLUGINS_DIRECTORY: &str = "/opt/cni/bin";
/// Where unit files are written.
const UNITS: &str = "/etc/systemd/system";

/// Programs to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// Where they are installed.
    pub directory: String,
    /// The programs, in the order in which they are installed.
    pub programs: Vec<ProgramFile>,
    /// Image archives to import.
    pub images: Vec<ProgramSource>,
    /// A directory of image archives to import.
    pub images_directory: Option<String>,
    /// CA certificates for the https server; empty if nothing particular.
    pub authorities: Vec<Certificate>,
    /// The special addresses that programs may come from, in the order of the document.
    pub allow: Vec<AddressRight>,
    /// How long the download of one file may take, retries included.
    pub timeout: Duration,
    /// CA certificates of every TrustBundleConfig before the document. Expansion fills them in.
    pub bundles: Vec<Certificate>,
    /// The last ProxyConfig before the document. Expansion fills it in.
    pub proxy: Option<Proxy>,
}

/// A program and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// Which one.
    pub program: Program,
    /// Its source.
    pub source: ProgramSource,
}

/// What can be installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// machineadm itself.
    Machineadm,
    /// runc.
    Runc,
    /// CNI plugins, an archive.
    CniPlugins,
    /// containerd, an archive.
    Containerd,
    /// kubeadm.
    Kubeadm,
    /// The kubelet.
    Kubelet,
    /// A program that machineadm does not know.
    Other(String),
}

impl Program {
    /// Its name: that of the file, or of the archive for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Machineadm => "machineadm",
            Self::Runc => "runc",
            Self::CniPlugins => "CNI plugins",
            Self::Containerd => "containerd",
            Self::Kubeadm => "kubeadm",
            Self::Kubelet => "kubelet",
            Self::Other(name) => name,
        }
    }

    /// The field that names its source.
    const fn field(&self) -> &'static str {
        match self {
            Self::Machineadm => "spec.programs.machineadm",
            Self::Runc => "spec.programs.runc",
            Self::CniPlugins => "spec.programs.cniPlugins",
            Self::Containerd => "spec.programs.containerd",
            Self::Kubeadm => "spec.programs.kubeadm",
            Self::Kubelet => "spec.programs.kubelet",
            Self::Other(_) => "spec.programs.others",
        }
    }

    /// The unit files that come with it.
    fn units(&self) -> &'static [&'static str] {
        match self {
            Self::Containerd => &["containerd.service"],
            Self::Kubelet => &["kubelet.service", "kubelet.service.d/10-kubeadm.conf"],
            _ => &[],
        }
    }
}

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
    KNOWN.contains(&name).then_some("has a member of its own in `spec`: use that")
}

impl Programs {
    /// Every source, with the field that names it.
    fn sources(&self) -> impl Iterator<Item = (String, &ProgramSource)> {
        let mut others = 0..;
        let programs = self.programs.iter().map(move |ProgramFile { program, source }| {
            let field = match program {
                Program::Other(_) => item(program.field(), others.next().unwrap_or_default()),
                _ => program.field().to_owned(),
            };
            (field, source)
        });
        let images = self.images.iter().enumerate();
        programs.chain(images.map(|(index, source)| (item("spec.images.files", index), source)))
    }

    fn uris(&self) -> impl Iterator<Item = &str> {
        self.sources().filter_map(|(_, source)| match &source.location {
            ProgramLocation::Uri(uri) => Some(uri.expose().as_str()),
            ProgramLocation::Path(_) => None,
        })
    }

    /// The first member that a document with these rights may not have: its path, what it names, and the right.
    pub(crate) fn not_allowed(&self, rights: Rights) -> Option<(String, &'static str, &'static str)> {
        let is_local = |source: &ProgramSource| matches!(source.location, ProgramLocation::Path(_));
        let local = self.sources().find(|(_, source)| is_local(source)).map(|(field, _)| field);
        let directory = self.images_directory.as_ref().map(|_| "spec.images.directory".to_owned());
        match local.or(directory).filter(|_| !rights.local_files) {
            Some(field) => Some((field, "local files", "localFiles")),
            None => AddressRight::not_allowed(&self.allow, rights),
        }
    }

    /// The path of a program that is one file; `None` for an archive.
    pub fn path_of(&self, program: &Program) -> Option<String> {
        match program {
            Program::CniPlugins => None,
            program => Some(format!("{}/{}", self.directory, program.name())),
        }
    }
}

impl Body for Programs {
    fn secrets(&self) -> Vec<&[u8]> {
        self.uris().flat_map(uri::uri_secrets).map(str::as_bytes).collect()
    }

    fn confidential(&self) -> Vec<&[u8]> {
        self.uris().map(str::as_bytes).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let mut claims = vec![Claim::new("kind", Claimed::Preparation("programs"))];
        for (ProgramFile { program, .. }, (field, _)) in self.programs.iter().zip(self.sources()) {
            match self.path_of(program) {
                Some(path) => claims.push(Claim::new(field.clone(), Claimed::Program { path })),
                None => claims.push(Claim::new(field.clone(), Claimed::FilesBelow(CNI_PLUGINS_DIRECTORY))),
            }
            for unit in program.units() {
                claims.push(Claim::new(field.clone(), Claimed::Program { path: format!("{UNITS}/{unit}") }));
            }
            let unit = match program {
                Program::Containerd => ("containerd.service", Some(ServiceState::Started)),
                Program::Kubelet => ("kubelet.service", None),
                _ => continue,
            };
            let wanted = UnitSettings { enabled: Some(true), masked: None, state: unit.1 };
            claims.push(Claim::new(field, Claimed::Unit { name: unit.0, wanted }));
        }
        claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{document, found, problems, spec, with_spec},
    };

    const SUM: &str = "'0000000000000000000000000000000000000000000000000000000000000001'";

    fn programs(yaml: &str) -> Programs {
        let AnyDocument::Programs(programs) = spec("ProgramsConfig", &yaml.replace("SUM", SUM)) else { panic!() };
        *programs
    }

    fn found_in(yaml: &str) -> Vec<String> {
        found(&with_spec("ProgramsConfig", &yaml.replace("SUM", SUM)))
    }

    #[test]
    fn a_source_is_below_the_location_and_sends_its_query() {
        let location = |location: &str, program: &str| {
            let programs =
                programs(&format!("{{location: '{location}', programs: {{kubeadm: {{{program}, sha256: SUM}}}}}}"));
            match &programs.programs[0].source.location {
                ProgramLocation::Uri(uri) => uri.expose().clone(),
                ProgramLocation::Path(path) => path.clone(),
            }
        };
        assert_eq!(location("https://a/b/", "source: c/kubeadm"), "https://a/b/c/kubeadm");
        assert_eq!(location("https://a/b", "source: kubeadm"), "https://a/b/kubeadm");
        assert_eq!(location("https://a", "source: kubeadm"), "https://a/kubeadm");
        assert_eq!(location("https://a/b/?sig=x", "source: kubeadm"), "https://a/b/kubeadm?sig=x");
        assert_eq!(location("/srv/programs/", "source: kubeadm"), "/srv/programs/kubeadm");
        assert_eq!(location("https://a/b", "source: /srv/kubeadm"), "/srv/kubeadm");
        assert_eq!(location("/srv", "uri: 'https://c/d?e'"), "https://c/d?e");
    }

    #[test]
    fn programs_are_installed_before_those_that_use_them() {
        let names = ["kubelet", "containerd", "runc", "machineadm", "cniPlugins", "kubeadm"];
        let members: Vec<_> = names.map(|name| format!("{name}: {{source: /a, sha256: SUM}}")).into();
        let all = programs(&format!(
            "{{programs: {{{}, others: [{{name: z, source: /a, sha256: SUM}}]}}}}",
            members.join(", ")
        ));
        let order: Vec<_> = all.programs.iter().map(|file| file.program.name()).collect();
        assert_eq!(order, ["machineadm", "runc", "CNI plugins", "containerd", "kubeadm", "kubelet", "z"]);
        assert_eq!((all.directory.as_str(), all.timeout), ("/opt/bin", Duration::from_secs(1800)));
    }

    #[test]
    fn every_bad_member_is_listed() {
        let yaml = "\
location: http://a/
certificateAuthority: none
timeout: 7h
directory: /srv/bin
programs:
  kubeadm: {source: ../kubeadm, sha256: x}
  kubelet: {sha256: SUM}
  runc: {source: a, uri: 'https://a/b', sha256: SUM}
  containerd: {uri: 'http://a', sha256: SUM}
  others:
  - {name: machineadm, source: /a, sha256: SUM}
  - {name: a/b, source: 'https://a/b', sha256: SUM}
images: {directory: /proc/a, files: []}";
        let expected = [
            "location",
            "certificateAuthority",
            "timeout",
            "directory",
            "programs.kubeadm.source",
            "programs.kubeadm.sha256",
            "programs.kubelet",
            "programs.runc",
            "programs.containerd.uri",
            "programs.others[0].name",
            "programs.others[1].name",
            "programs.others[1].source",
            "images",
            "images.directory",
            "images.files",
        ];
        assert_eq!(
            problems("ProgramsConfig", &yaml.replace("SUM", SUM)),
            expected.map(|field| format!("spec.{field}"))
        );
        assert_eq!(found_in("{timeout: 1m}"), ["spec: requires `programs` or `images`"]);
        assert_eq!(found_in("{programs: {}}"), ["spec.programs: must name at least one program"]);
        let relative =
            "spec.programs.kubeadm.source: is relative: set `spec.location`, or write an absolute path or a `uri`";
        assert_eq!(found_in("{programs: {kubeadm: {source: a, sha256: SUM}}}"), [relative]);
    }

    #[test]
    fn queries_and_passwords_are_secrets() {
        let programs = programs(
            "{location: 'https://u:pw@a/?sig=s3', programs: {kubeadm: {source: k, sha256: SUM},
              runc: {uri: 'https://b/?t0k', sha256: SUM}}}",
        );
        let secrets: Vec<_> = programs.secrets().into_iter().map(String::from_utf8_lossy).collect();
        for secret in ["pw", "sig=s3", "s3", "t0k"] {
            assert!(secrets.iter().any(|known| known == secret), "{secrets:?}");
        }
        assert!(!format!("{programs:?}").contains("s3"), "{programs:?}");
        assert_eq!(programs.programs[1].source.location.shown(), "https://a/k");
    }

    #[test]
    fn a_document_names_only_what_its_rights_allow() {
        let path = |yaml: &str, rights| programs(yaml).not_allowed(rights).map(|(path, _, right)| (path, right));
        let files = Rights { local_files: true, ..Rights::NONE };
        let local = "{location: /srv, programs: {others: [{name: a, uri: 'https://a/', sha256: SUM},
                      {name: b, source: b, sha256: SUM}]}}";
        assert_eq!(path(local, Rights::NONE), Some(("spec.programs.others[1]".to_owned(), "localFiles")));
        assert_eq!(path(local, files), None);
        let images = "{images: {directory: /srv/images}, allow: [loopback]}";
        assert_eq!(path(images, Rights::NONE), Some(("spec.images.directory".to_owned(), "localFiles")));
        assert_eq!(path(images, files), Some(("spec.allow[0]".to_owned(), "loopback")));
        assert_eq!(path(images, Rights::ALL), None);
    }

    #[test]
    fn what_a_program_writes_no_other_document_writes() {
        let kubelet = with_spec("ProgramsConfig", &format!("programs: {{kubelet: {{source: /a, sha256: {SUM}}}}}"));
        let file = |path: &str| document("FilesConfig", &format!("spec: {{files: [{{path: {path}, content: x}}]}}"));
        for path in ["/opt/bin/kubelet", "/etc/systemd/system/kubelet.service"] {
            let expected = format!("spec.programs.kubelet: {path} is also set by document 1, FilesConfig");
            let found = found(&[file(path), kubelet.clone()].concat());
            assert!(found.len() == 1 && found[0].starts_with(&expected[..expected.len() - 13]), "{found:?}");
            let found = self::found(&[kubelet.clone(), file(path)].concat());
            assert!(found.len() == 1 && found[0].starts_with("spec.files[0].path: this file is also set"), "{found:?}");
        }
        let masked = document("ServicesConfig", "spec: {services: [{name: kubelet, masked: true}]}");
        assert_eq!(found(&[kubelet, masked].concat()).len(), 1);
    }
}
