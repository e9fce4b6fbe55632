//! Opening what was sealed: PBKDF2-HMAC-SHA512 makes the key, AES-256-GCM opens and proves.
use crate::{
    Secret,
    v1alpha1::{Sealed, TAG},
};
use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    pbkdf2::{self, PBKDF2_HMAC_SHA512},
};
use std::num::NonZeroU32;
use zeroize::Zeroizing;

/// Why something sealed stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecryptError {
    /// There is not even a whole tag.
    #[error("is shorter than its tag of 16 bytes: it was truncated")]
    Truncated,
    /// The cipher can't tell these apart, and must not.
    #[error(
        "cannot be decrypted: the passphrase is not the one it was encrypted with, or the ciphertext was damaged or changed"
    )]
    WrongOrDamaged,
    /// No rounds, no key.
    #[error("no key can be derived without rounds")]
    NoRounds,
}

/// Opens what was sealed. It gives all of it or nothing.
pub fn decrypt(sealed: &Sealed, passphrase: &Secret<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, DecryptError> {
    if sealed.ciphertext.len() < TAG {
        return Err(DecryptError::Truncated);
    }
    let key = key(passphrase, &sealed.salt, sealed.rounds)?;
    let mut bytes = Zeroizing::new(sealed.ciphertext.clone());
    let nonce = Nonce::assume_unique_for_key(sealed.iv);
    let length = key.open_in_place(nonce, Aad::empty(), &mut bytes).map_err(|_| DecryptError::WrongOrDamaged)?.len();
    bytes.truncate(length);
    Ok(bytes)
}

/// The key that a passphrase comes to.
pub(crate) fn key(passphrase: &Secret<Vec<u8>>, salt: &[u8], rounds: u32) -> Result<LessSafeKey, DecryptError> {
    let rounds = NonZeroU32::new(rounds).ok_or(DecryptError::NoRounds)?;
    let mut key = Zeroizing::new([0; 32]);
    pbkdf2::derive(PBKDF2_HMAC_SHA512, rounds, salt, passphrase.expose(), key.as_mut_slice());
    UnboundKey::new(&AES_256_GCM, key.as_slice()).map(LessSafeKey::new).map_err(|_| DecryptError::WrongOrDamaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fresh, seal};

    fn secret(text: &str) -> Secret<Vec<u8>> {
        Secret::new(text.into())
    }

    fn sealed() -> Sealed {
        seal(b"kind: FilesConfig", &secret("correct horse"), 1000, Fresh { salt: [7; 16], iv: [9; 12] }).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_with_its_passphrase() {
        assert_eq!(*decrypt(&sealed(), &secret("correct horse")).unwrap(), b"kind: FilesConfig");
    }

    #[test]
    fn an_empty_text_is_a_tag_alone_and_opens() {
        let fresh = Fresh { salt: [7; 16], iv: [9; 12] };
        let empty = seal(b"", &secret("correct horse"), 1000, fresh).unwrap();
        assert_eq!(empty.ciphertext.len(), TAG);
        assert_eq!(*decrypt(&empty, &secret("correct horse")).unwrap(), b"");
    }

    #[test]
    fn another_passphrase_opens_nothing() {
        assert_eq!(decrypt(&sealed(), &secret("correct horsf")), Err(DecryptError::WrongOrDamaged));
    }

    #[test]
    fn no_flipped_bit_goes_unseen() {
        let whole = sealed();
        let mut altered = Vec::new();
        for bit in 0..whole.ciphertext.len() * 8 {
            let mut one = whole.clone();
            one.ciphertext[bit / 8] ^= 1 << (bit % 8);
            altered.push(one);
        }
        for bit in [0, 5, 95] {
            let mut one = whole.clone();
            one.iv[bit / 8] ^= 1 << (bit % 8);
            altered.push(one);
            let mut one = whole.clone();
            one.salt[bit / 8] ^= 1 << (bit % 8);
            altered.push(one);
        }
        altered.push(Sealed { rounds: 1001, ..whole.clone() });
        for one in altered {
            assert_eq!(decrypt(&one, &secret("correct horse")), Err(DecryptError::WrongOrDamaged));
        }
    }

    #[test]
    fn a_cut_text_is_refused_and_one_without_a_tag_by_name() {
        let mut cut = sealed();
        cut.ciphertext.truncate(cut.ciphertext.len() - 1);
        assert_eq!(decrypt(&cut, &secret("correct horse")), Err(DecryptError::WrongOrDamaged));
        cut.ciphertext.truncate(15);
        assert_eq!(decrypt(&cut, &secret("correct horse")), Err(DecryptError::Truncated));
    }
}
