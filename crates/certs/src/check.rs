//! Whether a set of files is whole and belongs together: every problem of every file, before anything is copied.
use crate::{
    entry::DecryptError,
    files::{CertificateFile, Content, FileName, FileSet, Location},
    public_key::{NoKey, PublicKey, has_private_key},
};
use discovery::{
    Moment,
    certificate::{CaBundle, Certificate, NoCertificates},
};
use jiff::Timestamp;
use objects::pem;
use secret::Secret;
use std::{collections::BTreeMap, fmt};

/// What was found of a file, on a node or in the Secret.
#[derive(Clone, Debug)]
pub enum Found {
    /// It is not there.
    Missing,
    /// It is there and could not be read, for this reason.
    Unreadable(String),
    /// Its entry could not be decrypted.
    Undecryptable(DecryptError),
    /// Its content.
    Content(Secret<Vec<u8>>),
}

/// A whole set whose files belong together. There is no other way to one than a check.
#[derive(Clone, Debug)]
pub struct CertificateSet {
    files: Vec<(CertificateFile, Secret<Vec<u8>>)>,
    unused: Vec<FileName>,
}

impl CertificateSet {
    /// Every file with its content.
    pub fn files(&self) -> &[(CertificateFile, Secret<Vec<u8>>)] {
        &self.files
    }

    /// Entries without a file ([`FileSet::unused`]).
    pub fn unused(&self) -> &[FileName] {
        &self.unused
    }
}

/// Something that is wrong with a file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: CertificateFile,
    /// What is wrong with it.
    pub fault: Fault,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file.location, self.fault)
    }
}

/// What is wrong with a file. Nothing of its content is quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// It is not there because the CA's key is kept outside of the cluster, where nothing can be copied from.
    #[error(transparent)]
    ExternalCa(ExternalCa),
    /// It could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It could not be decrypted.
    #[error(transparent)]
    Undecryptable(DecryptError),
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// It has no PEM block.
    #[error("is not PEM: it has no BEGIN line")]
    NotPem,
    /// It has PEM blocks that Kubernetes does not see.
    #[error("has a PEM block behind white space, which Kubernetes does not read: remove the indentation")]
    Indented,
    /// It has no key that Kubernetes reads.
    #[error(transparent)]
    Key(NoKey),
    /// It has no certificates.
    #[error(transparent)]
    Certificates(NoCertificates),
    /// Everybody may read the file.
    #[error("has a private key in it, although its mode 0644 lets every user read it")]
    PrivateKeyInside,
    /// It is the certificate of another key, or another public key.
    #[error("does not belong to the private key in {0}")]
    OtherKey(Location),
    /// It may not sign certificates.
    #[error("is not the certificate of a CA: its basic constraints do not allow it to sign certificates")]
    NotACa,
    /// It has ended.
    #[error("expired at {0}")]
    Expired(Moment),
    /// It has not begun.
    #[error("is not valid before {0}")]
    NotYetValid(Moment),
    /// It is not the CA that this machine trusts the cluster by.
    #[error("starts with a CA certificate that is not among the discovered CA certificates of the cluster")]
    NotDiscovered,
}

/// A CA whose key is not on the node, and what a new control plane node needs instead of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExternalCa {
    /// The cluster's.
    #[error(
        "is missing: with an external CA, certificates are not copied. Provide on the new control plane node: the files \
         of this set except ca.key; apiserver.crt, apiserver-kubelet-client.crt and their keys, signed by the CA; and \
         the kubeconfig files admin.conf, controller-manager.conf, scheduler.conf and kubelet.conf with client \
         certificates signed by the CA"
    )]
    Cluster,
    /// The front proxy's.
    #[error(
        "is missing: with an external front proxy CA, certificates are not copied. Provide on the new control plane \
         node: the files of this set except front-proxy-ca.key; and front-proxy-client.crt and its key, signed by the CA"
    )]
    FrontProxy,
}

/// Checks what a node has, before it is uploaded. `now` is the API server's time.
pub fn check_upload(
    files: &FileSet,
    found: BTreeMap<FileName, Found>,
    now: Timestamp,
) -> Result<CertificateSet, Vec<Problem>> {
    let mut check = Check::new(files, &found, now);
    for problem in &mut check.problems {
        if let (Fault::Missing, Some(ca)) = (&problem.fault, external_ca(problem.file.name, &found)) {
            problem.fault = Fault::ExternalCa(ca);
        }
    }
    check.compare();
    check.finish(found)
}

/// Checks what a Secret has, before it is written to a node that found its cluster by these CA certificates. Where it
/// found it by those of the system, which say nothing of the cluster's own, there are none to compare with.
pub fn check_download(
    files: &FileSet,
    found: BTreeMap<FileName, Found>,
    discovered: &CaBundle,
    now: Timestamp,
) -> Result<CertificateSet, Vec<Problem>> {
    let mut check = Check::new(files, &found, now);
    check.compare();
    check.compare_with_discovered(discovered);
    check.finish(found)
}

/// Which CA is an external one, if its key is missing: one whose certificate is there.
fn external_ca(missing: FileName, found: &BTreeMap<FileName, Found>) -> Option<ExternalCa> {
    let (certificate, ca) = match missing {
        FileName::CaKey => (FileName::CaCertificate, ExternalCa::Cluster),
        FileName::FrontProxyCaKey => (FileName::FrontProxyCaCertificate, ExternalCa::FrontProxy),
        _ => return None,
    };
    matches!(found.get(&certificate), Some(Found::Content(_))).then_some(ca)
}

