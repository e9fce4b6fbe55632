//! A set of certificate files that belong together, and that no test outlives.
use certs::{Etcd, FileName, FileSet, Found};
use discovery::certificate::CaBundle;
use documents::Secret;
use host::FileState;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use std::{collections::BTreeMap, path::Path};

/// The contents of the eight files of a node with stacked etcd.
pub(crate) struct PemSet(BTreeMap<FileName, String>);

impl PemSet {
    /// A set with keys of its own.
    pub(crate) fn new() -> Self {
        let mut files = BTreeMap::new();
        for (certificate, key) in [
            (FileName::CaCertificate, FileName::CaKey),
            (FileName::FrontProxyCaCertificate, FileName::FrontProxyCaKey),
            (FileName::EtcdCaCertificate, FileName::EtcdCaKey),
        ] {
            let pair = KeyPair::generate().unwrap();
            files.insert(certificate, authority().self_signed(&pair).unwrap().pem());
            files.insert(key, pair.serialize_pem());
        }
        let pair = KeyPair::generate().unwrap();
        files.insert(FileName::ServiceAccountPublicKey, pair.public_key_pem());
        files.insert(FileName::ServiceAccountKey, pair.serialize_pem());
        Self(files)
    }

    /// What an upload or a download finds of it.
    pub(crate) fn found(&self) -> BTreeMap<FileName, Found> {
        let found = |text: &String| Found::Content(Secret::new(text.clone().into_bytes()));
        self.0.iter().map(|(name, text)| (*name, found(text))).collect()
    }

    /// The files as they belong on a node.
    pub(crate) fn on_a_node(&self, directory: &str) -> BTreeMap<String, FileState> {
        let placed = FileSet::new(&Etcd::Stacked);
        let placed = placed.files().iter().map(|file| {
            let path = file.location.path(Path::new(directory)).display().to_string();
            let contents = Secret::new(self.0[&file.name].clone().into_bytes());
            (path, FileState { contents, mode: file.name.mode(), uid: 0, gid: 0 })
        });
        placed.collect()
    }

    /// The CA certificates by which its cluster is discovered.
    pub(crate) fn ca(&self) -> CaBundle {
        CaBundle::read(self.0[&FileName::CaCertificate].clone().into_bytes()).unwrap()
    }

    /// The key of its CA.
    pub(crate) fn ca_key(&self) -> &str {
        &self.0[&FileName::CaKey]
    }

    /// What nobody may show.
    pub(crate) fn private_keys(&self) -> impl Iterator<Item = &str> {
        let keys = [FileName::FrontProxyCaKey, FileName::ServiceAccountKey, FileName::EtcdCaKey];
        std::iter::once(self.ca_key()).chain(keys.into_iter().map(|name| self.0[&name].as_str()))
    }
}

/// What a CA certificate says; its key makes it another one.
pub(crate) fn authority() -> CertificateParams {
    let mut params = CertificateParams::new(vec!["kubernetes".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(3000, 1, 1));
    params
}
