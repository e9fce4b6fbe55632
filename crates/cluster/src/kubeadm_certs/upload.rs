//! Upload: a checked set of files becomes the Secret kubeadm-certs, which the cluster deletes in time.
//!
//! The order of the writes is what makes it safe to interrupt, and to run twice at once:
//!
//! 1. The Role and its binding.
//! 2. The TTL token. One that owns nothing, as an interrupted upload leaves it, is taken before one is created; that
//!    changes it.
//! 3. The Secret with that owner, created or replaced only if it is still as it was before step 2.
//! 4. The TTL tokens that were there before step 3 and own nothing now are deleted, if they are still as they were:
//!    another upload that takes one changes it first, and one that has created its own fails at step 3.
use super::{CleanupWait, Entropy, drawn, path};
use crate::{ApiServer, Error, Result, api_server::Wiped};
use certs::{
    CertificateKey, CertificateSet, FileName, FileSet, Found, KubeadmCerts, Owner, Problem, SetEncryption, Ttl,
    access::access_objects,
    canary::Cleanup,
    check_upload,
    entry::EncryptError,
    secret_object::{self, NotKubeadmCerts},
    ttl_token::{ClockSkew, orphans},
};
use discovery::{BootstrapToken, Moment, TokenSettings};
use jiff::Timestamp;
use objects::Secret;
use std::{collections::BTreeMap, io, time::Duration};

/// How often others may come between looking and writing.
const TIMES: usize = 10;

/// What is uploaded, and how.
pub struct Upload<'a> {
    /// The files of the set.
    pub files: &'a FileSet,
    /// What this node has of them.
    pub found: BTreeMap<FileName, Found>,
    /// What encrypts them.
    pub key: &'a CertificateKey,
    /// What to do where nothing would ever delete the Secret.
    pub missing_cleanup: MissingCleanup,
    /// How long the cluster may take to delete a canary.
    pub patience: Duration,
    /// The system's generator.
    pub entropy: Entropy<'a>,
    /// Told while the canary is watched.
    pub waiting: &'a mut dyn FnMut(CleanupWait),
}

/// What to do where the token cleaner or the garbage collector does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingCleanup {
    /// Upload nothing.
    Refused,
    /// Upload all the same.
    Accepted,
}

/// What came of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploaded {
    /// The token that owns the Secret.
    pub owner: Owner,
    /// How long it lives, and why not longer.
    pub ttl: Ttl,
    /// When it ends, and the Secret with it.
    pub expires: Moment,
    /// Whether there was a Secret before.
    pub replaced: bool,
    /// What the canary showed.
    pub cleanup: Cleanup,
    /// How far this machine's clock is from the API server's, if that is far.
    pub skew: Option<ClockSkew>,
    /// The names of the entries.
    pub entries: Vec<String>,
}

/// Why nothing was uploaded.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The files cannot be uploaded; every problem of every file.
    #[error("the certificates cannot be uploaded")]
    Files(Vec<Problem>),
    /// Nothing would ever delete the Secret.
    #[error("the cluster would never delete the certificates")]
    NoCleanup(Cleanup),
    /// The Secret in the cluster cannot be replaced.
    #[error("the Secret kube-system/kubeadm-certs in the cluster cannot be replaced: {0}")]
    NotReplaceable(NotKubeadmCerts),
    /// Other uploads came between again and again.
    #[error("other clients changed the Secret kube-system/kubeadm-certs or its token during each of {TIMES} attempts")]
    Contended,
    /// The set was not encrypted.
    #[error(transparent)]
    Encrypt(EncryptError),
    /// The system gave no random bytes.
    #[error("cannot get random bytes from the system")]
    Entropy(#[source] io::Error),
    /// The API server did not do what was asked.
    #[error(transparent)]
    Cluster(#[from] Error),
}

impl ApiServer {
    /// Checks a set, sees that the cluster would delete it in time, encrypts it and stores it.
    pub fn upload_certs(&self, mut upload: Upload<'_>) -> Result<Uploaded, UploadError> {
        // The first answer also tells the server's time, which decides on validity.
        self.secret(&path())?;
        let now = self.time()?;
        let skew = ClockSkew::between(Timestamp::now(), now);
        let found = std::mem::take(&mut upload.found);
        let set = check_upload(upload.files, found, now).map_err(UploadError::Files)?;
        let cleanup = self.watch_cleanup(upload.entropy, upload.patience, upload.waiting)?;
        if cleanup != Cleanup::Works && upload.missing_cleanup == MissingCleanup::Refused {
            return Err(UploadError::NoCleanup(cleanup));
        }
        self.ensure_access()?;
        let copy = Copy { server: self, set: &set, key: upload.key, entropy: upload.entropy };
        for _ in 0..TIMES {
            if let Some(Stored { owner, ttl, expires, replaced, entries }) = copy.attempt()? {
                return Ok(Uploaded { owner, ttl, expires, replaced, cleanup, skew, entries });
            }
        }
        Err(UploadError::Contended)
    }

    fn ensure_access(&self) -> Result<()> {
        for object in access_objects() {
            let value = serde_json::to_value(&object).map_err(|_| self.strange("an object of ours is no JSON"))?;
            self.ensure(&object.collection(), &Wiped(value).0, crate::Effect::Real)?;
        }
        Ok(())
    }
}

/// A checked set on its way into a cluster.
struct Copy<'a> {
    server: &'a ApiServer,
    set: &'a CertificateSet,
    key: &'a CertificateKey,
    entropy: Entropy<'a>,
}