/// A file after it was read.
enum Parsed {
    Certificates(CaBundle),
    PrivateKey(PublicKey),
    PublicKeys(Vec<PublicKey>),
}

/// A check under way.
struct Check<'a> {
    files: &'a FileSet,
    now: Timestamp,
    parsed: BTreeMap<FileName, Parsed>,
    problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    /// Reads each file by itself.
    fn new(files: &'a FileSet, found: &BTreeMap<FileName, Found>, now: Timestamp) -> Self {
        let mut check = Self { files, now, parsed: BTreeMap::new(), problems: Vec::new() };
        for file in files.files() {
            match parsed(file.name, found.get(&file.name).unwrap_or(&Found::Missing)) {
                Ok(parsed) => drop(check.parsed.insert(file.name, parsed)),
                Err(fault) => check.problems.push(Problem { file: file.clone(), fault }),
            }
        }
        check
    }

    /// Compares files with the time and with each other.
    fn compare(&mut self) {
        for file in self.files.files() {
            let faults = self.own_fault(file.name).into_iter().chain(self.other_key(file.name));
            let problems: Vec<_> = faults.map(|fault| Problem { file: file.clone(), fault }).collect();
            self.problems.extend(problems);
        }
    }

    fn own_fault(&self, name: FileName) -> Option<Fault> {
        let Some(Parsed::Certificates(bundle)) = self.parsed.get(&name) else { return None };
        match name {
            // Nothing signs with it, so that any certificate of the bundle may be the one that verifies etcd.
            FileName::ExternalEtcdCaCertificate => {
                let faults = bundle.certificates().iter().map(|certificate| self.ca_fault(certificate));
                // The first fault, unless there is one without.
                faults.min_by_key(Option::is_some).flatten()
            }
            FileName::ExternalEtcdCertificate => self.time_fault(first(bundle)?),
            _ => self.ca_fault(first(bundle)?),
        }
    }

    fn ca_fault(&self, certificate: &Certificate) -> Option<Fault> {
        if certificate.is_ca { self.time_fault(certificate) } else { Some(Fault::NotACa) }
    }

    fn time_fault(&self, certificate: &Certificate) -> Option<Fault> {
        let (now, Certificate { not_before, not_after, .. }) = (Moment::from(self.now), certificate);
        if *not_after < now {
            Some(Fault::Expired(*not_after))
        } else if now < *not_before {
            Some(Fault::NotYetValid(*not_before))
        } else {
            None
        }
    }

    fn other_key(&self, name: FileName) -> Option<Fault> {
        let key = name.key()?;
        let Some(Parsed::PrivateKey(private)) = self.parsed.get(&key) else { return None };
        let belongs = match self.parsed.get(&name)? {
            Parsed::Certificates(bundle) => PublicKey::of_certificate(first(bundle)?) == *private,
            Parsed::PublicKeys(keys) => keys.contains(private),
            Parsed::PrivateKey(_) => return None,
        };
        let location = self.files.files().iter().find(|file| file.name == key)?.location.clone();
        (!belongs).then_some(Fault::OtherKey(location))
    }

    fn compare_with_discovered(&mut self, discovered: &CaBundle) {
        let name = FileName::CaCertificate;
        let Some(Parsed::Certificates(bundle)) = self.parsed.get(&name) else { return };
        let is_known = first(bundle).is_some_and(|own| discovered.certificates().contains(own));
        let file = self.files.files().iter().find(|file| file.name == name);
        if let (false, false, Some(file)) = (discovered.is_empty(), is_known, file) {
            self.problems.push(Problem { file: file.clone(), fault: Fault::NotDiscovered });
        }
    }

    fn finish(self, mut found: BTreeMap<FileName, Found>) -> Result<CertificateSet, Vec<Problem>> {
        let Self { files, mut problems, .. } = self;
        problems.sort_by_key(|problem| problem.file.name);
        let mut content = |file: &CertificateFile| match found.remove(&file.name) {
            Some(Found::Content(content)) => Some((file.clone(), content)),
            _ => None,
        };
        let whole = files.files().iter().map(&mut content).collect::<Option<Vec<_>>>();
        match whole {
            Some(whole) if problems.is_empty() => Ok(CertificateSet { files: whole, unused: files.unused().to_vec() }),
            _ => Err(problems),
        }
    }
}

/// The certificate that signs: kubeadm too takes the first.
fn first(bundle: &CaBundle) -> Option<&Certificate> {
    bundle.certificates().first()
}

fn parsed(name: FileName, found: &Found) -> Result<Parsed, Fault> {
    let content = match found {
        Found::Missing => return Err(Fault::Missing),
        Found::Unreadable(reason) => return Err(Fault::Unreadable(reason.clone())),
        Found::Undecryptable(reason) => return Err(Fault::Undecryptable(*reason)),
        Found::Content(content) => content.expose().as_slice(),
    };
    if content.trim_ascii().is_empty() {
        return Err(Fault::Empty);
    }
    if pem::blocks(content).next().is_none() {
        return Err(Fault::NotPem);
    }
    if pem::has_indented_block(content) {
        return Err(Fault::Indented);
    }
    if name.content() != Content::PrivateKey && has_private_key(content) {
        return Err(Fault::PrivateKeyInside);
    }
    match name.content() {
        Content::PrivateKey => PublicKey::of_private_key(content).map(Parsed::PrivateKey).map_err(Fault::Key),
        Content::PublicKeys => PublicKey::all_in(content).map(Parsed::PublicKeys).map_err(Fault::Key),
        Content::CaCertificates | Content::Certificate => {
            CaBundle::read(content.to_vec()).map(Parsed::Certificates).map_err(Fault::Certificates)
        }
    }
}
