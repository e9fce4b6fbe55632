//! Keys of the transit engine of Vault and OpenBao.
//!
//! The version of a key is the number in the answer that encrypted, the time at which the engine created that version, and
//! the id of the cluster of servers: a key that was deleted and created again has other versions. The key itself is that
//! cluster, namespace, mount and name: every address of one cluster has the same ids.
//!
//! The cluster stands in the version, so that what was encrypted is still decrypted where another cluster has the key: one
//! that took over from it (disaster recovery), that has a replica, or that the key was restored to.
//!
//! The key id is bound to each ciphertext as associated data. Vault before 1.13 ignores that without an error, and refuses
//! to decrypt the same ciphertext once it is upgraded: such servers are refused before anything is stored.
mod answers;
mod file_token;
mod login;
mod refused_logins;
mod requests;

use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use answers::{KeyDescription, number_of};
use base64::{Engine, prelude::BASE64_STANDARD};
use requests::{Server, is_cluster_id};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

/// The first part of its ids.
const PROVIDER: &str = "vault";
const UNBOUND: &str = "the servers ignore associated_data, as Vault before 1.13 does: once they are upgraded they could not \
    decrypt what they encrypt now. Upgrade them first";

/// Where the key is, and how to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultSettings {
    /// The https URL of the servers.
    pub address: String,
    /// The namespace, where the servers have some.
    pub namespace: Option<String>,
    /// Where the transit engine is mounted.
    pub mount: String,
    /// The name of the key.
    pub key: String,
    /// CA certificates (PEM) for the servers; without, those of the system.
    pub ca_file: Option<PathBuf>,
    /// How to log in.
    pub auth: VaultAuth,
    /// How long one request may take.
    pub timeout: Duration,
}

/// How to log in. Files are read again for each login, so that they can be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultAuth {
    /// A token in a file: it is renewed, and others replace it.
    Token {
        /// The file.
        file: PathBuf,
    },
    /// AppRole: the token is renewed, and replaced by a new login when that fails.
    AppRole {
        /// Where the method is mounted.
        mount: String,
        /// The file with the role id.
        role_id_file: PathBuf,
        /// The file with the secret id.
        secret_id_file: PathBuf,
    },
    /// A TLS client certificate; the token as with AppRole.
    Certificate {
        /// Where the method is mounted.
        mount: String,
        /// The role, where the certificate fits several.
        role: Option<String>,
        /// The certificate (PEM).
        certificate_file: PathBuf,
        /// Its key (PEM).
        key_file: PathBuf,
    },
}

/// One key of a transit engine.
pub struct VaultTransit {
    server: Server,
    /// The id of the cluster, from its last answer.
    cluster: Mutex<Option<String>>,
    /// Whether the servers were seen to bind associated data.
    binds_context: AtomicBool,
}

impl VaultTransit {
    /// The key of these settings; nothing is asked yet.
    pub fn new(settings: VaultSettings) -> Self {
        Self { server: Server::new(settings), cluster: Mutex::default(), binds_context: AtomicBool::default() }
    }

    fn path(&self, verb: &str) -> String {
        let VaultSettings { mount, key, .. } = self.server.settings();
        format!("{mount}/{verb}/{key}")
    }

    fn describe(&self) -> Result<KeyDescription, Failure> {
        KeyDescription::read(&self.server.get(&self.path("keys"))?)
    }

