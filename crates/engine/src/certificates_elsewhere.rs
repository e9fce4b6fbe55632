//! Certificates outside kubeadm's own directory. A certificates directory elsewhere may be an operator's, with other files in
//! it. `kubeadm reset` would delete everything there, so it is not told of the directory: only what kubeadm and the
//! certificates copy have written goes.
use crate::{
    EtcdAccess,
    before_kubeadm::BeforeKubeadm,
    certificate_files,
    etcd_access::{self, CERTIFICATES},
};
use certs::FileSet;
use host::{Change, Host, Inspect, PathState};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What kubeadm and the certificates copy write below such a directory.
const WRITTEN: [&str; 22] = [
    "apiserver-etcd-client.crt",
    "apiserver-etcd-client.key",
    "apiserver-kubelet-client.crt",
    "apiserver-kubelet-client.key",
    "apiserver.crt",
    "apiserver.key",
    "ca.crt",
    "ca.key",
    "etcd/ca.crt",
    "etcd/ca.key",
    "etcd/healthcheck-client.crt",
    "etcd/healthcheck-client.key",
    "etcd/peer.crt",
    "etcd/peer.key",
    "etcd/server.crt",
    "etcd/server.key",
    "front-proxy-ca.crt",
    "front-proxy-ca.key",
    "front-proxy-client.crt",
    "front-proxy-client.key",
    "sa.key",
    "sa.pub",
];

/// Where certificates are written outside kubeadm's own directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CertificatesElsewhere {
    /// Certificates directories, in the order of their use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) directories: Vec<String>,
    /// Files of the certificates copy that have another path: those of external etcd.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
}

impl CertificatesElsewhere {
    /// For a certificates directory; none is kubeadm's own.
    pub(crate) fn in_directory(directory: Option<&str>) -> Self {
        let plain = directory.map(|path| Path::new(path).components().collect::<PathBuf>());
        let plain = plain.map(|path| path.to_string_lossy().into_owned());
        Self { directories: plain.into_iter().filter(|path| path != CERTIFICATES).collect(), files: Vec::new() }
    }

    /// For a certificates copy.
    pub(crate) fn of_copy(files: &FileSet, directory: &Path) -> Self {
        let mut elsewhere = Self::in_directory(Some(&directory.to_string_lossy()));
        let known: Vec<String> = elsewhere.paths().collect();
        let is_in_own = |path: &String| Path::new(path).starts_with(CERTIFICATES);
        let written = certificate_files::paths(files, directory).into_iter();
        elsewhere.files = written.filter(|path| !is_in_own(path) && !known.contains(path)).collect();
        elsewhere
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.files.is_empty()
    }

    /// All paths where something may be written, those of directories included.
    pub(crate) fn paths(&self) -> impl Iterator<Item = String> {
        let directories = self.directories.iter().flat_map(|directory| directories(directory));
        directories.chain(self.written())
    }

    /// The files that may be written.
    fn written(&self) -> impl Iterator<Item = String> {
        let below = |directory: &String| WRITTEN.map(|name| format!("{directory}/{name}"));
        self.directories.iter().flat_map(below).chain(self.files.iter().cloned())
    }

    /// Adds what another configuration names. Returns whether anything is new.
    pub(crate) fn add(&mut self, other: Self) -> bool {
        let before = self.directories.len() + self.files.len();
        for directory in other.directories {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
        for file in other.files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        self.directories.len() + self.files.len() > before
    }
}

/// The directories of the files of a certificates directory, the inner one first.
fn directories(directory: &str) -> [String; 2] {
    [format!("{directory}/etcd"), directory.to_owned()]
}

/// The certificates directory that has the client certificate of this machine's etcd: the wanted one, else one that kubeadm
/// has written before, under another configuration or without machineadm.
pub fn of_etcd(wanted: &str, host: &dyn Inspect) -> host::Result<String> {
    let recorded = BeforeKubeadm::read(host)?.map(|record| record.elsewhere.directories).unwrap_or_default();
    let others = recorded.into_iter().rev().chain(etcd_access::certificates_directory(host)?);
    for directory in [wanted.to_owned()].into_iter().chain(others).chain([CERTIFICATES.to_owned()]) {
        if EtcdAccess::on(host, &directory)?.is_some() {
            return Ok(directory);
        }
    }
    Ok(wanted.to_owned())
}

/// Deletes what did not exist before kubeadm ran.
pub(crate) fn delete_new(record: &BeforeKubeadm, host: &mut dyn Host) -> host::Result<()> {
    for path in record.elsewhere.written().filter(|path| !record.has(path)) {
        let was = host.state_at(&path)?;
        if matches!(was, PathState::File(_)) {
            host.ensure(&Change::Remove { path, was })?;
        }
    }
    let directories = record.elsewhere.directories.iter().flat_map(|directory| directories(directory));
    for path in directories.filter(|path| !record.has(path)) {
        let was = host.state_at(&path)?;
        if matches!(was, PathState::Directory { entries: 0, .. }) {
            host.ensure(&Change::Remove { path, was })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use certs::{Etcd, ExternalEtcd};

    #[test]
    fn kubeadms_own_directory_is_none_however_it_is_written() {
        for own in [None, Some("/etc/kubernetes/pki"), Some("/etc/kubernetes/pki/"), Some("/etc//kubernetes/./pki")] {
            assert!(CertificatesElsewhere::in_directory(own).is_empty(), "{own:?}");
        }
        assert_eq!(CertificatesElsewhere::in_directory(Some("/srv//pki/")).directories, ["/srv/pki"]);
    }

    #[test]
    fn files_of_external_etcd_are_known_unless_kubeadm_deletes_them() {
        let external = |key: &str| {
            let file = |path: &str| Some(path.into());
            let etcd = ExternalEtcd {
                ca_file: file("/etc/kubernetes/pki/etcd/ca.crt"),
                cert_file: file("/srv/pki/apiserver-etcd-client.crt"),
                key_file: file(key),
            };
            FileSet::new(&Etcd::External(etcd))
        };
        let files =
            |key: &str, directory: &str| CertificatesElsewhere::of_copy(&external(key), Path::new(directory)).files;
        let client = "/srv/pki/apiserver-etcd-client.crt";
        assert_eq!(files("/etc/etcd//client.key", "/etc/kubernetes/pki"), [client, "/etc/etcd/client.key"]);
        assert_eq!(files("/srv/pki/client.key", "/srv/pki"), ["/srv/pki/client.key"]);
    }
}
