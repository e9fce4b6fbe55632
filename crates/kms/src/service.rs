//! The interface to one key of one key service.
use crate::{Failure, KeyVersion};
use zeroize::Zeroizing;

/// What a service encrypted, and with which key material: as the answer that encrypted says, never as a second one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// What the service can decrypt.
    pub ciphertext: Vec<u8>,
    /// The key material.
    pub version: KeyVersion,
}

/// One key of one service. Calls block, at most as long as the service's own timeout.
pub trait KeyService: Send + Sync {
    /// The key material that encrypts now.
    fn current(&self) -> Result<KeyVersion, Failure>;

    /// Encrypts with the current key material. `context` is bound to the ciphertext where the service can do that; the
    /// plugin passes the key id that it has reported.
    fn encrypt(&self, plaintext: &[u8], context: &[u8]) -> Result<Sealed, Failure>;

    /// Decrypts with the key material of this version and with no other, whichever version encrypts now.
    fn decrypt(&self, ciphertext: &[u8], version: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure>;

    /// The key material that a version names, for the pin: its id must be the one that a request names.
    fn named(&self, version: &str) -> Result<KeyVersion, Failure>;

    /// What an operator must know of a key that works, such as that its rotation can't be seen.
    fn caution(&self, _version: &KeyVersion) -> Option<String> {
        None
    }

    /// Decrypts what another plugin encrypted with this same key, under this id; `None` if it is not such a ciphertext.
    fn decrypt_of_other_plugin(&self, _ciphertext: &[u8], _id: &str) -> Option<Result<Zeroizing<Vec<u8>>, Failure>> {
        None
    }
}
