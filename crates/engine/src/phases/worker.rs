//! What a machine shows of a worker: the credentials of its kubelet, and the files of a join that is not finished.
use crate::{Look, PlanError};
use discovery::certificate::{CaBundle, Certificate};
use documents::Secret;
use host::Inspect;
use jiff::Timestamp;
use objects::{kubernetes_paths, pem, yaml};

/// The kubelet's kubeconfig. The kubelet writes it before it has a certificate.
pub(crate) const KUBELET_KUBECONFIG: &str = kubernetes_paths::KUBELET_KUBECONFIG;
/// The kubeconfig with which the kubelet requests its certificate.
pub(crate) const BOOTSTRAP_KUBECONFIG: &str = kubernetes_paths::BOOTSTRAP_KUBECONFIG;
/// The CA certificates of the cluster, which kubeadm writes.
pub(crate) const CA_CERTIFICATE: &str = kubernetes_paths::CA_CERTIFICATE;
/// The kubelet's certificate and key.
const CLIENT_CERTIFICATE: &str = kubernetes_paths::KUBELET_CLIENT_CERTIFICATE;
/// How the user name of a kubelet starts; the name of its Node follows.
pub(crate) const NODE_USER: &str = "system:node:";

/// What there is of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeTraces {
    /// The journal id of the act that leaves them.
    pub(super) act: &'static str,
    /// Whether there is anything.
    pub(super) are_any: bool,
    /// Whether the machine is a node already.
    pub(super) are_all: bool,
}

/// What is there of a worker.
#[derive(Debug)]
pub(crate) struct Worker {
    kubeconfig: Option<Secret<Vec<u8>>>,
    authorities: Option<CaBundle>,
    has_certificate: bool,
    certified_node: Option<String>,
    has_bootstrap_kubeconfig: bool,
}

impl Worker {
    /// What a look shows.
    pub(crate) fn seen(look: &Look<'_>) -> Result<Self, PlanError> {
        Ok(Self::on(look.host)?)
    }

    /// What a machine has.
    pub(crate) fn on(host: &dyn Inspect) -> host::Result<Self> {
        let kubeconfig = host.file(KUBELET_KUBECONFIG)?.map(|file| file.contents);
        let authorities = kubeconfig.as_ref().and_then(|kubeconfig| authorities(kubeconfig.expose()));
        let certificate = host.file(CLIENT_CERTIFICATE)?;
        let chain = certificate.and_then(|file| pem::certificates(file.contents.expose()).ok()).unwrap_or_default();
        let has_issued = |authorities: &CaBundle| authorities.has_issued(&chain, Timestamp::now().into());
        let has_certificate = authorities.as_ref().is_some_and(has_issued);
        let user = chain.first().and_then(|der| Certificate::read(der)?.common_name());
        let certified_node =
            user.and_then(|user| user.strip_prefix(NODE_USER).filter(|name| is_name(name)).map(str::to_owned));
        let has_bootstrap_kubeconfig = host.exists(BOOTSTRAP_KUBECONFIG)?;
        Ok(Self { kubeconfig, authorities, has_certificate, certified_node, has_bootstrap_kubeconfig })
    }

    /// The kubelet's kubeconfig, if its certificate is there, valid, and issued by the CA of that kubeconfig.
    pub(crate) fn credentials(&self) -> Option<&[u8]> {
        self.kubeconfig.as_ref().filter(|_| self.has_certificate).map(|kubeconfig| kubeconfig.expose().as_slice())
    }

    /// The Node that the kubelet's certificate is for, also if that is no longer valid: no other Node can be this machine's.
    pub(crate) fn certified_node(&self) -> Option<&str> {
        self.certified_node.as_deref()
    }

    /// Whether a join has left anything that kubeadm would refuse.
    pub(crate) const fn has_traces(&self) -> bool {
        self.kubeconfig.is_some() || self.has_bootstrap_kubeconfig
    }

    /// Whether the kubelet could still request a certificate.
    pub(crate) const fn has_bootstrap_kubeconfig(&self) -> bool {
        self.has_bootstrap_kubeconfig
    }

    /// The CA certificates in the kubelet's kubeconfig, by which it knows its cluster.
    pub(crate) const fn authorities(&self) -> Option<&CaBundle> {
        self.authorities.as_ref()
    }
}

/// Whether a Node can have this name: it becomes a part of a path.
fn is_name(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, b'-' | b'.');
    name.bytes().all(fits) && name.bytes().any(|letter| letter.is_ascii_alphanumeric())
}

/// The CA certificates in a kubeconfig that kubeadm or the kubelet has written.
pub(super) fn authorities(kubeconfig: &[u8]) -> Option<CaBundle> {
    let kubeconfig = yaml::value(std::str::from_utf8(kubeconfig).ok()?).ok()?;
    let encoded = kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"].as_str()?;
    let pem = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, encoded).ok()?;
    CaBundle::read(pem).ok()
}
