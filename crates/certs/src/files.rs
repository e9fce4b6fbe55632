//! The files that a control plane node needs: their entries in the Secret, their paths and their modes.
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// One of the files, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// The cluster's CA certificates; the first one is the one that signs.
    CaCertificate,
    /// The key of the cluster's CA.
    CaKey,
    /// The CA certificates of the front proxy.
    FrontProxyCaCertificate,
    /// The key of the front proxy's CA.
    FrontProxyCaKey,
    /// The public keys that verify tokens of service accounts.
    ServiceAccountPublicKey,
    /// The key that signs tokens of service accounts.
    ServiceAccountKey,
    /// The CA certificates of stacked etcd.
    EtcdCaCertificate,
    /// The key of stacked etcd's CA.
    EtcdCaKey,
    /// The CA certificates of external etcd.
    ExternalEtcdCaCertificate,
    /// The API server's client certificate for external etcd.
    ExternalEtcdCertificate,
    /// The key of that client certificate.
    ExternalEtcdKey,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Certificates of a CA.
    CaCertificates,
    /// A certificate of a client, perhaps with those that lead to its CA.
    Certificate,
    /// A private key.
    PrivateKey,
    /// Public keys.
    PublicKeys,
}

/// What a joining node must not have in common with others stays out: client and server certificates are made there.
const SHARED: [FileName; 6] = [
    FileName::CaCertificate,
    FileName::CaKey,
    FileName::FrontProxyCaCertificate,
    FileName::FrontProxyCaKey,
    FileName::ServiceAccountPublicKey,
    FileName::ServiceAccountKey,
];

impl FileName {
    /// Its entry in the Secret: kubeadm's name for the file, with `-` for `/`.
    pub const fn entry(self) -> &'static str {
        match self {
            Self::CaCertificate => "ca.crt",
            Self::CaKey => "ca.key",
            Self::FrontProxyCaCertificate => "front-proxy-ca.crt",
            Self::FrontProxyCaKey => "front-proxy-ca.key",
            Self::ServiceAccountPublicKey => "sa.pub",
            Self::ServiceAccountKey => "sa.key",
            Self::EtcdCaCertificate => "etcd-ca.crt",
            Self::EtcdCaKey => "etcd-ca.key",
            Self::ExternalEtcdCaCertificate => "external-etcd-ca.crt",
            Self::ExternalEtcdCertificate => "external-etcd.crt",
            Self::ExternalEtcdKey => "external-etcd.key",
        }
    }

    /// What it holds.
    pub const fn content(self) -> Content {
        match self {
            Self::CaCertificate
            | Self::FrontProxyCaCertificate
            | Self::EtcdCaCertificate
            | Self::ExternalEtcdCaCertificate => Content::CaCertificates,
            Self::ExternalEtcdCertificate => Content::Certificate,
            Self::CaKey | Self::FrontProxyCaKey | Self::ServiceAccountKey | Self::EtcdCaKey | Self::ExternalEtcdKey => {
                Content::PrivateKey
            }
            Self::ServiceAccountPublicKey => Content::PublicKeys,
        }
    }

    /// The mode of the file: only its owner reads a private key.
    pub const fn mode(self) -> u32 {
        match self.content() {
            Content::PrivateKey => 0o600,
            Content::CaCertificates | Content::Certificate | Content::PublicKeys => 0o644,
        }
    }

    /// The file with the private key that belongs to this one.
    pub const fn key(self) -> Option<Self> {
        match self {
            Self::CaCertificate => Some(Self::CaKey),
            Self::FrontProxyCaCertificate => Some(Self::FrontProxyCaKey),
            Self::ServiceAccountPublicKey => Some(Self::ServiceAccountKey),
            Self::EtcdCaCertificate => Some(Self::EtcdCaKey),
            Self::ExternalEtcdCertificate => Some(Self::ExternalEtcdKey),
            _ => None,
        }
    }
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// At this path below the certificates directory.
    Below(&'static str),
    /// At this path, which the configuration of external etcd names.
    At(PathBuf),
}

impl Location {
    /// The path, with the cluster's certificates directory.
    pub fn path(&self, certificates_directory: &Path) -> PathBuf {
        match self {
            Self::Below(path) => certificates_directory.join(path),
            Self::At(path) => path.clone(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(path) => f.write_str(path),
            Self::At(path) => f.write_str(&objects::one_line(&path.to_string_lossy())),
        }
    }
}

/// A file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFile {
    /// Which one.
    pub name: FileName,
    /// Where it is.
    pub location: Location,
}

/// Where etcd runs, which decides which files the API server needs for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Etcd {
    /// On the control plane nodes.
    Stacked,
    /// Elsewhere.
    External(ExternalEtcd),
}

/// The files that the configuration of external etcd names (`etcd.external`). Etcd without TLS has none, and etcd that
/// asks for no client certificate has a CA file alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalEtcd {
    /// `caFile`.
    pub ca_file: Option<PathBuf>,
    /// `certFile`.
    pub cert_file: Option<PathBuf>,
    /// `keyFile`.
    pub key_file: Option<PathBuf>,
}

