//! Programs to install, as a ProgramsConfig comes to: where they come from, where they go, and what comes with them.
use super::{AddressRight, Certificate, ProgramLocation, ProgramSource, Proxy, ServiceState, UnitSettings, uri};
use crate::{Claim, Claimed, Rights, document::Body, path::item};
use std::time::Duration;

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
    pub(super) const fn field(&self) -> &'static str {
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
