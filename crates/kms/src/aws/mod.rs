//! Keys of AWS KMS.
//!
//! The version of a key is the id of its key material, which DescribeKey reports as `CurrentKeyMaterialId`. Encrypt does
//! not tell which material it used: what it answers is decrypted once, and the answer to that tells.
//!
//! Some keys have no `CurrentKeyMaterialId` (those in custom and external key stores, and multi-Region keys with imported
//! material). They work under one version, [`UNVERSIONED`], and their rotation is invisible.
mod answers;
mod arn;
mod credentials;
mod metadata;
mod requests;
mod shared_file;
mod signing;
mod web_identity;

pub use arn::KeyArn;
pub use credentials::AwsCredentials;

use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use answers::{Refusal, current_material, is_material};
use base64::{Engine, prelude::BASE64_STANDARD};
use requests::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

/// The first part of its ids.
const PROVIDER: &str = "aws";
/// The version of a key whose key material AWS does not name.
const UNVERSIONED: &str = "unversioned";
/// The name in the encryption context under which the key id is bound to a ciphertext; CloudTrail shows it.
const CONTEXT: &str = "machineadm-kms-key-id";
/// What aws-encryption-provider writes before each ciphertext.
const OTHER_PLUGIN: u8 = b'1';

/// Where the key is, and with what to sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsSettings {
    /// The key.
    pub key: KeyArn,
    /// The region that requests are signed for.
    pub region: String,
    /// The https URL of KMS.
    pub endpoint: String,
    /// CA certificates (PEM) for KMS; without, those of the system.
    pub ca_file: Option<PathBuf>,
    /// An encryption context that is sent with each request, beside ours.
    pub encryption_context: BTreeMap<String, String>,
    /// What requests are signed with.
    pub credentials: AwsCredentials,
    /// How long one request may take.
    pub timeout: Duration,
}

/// One key of AWS KMS.
pub struct AwsKms {
    server: Server,
    /// Whether AWS names the key material of this key, as the last description says.
    naming: Mutex<Option<Naming>>,
}

/// Whether AWS names the key material of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Named,
    Unnamed,
}

impl AwsKms {
    /// The key of these settings; nothing is asked yet.
    pub fn new(settings: AwsSettings) -> Self {
        Self { server: Server::new(settings), naming: Mutex::default() }
    }

    fn version(&self, version: String) -> KeyVersion {
        KeyVersion { provider: PROVIDER, key: self.server.settings().key.identity(), version }
    }

    fn describe(&self) -> Result<Option<String>, Failure> {
        let arn = &self.server.settings().key;
        let answer =
            self.server.call("DescribeKey", &json!({"KeyId": arn.as_str()})).map_err(|refusal| refusal.failure)?;
        let material = current_material(arn, &answer)?;
        let naming = if material.is_some() { Naming::Named } else { Naming::Unnamed };
        *self.naming.lock().unwrap_or_else(PoisonError::into_inner) = Some(naming);
        Ok(material)
    }

