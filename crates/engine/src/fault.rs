//! What is wrong, where an error alone does not tell it: a sentence is for people, and decides nothing.
use discovery::method::Refusal;
use documents::v1alpha1::PreflightCheck;
use std::fmt;

/// What an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What a preflight check looks at.
    Check(PreflightCheck),
    /// Versions that do not fit together.
    Versions,
    /// The clock of this machine.
    Clock,
    /// A program, its unit or a plugin that is not installed.
    NotInstalled,
    /// A file that a server did not return.
    Download,
    /// A file whose digest is not the one that is required.
    Checksum,
    /// A cluster that no location proves: why each is not trusted.
    Discovery(Vec<Refusal>),
    /// An API server that does not answer.
    ApiServer,
    /// What kubeadm has stored in the cluster.
    ClusterSettings,
    /// Members of etcd.
    Etcd,
    /// The Node of this machine, which the cluster does not have.
    NoNode,
    /// The name of the Node, which another one has.
    NodeName,
    /// The certificates copy, which is not there.
    NoCertificates,
    /// The key of the certificates copy.
    CertificateKey,
    /// Files of certificates.
    Certificates,
    /// The upload of the certificates copy.
    Upload,
}

/// One of several things that are wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is about, where the turn does not tell.
    pub fault: Option<Fault>,
    /// For people, with the next step.
    pub text: String,
}

impl Problem {
    /// One that is about this.
    pub fn of(fault: Fault, text: impl Into<String>) -> Self {
        Self { fault: Some(fault), text: text.into() }
    }

    /// The same for several texts.
    pub(crate) fn each_of(fault: &Fault, texts: impl IntoIterator<Item = String>) -> Vec<Self> {
        texts.into_iter().map(|text| Self::of(fault.clone(), text)).collect()
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self { fault: None, text }
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