    /// The cluster's id, asked for once unless it is to be asked for again.
    fn cluster(&self, known: Known) -> Result<String, Failure> {
        let last = self.cluster.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Some(id), Known::IsEnough) = (last, known) {
            return Ok(id);
        }
        // Without the lock: calls do not wait for a probe that is not answered.
        let found = self.server.cluster_id()?;
        *self.cluster.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
        Ok(found)
    }

    /// A version of the key in a cluster, from its number and time of creation.
    fn version(&self, cluster: &str, version: &str) -> KeyVersion {
        let VaultSettings { namespace, mount, key, .. } = self.server.settings();
        let parts = [cluster, namespace.as_deref().unwrap_or_default(), mount, key];
        KeyVersion { provider: PROVIDER, key: json!(parts).to_string(), version: format!("{version}@{cluster}") }
    }

    fn open(&self, ciphertext: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let body = json!({"ciphertext": ciphertext, "associated_data": BASE64_STANDARD.encode(context)});
        let mut answer = self.server.post(&self.path("decrypt"), &body)?;
        let plaintext = answer["data"]["plaintext"].as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
        objects::wipe(&mut answer);
        let odd = || Failure::new(FailureKind::Unreachable, "the answer has no plaintext in base64");
        plaintext.map(Zeroizing::new).ok_or_else(odd)
    }

    /// Refuses servers that decrypt under another context than the one that was encrypted with. Asked until it was seen once.
    fn refuse_unbound(&self, ciphertext: &str, context: &[u8]) -> Result<(), Failure> {
        if self.binds_context.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.open(ciphertext, &[context, b"another"].concat()) {
            Ok(_) => Err(Failure::new(FailureKind::DecryptsOnly, UNBOUND)),
            Err(failure) if failure.kind == FailureKind::InvalidRequest => {
                self.binds_context.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }
}

/// A version as annotations have it: `NUMBER@TIME@CLUSTER`.
struct NamedVersion<'a> {
    number: u64,
    /// Number and time.
    version: &'a str,
    cluster: &'a str,
}

impl<'a> NamedVersion<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (version, cluster) = text.rsplit_once('@').filter(|(_, cluster)| is_cluster_id(cluster))?;
        let number = version.split_once('@')?.0.parse().ok()?;
        Some(Self { number, version, cluster })
    }
}

/// Whether the id that an earlier answer had is enough.
#[derive(Clone, Copy)]
enum Known {
    IsEnough,
    AskAgain,
}

impl KeyService for VaultTransit {
    fn current(&self) -> Result<KeyVersion, Failure> {
        let cluster = self.cluster(Known::AskAgain)?;
        let key = self.describe()?;
        Ok(self.version(&cluster, &key.version(key.latest)?))
    }

    fn encrypt(&self, plaintext: &[u8], context: &[u8]) -> Result<Sealed, Failure> {
        let cluster = self.cluster(Known::IsEnough)?;
        let mut body = json!({
            "plaintext": BASE64_STANDARD.encode(plaintext), "associated_data": BASE64_STANDARD.encode(context),
        });
        let answer = self.server.post(&self.path("encrypt"), &body);
        objects::wipe(&mut body);
        let answer = answer?;
        let ciphertext = answer["data"]["ciphertext"].as_str().unwrap_or_default().to_owned();
        let number = number_of(&ciphertext)
            .ok_or_else(|| Failure::new(FailureKind::Unreachable, "the answer has no ciphertext of transit"))?;
        self.refuse_unbound(&ciphertext, context)?;
        // Only the time of this version's creation comes from the second answer.
        let version = self.describe()?.version(number)?;
        Ok(Sealed { ciphertext: ciphertext.into_bytes(), version: self.version(&cluster, &version) })
    }

    fn decrypt(&self, ciphertext: &[u8], version: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let text = std::str::from_utf8(ciphertext).ok();
        let number = text.and_then(number_of);
        let wanted = NamedVersion::read(version).map(|named| named.number);
        let (Some(text), true) = (text, number.is_some() && number == wanted) else {
            return Err(Failure::invalid("the ciphertext is not of the version that its annotations name"));
        };
        self.open(text, context)
    }

    fn named(&self, version: &str) -> Result<KeyVersion, Failure> {
        let named = NamedVersion::read(version);
        let NamedVersion { number, version, cluster } =
            named.ok_or_else(|| Failure::invalid("the annotation is not a version of transit"))?;
        if self.describe()?.version(number)? != version {
            let message =
                format!("version {number} of the key is not the one that encrypted: the key was created again");
            return Err(Failure::new(FailureKind::Missing, message));
        }
        Ok(self.version(cluster, version))
    }
}