    /// As the last description says; asks where there is none yet.
    fn naming(&self) -> Result<Naming, Failure> {
        let known = *self.naming.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some(naming) => Ok(naming),
            None => Ok(if self.describe()?.is_some() { Naming::Named } else { Naming::Unnamed }),
        }
    }

    /// Does an operation with the key. A state that forbids it is told as DescribeKey tells it, with the date of deletion.
    fn call(&self, operation: &str, mut body: Value, context: Option<&[u8]>) -> Result<Value, Failure> {
        let AwsSettings { key, encryption_context, .. } = self.server.settings();
        body["KeyId"] = json!(key.as_str());
        let mut bound = encryption_context.clone();
        if let Some(context) = context {
            let context = std::str::from_utf8(context).map_err(|_| Failure::invalid("the key id is not text"))?;
            bound.insert(CONTEXT.to_owned(), context.to_owned());
        }
        if !bound.is_empty() {
            body["EncryptionContext"] = json!(bound);
        }
        let answer = self.server.call(operation, &body);
        objects::wipe(&mut body);
        answer.map_err(|Refusal { name, failure }| match name.as_str() {
            "KMSInvalidStateException" | "DisabledException" => self.describe().err().unwrap_or(failure),
            _ => failure,
        })
    }

    /// Decrypts; the plaintext, and the id of the key material that decrypted.
    fn open(&self, ciphertext: &[u8], context: Option<&[u8]>) -> Result<(Zeroizing<Vec<u8>>, Option<String>), Failure> {
        let body = json!({"CiphertextBlob": BASE64_STANDARD.encode(ciphertext)});
        let mut answer = self.call("Decrypt", body, context)?;
        let plaintext = answer["Plaintext"].as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
        let material = answer["KeyMaterialId"].as_str().map(str::to_owned);
        objects::wipe(&mut answer);
        let plaintext = plaintext.map(Zeroizing::new).ok_or_else(|| odd("Decrypt", "plaintext in base64"))?;
        Ok((plaintext, material))
    }
}

impl KeyService for AwsKms {
    fn current(&self) -> Result<KeyVersion, Failure> {
        Ok(self.version(self.describe()?.unwrap_or_else(|| UNVERSIONED.to_owned())))
    }

    fn encrypt(&self, plaintext: &[u8], context: &[u8]) -> Result<Sealed, Failure> {
        let naming = self.naming()?;
        let answer = self.call("Encrypt", json!({"Plaintext": BASE64_STANDARD.encode(plaintext)}), Some(context))?;
        let ciphertext = BASE64_STANDARD.decode(answer["CiphertextBlob"].as_str().unwrap_or_default()).ok();
        let ciphertext = ciphertext.filter(|bytes| !bytes.is_empty()).ok_or_else(|| odd("Encrypt", "ciphertext"))?;
        let (opened, material) = self.open(&ciphertext, Some(context))?;
        if *opened != plaintext {
            return Err(Failure::new(FailureKind::DecryptsOnly, "the key does not decrypt what it has encrypted"));
        }
        let version = match (naming, material) {
            (Naming::Unnamed, _) => UNVERSIONED.to_owned(),
            (Naming::Named, Some(id)) if is_material(&id) => id,
            (Naming::Named, _) => return Err(odd("Decrypt", "KeyMaterialId")),
        };
        Ok(Sealed { ciphertext, version: self.version(version) })
    }

    fn decrypt(&self, ciphertext: &[u8], version: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let (plaintext, material) = self.open(ciphertext, Some(context))?;
        if version != UNVERSIONED && material.as_deref() != Some(version) {
            return Err(Failure::invalid("the ciphertext is not of the key material that its annotations name"));
        }
        Ok(plaintext)
    }

    fn named(&self, version: &str) -> Result<KeyVersion, Failure> {
        if version != UNVERSIONED && !is_material(version) {
            return Err(Failure::invalid("the annotation is not the id of key material"));
        }
        Ok(self.version(version.to_owned()))
    }

    fn caution(&self, version: &KeyVersion) -> Option<String> {
        (version.version == UNVERSIONED).then(|| {
            "AWS does not name the key material of this key: its rotation is invisible. Raise epoch after each rotation".to_owned()
        })
    }

    fn decrypt_of_other_plugin(&self, ciphertext: &[u8], id: &str) -> Option<Result<Zeroizing<Vec<u8>>, Failure>> {
        // A replica has the material of the key that this plugin asked.
        let is_ours = KeyArn::parse(id).is_some_and(|of| of.identity() == self.server.settings().key.identity());
        let blob = ciphertext.strip_prefix(&[OTHER_PLUGIN]).filter(|_| is_ours)?;
        Some(self.open(blob, None).map(|(plaintext, _)| plaintext))
    }
}

fn odd(operation: &str, what: &str) -> Failure {
    Failure::new(FailureKind::Unreachable, format!("{operation} answered without {what}"))
}