/// The token of an attempt.
enum TtlToken {
    /// It was created for it.
    Created(Secret),
    /// It was there, and owned nothing.
    Taken(Secret),
}

impl TtlToken {
    const fn secret(&self) -> &Secret {
        match self {
            Self::Created(secret) | Self::Taken(secret) => secret,
        }
    }
}

/// What an attempt has stored.
struct Stored {
    owner: Owner,
    ttl: Ttl,
    expires: Moment,
    replaced: bool,
    entries: Vec<String>,
}

impl Copy<'_> {
    /// One look and one write; `None` when somebody else came between.
    fn attempt(&self) -> Result<Option<Stored>, UploadError> {
        let before = self.server.secret(&path())?;
        let certs = before.as_ref().map(KubeadmCerts::read).transpose().map_err(UploadError::NotReplaceable)?;
        let tokens = self.server.tokens()?;
        let orphans = orphans(&tokens, certs.as_ref());
        let ttl = Ttl::new(&tokens, self.server.time()?);
        let token = self.ttl_token(&ttl, &orphans)?;
        let owner = Owner::of(token.secret()).ok_or_else(|| self.server.strange("a token without a UID"))?;
        let written = self.written(&owner, before.as_ref()).map_err(|error| self.not_written(error, &token));
        // A token that owns nothing now is taken by the next attempt.
        let Some(entries) = written? else { return Ok(None) };
        // Whoever deletes a token by hand deletes the Secret too.
        let live = match self.server.token_of(&owner) {
            Ok(Some(live)) => live,
            Ok(None) => return Ok(None),
            // The certificates are uploaded: a failure now would lose a generated key.
            Err(_) => token.secret().clone(),
        };
        let expires = TokenSettings::read(&live).ok().and_then(|token| token.expires);
        let expires = expires.ok_or_else(|| self.server.strange("a TTL token without an expiration"))?;
        let previous = certs.and_then(|certs| certs.owner());
        let owned_before = tokens.iter().filter(|token| Owner::of(token) == previous && previous.is_some());
        for token in orphans.into_iter().chain(owned_before).filter(|token| Owner::of(token).as_ref() != Some(&owner)) {
            // The next upload deletes what stays.
            let _ = self.server.delete_as_read(token);
        }
        Ok(Some(Stored { owner, ttl, expires, replaced: before.is_some(), entries }))
    }

    /// A TTL token that owns nothing yet, as the server has stored it.
    fn ttl_token(&self, ttl: &Ttl, orphans: &[&Secret]) -> Result<TtlToken, UploadError> {
        let now = self.server.time()?;
        for orphan in orphans {
            let Some(taken) = ttl.taken(orphan, now) else { continue };
            if let Some(stored) = self.server.replace_secret(&super::secret_path(&orphan.metadata.name), &taken)? {
                return Ok(TtlToken::Taken(stored));
            }
        }
        for _ in 0..TIMES {
            let token = drawn(self.entropy, |entropy| BootstrapToken::generate(entropy));
            let wanted = ttl.token(token.map_err(UploadError::Entropy)?, now).secret();
            if let Some(stored) = self.server.create_secret(&wanted)? {
                return Ok(TtlToken::Created(stored));
            }
        }
        Err(UploadError::Contended)
    }

    /// Writes the Secret; its entries, or `None` when it is not as it was before.
    fn written(&self, owner: &Owner, before: Option<&Secret>) -> Result<Option<Vec<String>>, UploadError> {
        let secret = drawn(self.entropy, |entropy| {
            secret_object::secret(self.set, SetEncryption::new(self.key, entropy), owner)
        });
        let mut secret = secret.map_err(UploadError::Entropy)?.map_err(UploadError::Encrypt)?;
        let stored = match before {
            None => self.server.create_secret(&secret)?,
            Some(before) => {
                secret.metadata.resource_version = before.metadata.resource_version.clone();
                self.server.replace_secret(&path(), &secret)?
            }
        };
        Ok(stored.map(|stored| stored.data.keys().cloned().collect()))
    }

    /// Deletes the token that was created for a Secret, unless the Secret may have been written, or another upload has
    /// taken the token meanwhile. The next upload takes what stays.
    fn not_written(&self, error: UploadError, token: &TtlToken) -> UploadError {
        let owned = self.server.secret(&path()).map(|live| live.and_then(|live| Owner::named_by(&live.metadata)));
        if let (TtlToken::Created(token), Ok(owner)) = (token, owned)
            && owner != Owner::of(token)
        {
            // Why the Secret was not written is worth more.
            let _ = self.server.delete_as_read(token);
        }
        error
    }
}
