//! An entry of the Secret: nonce (12 bytes), AES-256-GCM ciphertext, tag (16 bytes), without associated data.
use crate::key::CertificateKey;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use objects::Bytes;
use secret::Secret;
use std::collections::BTreeSet;
use zeroize::Zeroizing;

/// The bytes of a nonce.
pub const NONCE_BYTES: usize = 12;
/// The bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// Why an entry was not encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncryptError {
    /// Two entries under one nonce would show what they have in common.
    #[error("cannot encrypt: the random number generator returned the same nonce twice")]
    RepeatedNonce,
    /// The library gives no reason.
    #[error("cannot encrypt: the cryptographic library returned an error")]
    Cipher,
}

/// Why an entry was not decrypted. Nothing of it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecryptError {
    /// kubeadm stores this for a file that is missing where it uploads.
    #[error("is empty in the Secret: the file was missing on the node that uploaded it")]
    EmptyValue,
    /// There is not even a whole nonce and tag.
    #[error("has {0} bytes in the Secret, less than the 28 of a nonce and a tag: it was truncated")]
    Short(usize),
    /// The cipher cannot tell these apart.
    #[error("cannot be decrypted: the certificate key is not the one it was encrypted with, or the entry was damaged")]
    WrongKeyOrDamaged,
}

/// Encrypts the entries of one set. It draws the nonces itself, so that no two entries of a set share one.
pub struct SetEncryption<'a, E> {
    key: &'a CertificateKey,
    entropy: E,
    used: BTreeSet<[u8; NONCE_BYTES]>,
}

impl<'a, E: FnMut(&mut [u8])> SetEncryption<'a, E> {
    /// Encryption of a set under this key. `entropy` fills a buffer from the system's generator.
    pub fn new(key: &'a CertificateKey, entropy: E) -> Self {
        Self { key, entropy, used: BTreeSet::new() }
    }

    /// Encrypts one entry.
    pub fn encrypt(&mut self, content: &Secret<Vec<u8>>) -> Result<Bytes, EncryptError> {
        let nonce = self.next_nonce()?;
        let content = content.expose();
        // All at once, since a vector that grows leaves copies behind.
        let mut entry = Zeroizing::new(Vec::with_capacity(NONCE_BYTES + content.len() + TAG_BYTES));
        entry.extend_from_slice(&nonce);
        entry.extend_from_slice(content);
        let tag = cipher(self.key)
            .and_then(|key| {
                let text = &mut entry[NONCE_BYTES..];
                key.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), text).ok()
            })
            .ok_or(EncryptError::Cipher)?;
        entry.extend_from_slice(tag.as_ref());
        Ok(Bytes::from(std::mem::take(&mut *entry)))
    }

    fn next_nonce(&mut self) -> Result<[u8; NONCE_BYTES], EncryptError> {
        let mut nonce = [0; NONCE_BYTES];
        (self.entropy)(&mut nonce);
        if self.used.insert(nonce) { Ok(nonce) } else { Err(EncryptError::RepeatedNonce) }
    }
}

/// Decrypts one entry: all of it or nothing.
pub fn decrypt(key: &CertificateKey, entry: &[u8]) -> Result<Secret<Vec<u8>>, DecryptError> {
    if entry.is_empty() {
        return Err(DecryptError::EmptyValue);
    }
    let (nonce, text) = entry.split_first_chunk::<NONCE_BYTES>().ok_or(DecryptError::Short(entry.len()))?;
    if text.len() < TAG_BYTES {
        return Err(DecryptError::Short(entry.len()));
    }
    let key = cipher(key).ok_or(DecryptError::WrongKeyOrDamaged)?;
    let mut text = Zeroizing::new(text.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = key.open_in_place(nonce, Aad::empty(), &mut text).map_err(|_| DecryptError::WrongKeyOrDamaged)?;
    let length = opened.len();
    text.truncate(length);
    Ok(Secret::new(std::mem::take(&mut *text)))
}

fn cipher(key: &CertificateKey) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, key.expose()).map(LessSafeKey::new).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(byte: u8) -> CertificateKey {
        CertificateKey::generate(|bytes| bytes.fill(byte))
    }

    fn secret(text: &[u8]) -> Secret<Vec<u8>> {
        Secret::new(text.to_vec())
    }

    /// Another nonce each time.
    fn counter() -> impl FnMut(&mut [u8]) {
        let mut next = 0;
        move |bytes| {
            next += 1;
            bytes[0] = next;
        }
    }

    #[test]
    fn a_generator_that_repeats_itself_encrypts_one_entry_and_no_second() {
        let key = key(1);
        let mut constant = SetEncryption::new(&key, |bytes: &mut [u8]| bytes.fill(7));
        assert!(constant.encrypt(&secret(b"a")).is_ok());
        assert_eq!(constant.encrypt(&secret(b"b")), Err(EncryptError::RepeatedNonce));
        let mut changing = SetEncryption::new(&key, counter());
        let [one, two] = [(); 2].map(|()| changing.encrypt(&secret(b"same")).unwrap());
        assert_ne!(one.expose()[NONCE_BYTES..], two.expose()[NONCE_BYTES..]);
    }

    #[test]
    fn an_empty_value_a_short_one_and_another_key_are_told_apart() {
        let own = key(1);
        let entry = SetEncryption::new(&own, counter()).encrypt(&secret(b"")).unwrap();
        assert_eq!(entry.expose().len(), NONCE_BYTES + TAG_BYTES);
        assert_eq!(decrypt(&own, entry.expose()), Ok(secret(b"")));
        assert_eq!(decrypt(&key(2), entry.expose()), Err(DecryptError::WrongKeyOrDamaged));
        assert_eq!(decrypt(&own, b""), Err(DecryptError::EmptyValue));
        for length in 1..NONCE_BYTES + TAG_BYTES {
            assert_eq!(decrypt(&own, &entry.expose()[..length]), Err(DecryptError::Short(length)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]
        #[test]
        fn an_entry_is_read_back_and_any_flipped_bit_is_refused(
            content in proptest::collection::vec(any::<u8>(), 0..300), flipped: proptest::sample::Index,
        ) {
            let key = key(1);
            let entry = SetEncryption::new(&key, counter()).encrypt(&secret(&content)).unwrap();
            prop_assert_eq!(decrypt(&key, entry.expose()).map(|content| content.expose().clone()), Ok(content));
            let mut damaged = entry.expose().to_vec();
            let bit = flipped.index(8 * damaged.len());
            damaged[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(decrypt(&key, &damaged), Err(DecryptError::WrongKeyOrDamaged));
        }
    }
}
