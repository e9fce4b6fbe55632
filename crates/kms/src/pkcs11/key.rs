//! The backend `pkcs11`: AES-GCM with a key that never leaves its token.
use super::Pkcs11Settings;
use super::failures::{Recovery, TokenError, kind, recovery};
use super::identity::{self, Match, TokenKey};
use super::sessions::{Sessions, TokenSession};
use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use aws_lc_rs::rand;
use cryptoki::context::Function;
use cryptoki::error::{Error, RvError};
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
        let version = identity::version(open, key, self.sessions.settings().identity)?;
        Ok((key.clone(), version))
    }

    /// The keys that may be of a version: those that are; where none is, those of which the token does not tell.
    fn of_version(&self, open: &TokenSession, version: &str) -> Result<(Match, Vec<TokenKey>), TokenError> {
        let (mut named, mut unknown) = (Vec::new(), Vec::new());
        for key in self.keys(open)? {
            match identity::compare(open, &key, version) {
                Ok(Match::Yes) => named.push(key),
                Ok(Match::Unknown) => unknown.push(key),
                Ok(Match::No) => {}
                // What the token refuses for one key, such as one past its end, says nothing of the others.
                Err(error) if recovery(&error) == Recovery::Nothing => unknown.push(key),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(if named.is_empty() { (Match::Unknown, unknown) } else { (Match::Yes, named) })
    }

    /// Decrypts with the key that did so before, or with the one among all that can.
    fn open(&self, open: &TokenSession, sealed: &Ciphertext<'_>) -> Result<Option<Plaintext>, TokenError> {
        if let Some(handle) = self.sessions.found(sealed.version)
            && let Some(plaintext) = sealed.open(open, handle)?
        {
            return Ok(Some(plaintext));
        }
        let mut refusal = None;
        for key in self.of_version(open, sealed.version)?.1 {
            match sealed.open(open, key.handle) {
                Ok(Some(plaintext)) => {
                    self.sessions.note(sealed.version, key.handle);
                    return Ok(Some(plaintext));
                }
                Ok(None) => {}
                // Another key may be the right one.
                Err(error) if recovery(&error) == Recovery::Nothing => refusal = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        refusal.map_or(Ok(None), |error| Err(error.into()))
    }

    /// Why no key decrypts: the data is to blame only if the token still has the key and lets it be used.
    fn undecryptable(&self, version: &str) -> Failure {
        match self.sessions.run(|open| self.of_version(open, version)) {
            Err(failure) => failure,
            Ok((Match::Yes, _)) => damaged(),
            Ok((_, tried)) => {
                let tried = match tried.len() {
                    0 => String::new(),
                    number => format!(", and none of {number} that may be decrypts this data"),
                };
                let message = format!(
                    "no key with {} is known to be of version {}{tried}: put the old key back on the token, with a smaller CKA_ID",
                    self.shown(),
                    objects::printable(version, 80)
                );
                Failure::new(FailureKind::Missing, message)
            }
        }
    }

    fn shown(&self) -> String {
        let settings = self.sessions.settings();
        match (&settings.key_label, &settings.key_id) {
            (Some(label), Some(id)) => format!("the label {label} and the CKA_ID {}", hex::encode(id)),
            (None, Some(id)) => format!("the CKA_ID {}", hex::encode(id)),
            (label, None) => format!("the label {}", label.as_deref().unwrap_or_default()),
        }
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
        let (nonce, sealed) = ciphertext.split_at_checked(NONCE).ok_or_else(damaged)?;
        if sealed.len() <= TAG {
            return Err(damaged());
        }
        let ciphertext = Ciphertext { nonce, sealed, version, context };
        let opened = self.sessions.run(|open| self.open(open, &ciphertext))?;
        opened.ok_or_else(|| self.undecryptable(version))
    }

    /// The id follows from the version alone: the id is authenticated data, so that no key decrypts but the one that
    /// encrypted under this version.
    fn named(&self, version: &str) -> Result<KeyVersion, Failure> {
        if !identity::is_version(version) {
            return Err(Failure::invalid("the annotation is not a version of a PKCS#11 key"));
        }
        Ok(named(version.to_owned()))
    }
}

type Plaintext = Zeroizing<Vec<u8>>;

/// What is to be decrypted.
struct Ciphertext<'a> {
    nonce: &'a [u8],
    sealed: &'a [u8],
    version: &'a str,
    context: &'a [u8],
}

impl Ciphertext<'_> {
    /// Decrypts with this key; nothing if the key or the data is not the right one.
    fn open(&self, open: &TokenSession, key: ObjectHandle) -> Result<Option<Plaintext>, Error> {
        let mut nonce = self.nonce.to_vec();
        let mechanism = Mechanism::AesGcm(GcmParams::new(&mut nonce, self.context, TAG_BITS.into())?);
        match open.session.decrypt(&mechanism, key, self.sealed) {
            Ok(plaintext) => Ok(Some(Zeroizing::new(plaintext))),
            Err(error) if is_about_data(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn damaged() -> Failure {
    Failure::invalid("the ciphertext is damaged, or was not encrypted by the key that it names")
}

/// The material alone names the key: copies on several tokens have the same ids.
fn named(version: String) -> KeyVersion {
    KeyVersion { provider: PROVIDER, key: String::new(), version }
}

/// Whether a failed decryption may be the ciphertext's fault. Modules have no common code for a wrong tag: SoftHSM answers
/// CKR_GENERAL_ERROR, as for a broken device. A device without memory, or one that denies access, does not blame the data.
fn is_about_data(error: &Error) -> bool {
    let Error::Pkcs11(code, Function::Decrypt) = error else { return false };
    let says_what = matches!(kind(error), FailureKind::Throttled | FailureKind::AccessDenied);
    let may_be_tag = matches!(code, RvError::GeneralError | RvError::FunctionFailed);
    may_be_tag || (recovery(error) == Recovery::Nothing && !says_what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_a_wrong_tag_blames_the_data() {
        let blames = |code, function| is_about_data(&Error::Pkcs11(code, function));
        for code in [RvError::EncryptedDataInvalid, RvError::GeneralError, RvError::VendorDefined(0x8000_0012)] {
            assert!(blames(code, Function::Decrypt) && !blames(code, Function::DecryptInit), "{code:?}");
        }
        for code in [RvError::DeviceMemory, RvError::ActionProhibited, RvError::SessionClosed, RvError::DeviceRemoved] {
            assert!(!blames(code, Function::Decrypt), "{code:?}");
        }
    }
}
