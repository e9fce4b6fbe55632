//! The backend `pkcs11`: AES-GCM with a key that never leaves its token.
use super::Pkcs11Settings;
use super::failures::{Recovery, TokenError, recovery};
use super::identity::{self, TokenKey};
use super::sessions::{Sessions, TokenSession};
use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use aws_lc_rs::rand;
use cryptoki::error::Error;
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::object::ObjectHandle;
use objects::hex;
use std::cmp::Ordering;
use zeroize::Zeroizing;

/// The first part of its ids.
const PROVIDER: &str = "pkcs11";
const NONCE: usize = 12;
/// In bytes, and as PKCS#11 counts it.
const TAG: usize = 16;
const TAG_BITS: u64 = 128;

/// One key of a token: all AES keys with its label, of which the one with the largest CKA_ID encrypts.
#[derive(Debug)]
pub struct Pkcs11Key {
    sessions: Sessions,
}

impl Pkcs11Key {
    /// The key of these settings; nothing is loaded yet.
    pub fn new(settings: Pkcs11Settings) -> Self {
        Self { sessions: Sessions::new(settings) }
    }

    /// The keys of the token as they are now, the one that encrypts first.
    fn keys(&self, open: &TokenSession) -> Result<Vec<TokenKey>, TokenError> {
        Ok(identity::keys(open, self.sessions.settings())?)
    }

    /// The key that encrypts, and its version.
    fn newest(&self, open: &TokenSession) -> Result<(TokenKey, String), TokenError> {
        let keys = self.keys(open)?;
        let missing = |what: String| TokenError::Known(Failure::new(FailureKind::Missing, what));
        let Some(key) = keys.first() else {
            return Err(missing(format!("the token has no AES key with {}: create one", self.shown())));
        };
        if keys.get(1).is_some_and(|next| identity::by_number(&next.id, &key.id) == Ordering::Equal) {
            let id = if key.id.is_empty() { "none".to_owned() } else { hex::encode(&key.id) };
            let message =
                format!("two keys with {} have the same CKA_ID ({id}): give the newer a larger one", self.shown());
            return Err(missing(message));
        }
        let version = identity::version(open, key)?;
        Ok((key.clone(), version))
    }

    /// The key of a version: where it was found before, or among all keys.
    fn find(&self, open: &TokenSession, version: &str) -> Result<ObjectHandle, TokenError> {
        if let Some(handle) = self.sessions.found(version) {
            return Ok(handle);
        }
        for key in self.keys(open)? {
            if identity::version(open, &key)? == version {
                self.sessions.note(version, key.handle);
                return Ok(key.handle);
            }
        }
        let message = format!(
            "no key with {} is of version {}: put the old key back on the token, with a smaller CKA_ID",
            self.shown(),
            objects::printable(version, 80)
        );
        Err(TokenError::Known(Failure::new(FailureKind::Missing, message)))
    }

    fn shown(&self) -> String {
        let settings = self.sessions.settings();
        match (&settings.key_label, &settings.key_id) {
            (Some(label), Some(id)) => format!("the label {label} and the CKA_ID {}", hex::encode(id)),
            (None, Some(id)) => format!("the CKA_ID {}", hex::encode(id)),
            (label, None) => format!("the label {}", label.as_deref().unwrap_or_default()),
        }
    }

    /// Whether the token still has the key and lets it be used, so that what it refused is to blame for a failure.
    fn works(&self, version: &str) -> Result<(), Failure> {
        self.sessions.run(|open| {
            for key in self.keys(open)? {
                if identity::version(open, &key)? == version {
                    return Ok(());
                }
            }
            Err(TokenError::Known(Failure::new(FailureKind::Missing, "the key was removed a moment ago")))
        })
    }
}

impl KeyService for Pkcs11Key {
    fn current(&self) -> Result<KeyVersion, Failure> {
        self.sessions.run(|open| self.newest(open)).map(|(_, version)| named(version))
    }

    fn encrypt(&self, plaintext: &[u8], context: &[u8]) -> Result<Sealed, Failure> {
        let (ciphertext, version) = self.sessions.run(|open| {
            let (key, version) = self.newest(open)?;
            let mut nonce = [0; NONCE];
            let no_random =
                || TokenError::Known(Failure::new(FailureKind::Unreachable, "the system gives no random bytes"));
            rand::fill(&mut nonce).map_err(|_| no_random())?;
            let mechanism = Mechanism::AesGcm(GcmParams::new(&mut nonce, context, TAG_BITS.into())?);
            let sealed = open.session.encrypt(&mechanism, key.handle, plaintext)?;
            // The token may have written its own nonce there.
            Ok(([&nonce[..], &sealed].concat(), version))
        })?;
        Ok(Sealed { ciphertext, version: named(version) })
    }

    fn decrypt(&self, ciphertext: &[u8], version: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let damaged = || Failure::invalid("the ciphertext is damaged, or was not encrypted by the key that it names");
        let (nonce, sealed) = ciphertext.split_at_checked(NONCE).ok_or_else(damaged)?;
        if sealed.len() <= TAG {
            return Err(damaged());
        }
        let opened = self.sessions.run(|open| {
            let handle = self.find(open, version)?;
            let mut nonce = nonce.to_vec();
            let mechanism = Mechanism::AesGcm(GcmParams::new(&mut nonce, context, TAG_BITS.into())?);
            match open.session.decrypt(&mechanism, handle, sealed) {
                Ok(plaintext) => Ok(Some(Zeroizing::new(plaintext))),
                Err(error) if is_about_data(&error) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })?;
        match opened {
            Some(plaintext) => Ok(plaintext),
            None => self.works(version).and_then(|()| Err(damaged())),
        }
    }

    /// The id follows from the version alone, since decryption takes the key of this version and no other.
    fn named(&self, version: &str) -> Result<KeyVersion, Failure> {
        if !identity::is_version(version) {
            return Err(Failure::invalid("the annotation is not a version of a PKCS#11 key"));
        }
        Ok(named(version.to_owned()))
    }
}

/// The material alone names the key: copies on several tokens have the same ids.
fn named(version: String) -> KeyVersion {
    KeyVersion { provider: PROVIDER, key: String::new(), version }
}

/// Whether a failed decryption may be the ciphertext's fault. Modules have no common code for a wrong tag: SoftHSM answers
/// CKR_GENERAL_ERROR, as for a broken device.
fn is_about_data(error: &Error) -> bool {
    use cryptoki::context::Function;
    use cryptoki::error::RvError;
    let Error::Pkcs11(code, Function::Decrypt) = error else { return false };
    matches!(code, RvError::GeneralError | RvError::FunctionFailed) || recovery(error) == Recovery::Nothing
}
