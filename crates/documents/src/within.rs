//! Where expansion stands: the way from a local document down to here, what that way allows, and whether it turns back.
use crate::{
    Rights,
    findings::Quotes,
    v1alpha1::{Certificate, Encrypted, Remote},
};
use std::time::Duration;

/// What surrounds a document that is expanded.
pub(crate) struct Within<'a> {
    around: Option<&'a Within<'a>>,
    came: Came,
    digest: Option<[u8; 32]>,
    /// How many configurations are around it.
    pub(crate) depth: usize,
    /// What it may name.
    pub(crate) rights: Rights,
    /// When to give up what it leads to, if something fetched it.
    pub(crate) end: Option<Duration>,
    /// Whether something around it was sealed.
    sealed: bool,
}

/// How the innermost configuration came here.
enum Came {
    Local,
    Fetched(Box<Remote>),
    Sealed {
        /// Whether nobody else can have sealed it.
        by_us: bool,
    },
}

impl<'a> Within<'a> {
    /// What lies on the machine.
    pub(crate) const fn local() -> Self {
        Self { around: None, came: Came::Local, digest: None, depth: 0, rights: Rights::ALL, end: None, sealed: false }
    }

    /// What a document fetched: it may do only what both allow, while the time of both lasts.
    pub(crate) fn fetched(&'a self, remote: &Remote, digest: [u8; 32], end: Duration) -> Self {
        let came = Came::Fetched(Box::new(remote.clone()));
        Self { came, rights: self.rights.and(remote.rights), end: Some(end), ..self.inner(digest) }
    }

    /// What a document sealed: it may do what its container may.
    pub(crate) fn sealed(&'a self, encrypted: &Encrypted, digest: [u8; 32]) -> Self {
        let came = Came::Sealed { by_us: self.is_sealed_by_us(encrypted) };
        Self { came, sealed: true, ..self.inner(digest) }
    }

    const fn inner(&'a self, digest: [u8; 32]) -> Self {
        Self {
            around: Some(self),
            came: Came::Local,
            digest: Some(digest),
            depth: self.depth + 1,
            rights: self.rights,
            end: self.end,
            sealed: self.sealed,
        }
    }

    /// Whether only sealed documents are taken here.
    pub(crate) fn requires_encryption(&self) -> bool {
        matches!(&self.came, Came::Fetched(remote) if remote.requires_encryption)
    }

    /// Whether this was sealed itself, so that it may begin with a ScopeConfig.
    pub(crate) const fn is_sealed(&self) -> bool {
        matches!(self.came, Came::Sealed { .. })
    }

    /// Whether nobody but us can have written this: it lies here, or was sealed with what only we have.
    pub(crate) const fn is_ours(&self) -> bool {
        matches!(self.came, Came::Local | Came::Sealed { by_us: true })
    }

    /// Whether words from here may be quoted.
    pub(crate) const fn quotes(&self) -> Quotes {
        if self.sealed { Quotes::Nothing } else { Quotes::Words }
    }

    /// Whether the way here has fetched from this place already.
    pub(crate) fn has_fetched(&self, remote: &Remote) -> bool {
        self.way().any(|within| {
            matches!(&within.came, Came::Fetched(earlier) if earlier.provider == remote.provider && earlier.uri == remote.uri)
        })
    }

    /// Whether the way here holds these very bytes already.
    pub(crate) fn holds(&self, digest: [u8; 32]) -> bool {
        self.way().any(|within| within.digest == Some(digest))
    }

    /// Why a passphrase may not come from where a document says, or not by whom it says. Whoever owns the storage could
    /// seal commands of their own and name a passphrase of their own.
    pub(crate) fn passphrase_refusal(&self, encrypted: &Encrypted) -> Option<(&'static str, &'static str)> {
        const URI: &str = "spec.passphraseURI";
        self.fetching().find_map(|remote| match &remote.passphrase_uris {
            Some(uris) if !uris.contains(&encrypted.passphrase_uri) => {
                Some((URI, "is not in `passphraseURIs` of the RemoteConfig that fetched this document"))
            }
            None if remote.requires_encryption && !is_local(encrypted) => {
                Some((URI, "is not allowed in a fetched document: the RemoteConfig that fetched it has no `passphraseURIs`"))
            }
            None if !remote.requires_encryption => None,
            _ if !is_local(encrypted) && encrypted.authorities.iter().any(|one| !remote.passphrase_authorities.contains(one)) => Some((
                "spec.certificateAuthority",
                "is not allowed in a fetched document: it is not in the `passphraseCertificateAuthority` of the RemoteConfig that \
                 fetched it",
            )),
            _ => None,
        })
    }

    /// Who alone may vouch for the place of a passphrase: whom the document names, or else whom the outermost RemoteConfig
    /// names that fetched it.
    pub(crate) fn passphrase_authorities<'e>(&'e self, encrypted: &'e Encrypted) -> &'e [Certificate] {
        match (encrypted.authorities.as_slice(), self.fetching().last()) {
            ([], Some(remote)) => &remote.passphrase_authorities,
            (named, _) => named,
        }
    }

    /// Whether nobody but us can have sealed a document that stands here.
    fn is_sealed_by_us(&self, encrypted: &Encrypted) -> bool {
        is_local(encrypted)
            || self.fetching().all(|remote| {
                remote.passphrase_uris.as_ref().is_some_and(|uris| uris.contains(&encrypted.passphrase_uri))
            })
    }

    /// The RemoteConfigs that fetched what stands here, up to what lies on the machine or was sealed by us.
    fn fetching(&self) -> impl Iterator<Item = &Remote> {
        self.way()
            .map_while(|within| match &within.came {
                Came::Fetched(remote) => Some(Some(remote.as_ref())),
                Came::Sealed { by_us: false } => Some(None),
                Came::Local | Came::Sealed { by_us: true } => None,
            })
            .flatten()
    }

    /// From here outwards.
    fn way(&self) -> impl Iterator<Item = &Within<'a>> {
        std::iter::successors(Some(self), |within| within.around)
    }
}

/// Whether a passphrase lies on the machine.
fn is_local(encrypted: &Encrypted) -> bool {
    matches!(encrypted.provider.as_str(), "file" | "descriptor")
}
