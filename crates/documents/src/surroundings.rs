//! What expansion needs of the world: who this machine is, what time it is, and providers that fetch. The traits are
//! declared here and connected in a binary.
use crate::{
    Rights, Secret,
    v1alpha1::{Certificate, Identity, Proxy},
};
use jiff::Timestamp;
use std::{fmt, time::Duration};
use zeroize::Zeroizing;

/// The file name of a plugin that fetches documents, before the provider's name.
pub const REMOTE_PLUGIN: &str = "machineadm-remote-configuration-provider-";
/// The file name of a plugin that fetches passphrases, before the provider's name.
pub const PASSPHRASE_PLUGIN: &str = "machineadm-plugin-encryption-provider-";

/// What expansion needs of the world.
pub struct Surroundings<'a> {
    /// Who this machine is.
    pub identity: Identity,
    /// What time it is.
    pub now: Timestamp,
    /// How long this has been going on, by a clock that nobody sets.
    pub elapsed: &'a dyn Fn() -> Duration,
    /// Who fetches documents, by name.
    pub remote: &'a [(&'a str, &'a dyn RemoteProvider)],
    /// Who fetches passphrases, by name.
    pub passphrase: &'a [(&'a str, &'a dyn PassphraseProvider)],
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("identity", &self.identity).field("now", &self.now).finish_non_exhaustive()
    }
}

/// What a provider is asked for.
#[derive(Debug)]
pub struct Request<'a> {
    /// Where it is.
    pub uri: &'a Secret<String>,
    /// The same as it may be shown.
    pub shown: &'a str,
    /// What may be reached on behalf of whoever asks.
    pub rights: Rights,
    /// What a redirect elsewhere may lead to: that is the word of whoever answers, not of whoever asks.
    pub redirect_rights: Rights,
    /// Who alone may vouch for a server; empty if the document names nobody.
    pub authorities: &'a [Certificate],
    /// Who may vouch for a server beside those that the system trusts, if `authorities` is empty: the certificates of
    /// every TrustBundleConfig that stands before the document.
    pub bundles: &'a [Certificate],
    /// The proxy of the last ProxyConfig that stands before the document.
    pub proxy: Option<&'a Proxy>,
    /// The name by which what is there may be kept on a disk: only what must be sealed has one.
    pub keep_as: Option<&'a str>,
    /// More bytes than this are refused.
    pub limit: usize,
    /// When to give up, retries included.
    pub timeout: Duration,
}

/// Fetches documents. Plugins of others implement it later.
pub trait RemoteProvider {
    /// All bytes, as they are there.
    fn fetch(&self, request: &Request<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError>;
}

/// Fetches passphrases. Plugins of others implement it later.
pub trait PassphraseProvider {
    /// The passphrase, byte by byte.
    fn passphrase(&self, request: &Request<'_>) -> Result<Secret<Vec<u8>>, ProviderError>;
}

/// Why a provider brought nothing: words of our own that hold neither what was fetched nor a URI's secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// What has to change.
    pub fault: Fault,
}

/// What has to change before a provider can bring something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The document: it asks for what is not allowed or can't be.
    Document,
    /// The world around it: a server, the network, a clock.
    World,
}

impl ProviderError {
    /// Something is wrong with what the document asks.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, fault: Fault::Document }
    }

    /// What the document asks could not be had.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self { fault: Fault::World, ..Self::new(message) }
    }

    /// What was fetched may not name this; the local document can allow it.
    pub fn not_allowed(what: &str, right: &str) -> Self {
        Self::new(format!("a fetched document is not allowed to name {what}"))
            .hint(format!("the RemoteConfig that fetches it can allow it: `allow: [{right}]`"))
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