/// All files that a control plane node of a cluster needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSet {
    files: Vec<CertificateFile>,
    unused: Vec<FileName>,
}

impl FileSet {
    /// The files of a cluster with this etcd.
    pub fn new(etcd: &Etcd) -> Self {
        let below = |name| CertificateFile { name, location: Location::Below(path_below(name)) };
        let mut set = Self { files: SHARED.map(below).to_vec(), unused: Vec::new() };
        match etcd {
            Etcd::Stacked => set.files.extend([FileName::EtcdCaCertificate, FileName::EtcdCaKey].map(below)),
            Etcd::External(ExternalEtcd { ca_file, cert_file, key_file }) => {
                set.add(FileName::ExternalEtcdCaCertificate, ca_file.as_deref());
                set.add(FileName::ExternalEtcdCertificate, cert_file.as_deref());
                set.add(FileName::ExternalEtcdKey, key_file.as_deref());
            }
        }
        set
    }

    /// The files. Every one of them is copied, never a part of them.
    pub fn files(&self) -> &[CertificateFile] {
        &self.files
    }

    /// Entries without a file, since external etcd is configured without it. kubeadm refuses a Secret without the entry
    /// and ignores an empty one, so that these are uploaded as empty values.
    pub fn unused(&self) -> &[FileName] {
        &self.unused
    }

    fn add(&mut self, name: FileName, path: Option<&Path>) {
        match path.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => self.files.push(CertificateFile { name, location: Location::At(path.to_owned()) }),
            None => self.unused.push(name),
        }
    }
}

/// Only etcd has a directory of its own.
const fn path_below(name: FileName) -> &'static str {
    match name {
        FileName::EtcdCaCertificate => "etcd/ca.crt",
        FileName::EtcdCaKey => "etcd/ca.key",
        other => other.entry(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(set: &FileSet) -> Vec<(&'static str, String, u32)> {
        let path = |file: &CertificateFile| file.location.path(Path::new("/pki")).display().to_string();
        set.files().iter().map(|file| (file.name.entry(), path(file), file.name.mode())).collect()
    }

    const OF_EVERY_CLUSTER: [(&str, &str, u32); 6] = [
        ("ca.crt", "/pki/ca.crt", 0o644),
        ("ca.key", "/pki/ca.key", 0o600),
        ("front-proxy-ca.crt", "/pki/front-proxy-ca.crt", 0o644),
        ("front-proxy-ca.key", "/pki/front-proxy-ca.key", 0o600),
        ("sa.pub", "/pki/sa.pub", 0o644),
        ("sa.key", "/pki/sa.key", 0o600),
    ];

    fn expected(of_etcd: &[(&'static str, &str, u32)]) -> Vec<(&'static str, String, u32)> {
        let all = OF_EVERY_CLUSTER.iter().chain(of_etcd);
        all.map(|(entry, path, mode)| (*entry, (*path).to_owned(), *mode)).collect()
    }

    #[test]
    fn with_stacked_etcd_there_are_eight_files_and_no_client_certificates() {
        let set = FileSet::new(&Etcd::Stacked);
        let of_etcd = [("etcd-ca.crt", "/pki/etcd/ca.crt", 0o644), ("etcd-ca.key", "/pki/etcd/ca.key", 0o600)];
        assert_eq!(listed(&set), expected(&of_etcd));
        assert_eq!((set.files().len(), set.unused()), (8, &[][..]));
    }

    #[test]
    fn with_external_etcd_its_own_paths_are_used_and_etcds_ca_key_is_not_needed() {
        let [ca_file, cert_file, key_file] = ["/e/ca.pem", "/e/c.pem", "/e/k.pem"].map(|path| Some(path.into()));
        let set = FileSet::new(&Etcd::External(ExternalEtcd { ca_file, cert_file, key_file }));
        let of_etcd = [
            ("external-etcd-ca.crt", "/e/ca.pem", 0o644),
            ("external-etcd.crt", "/e/c.pem", 0o644),
            ("external-etcd.key", "/e/k.pem", 0o600),
        ];
        assert_eq!(listed(&set), expected(&of_etcd));
        assert_eq!(set.unused(), []);
    }

    #[test]
    fn files_that_external_etcd_does_not_use_are_entries_without_a_file() {
        let ca_only = ExternalEtcd { ca_file: Some("/e/ca.pem".into()), key_file: Some("".into()), cert_file: None };
        let set = FileSet::new(&Etcd::External(ca_only));
        assert_eq!(listed(&set), expected(&[("external-etcd-ca.crt", "/e/ca.pem", 0o644)]));
        assert_eq!(set.unused(), [FileName::ExternalEtcdCertificate, FileName::ExternalEtcdKey]);
        assert_eq!(FileSet::new(&Etcd::External(ExternalEtcd::default())).unused().len(), 3);
    }

    #[test]
    fn a_location_of_others_is_shown_without_control_characters() {
        assert_eq!(Location::Below("etcd/ca.crt").to_string(), "etcd/ca.crt");
        assert!(!Location::At("/e/\u{1b}[2J".into()).to_string().contains('\u{1b}'));
    }
}
