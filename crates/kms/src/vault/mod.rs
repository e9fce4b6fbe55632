//! Keys of the transit engine of Vault and OpenBao.
//!
//! The version of a key is the number in the answer that encrypted and the time at which the engine created that version:
//! a key that was deleted and created again has other versions. The key itself is the cluster id of the servers, namespace,
//! mount and name: every address of one cluster has the same ids.
mod answers;
mod login;
mod requests;

use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use answers::{KeyDescription, number_of};
use base64::{Engine, prelude::BASE64_STANDARD};
use requests::Server;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

/// The first part of its ids.
const PROVIDER: &str = "vault";

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
    /// A token in a file, which others renew and replace.
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
}

impl VaultTransit {
    /// The key of these settings; nothing is asked yet.
    pub fn new(settings: VaultSettings) -> Self {
        Self { server: Server::new(settings), cluster: Mutex::default() }
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
        let mut cluster = self.cluster.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(id), Known::IsEnough) = (&*cluster, known) {
            return Ok(id.clone());
        }
        let found = self.server.cluster_id()?;
        *cluster = Some(found.clone());
        Ok(found)
    }

    fn version(&self, cluster: &str, version: String) -> KeyVersion {
        let VaultSettings { namespace, mount, key, .. } = self.server.settings();
        let parts = [cluster, namespace.as_deref().unwrap_or_default(), mount, key];
        KeyVersion { provider: PROVIDER, key: json!(parts).to_string(), version }
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
        Ok(self.version(&cluster, key.version(key.latest)?))
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
        // Only the time of this version's creation comes from the second answer.
        let version = self.describe()?.version(number)?;
        Ok(Sealed { ciphertext: ciphertext.into_bytes(), version: self.version(&cluster, version) })
    }

    fn decrypt(&self, ciphertext: &[u8], version: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let text = std::str::from_utf8(ciphertext).ok();
        let number = text.and_then(number_of);
        let wanted = version.split_once('@').and_then(|(number, _)| number.parse().ok());
        let (Some(text), true) = (text, number.is_some() && number == wanted) else {
            return Err(Failure::invalid("the ciphertext is not of the version that its annotations name"));
        };
        let body = json!({"ciphertext": text, "associated_data": BASE64_STANDARD.encode(context)});
        let mut answer = self.server.post(&self.path("decrypt"), &body)?;
        let encoded = answer["data"]["plaintext"].as_str().unwrap_or_default();
        let plaintext = BASE64_STANDARD.decode(encoded).map(Zeroizing::new);
        objects::wipe(&mut answer);
        plaintext.map_err(|_| Failure::new(FailureKind::Unreachable, "the answer has no plaintext in base64"))
    }

    fn named(&self, version: &str) -> Result<KeyVersion, Failure> {
        let number = version.split_once('@').and_then(|(number, _)| number.parse().ok());
        let number = number.ok_or_else(|| Failure::invalid("the annotation is not a version of transit"))?;
        let found = self.describe()?.version(number)?;
        if found != version {
            let message =
                format!("version {number} of the key is not the one that encrypted: the key was created again");
            return Err(Failure::new(FailureKind::Missing, message));
        }
        Ok(self.version(&self.cluster(Known::IsEnough)?, found))
    }
}
