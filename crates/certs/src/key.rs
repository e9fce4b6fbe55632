//! The certificate key: 32 bytes that encrypt a certificate set, written as 64 hexadecimal digits.
use objects::hex;
use secret::Secret;
use std::{fmt::Write, str::FromStr};
use zeroize::Zeroizing;

/// The bytes of a key, as AES-256 needs them.
pub const KEY_BYTES: usize = 32;
/// The digits of a key.
pub const KEY_DIGITS: usize = 2 * KEY_BYTES;

/// What encrypts the entries of a kubeadm-certs Secret. The cluster never holds it.
#[derive(Clone, Debug)]
pub struct CertificateKey(Secret<[u8; KEY_BYTES]>);

impl CertificateKey {
    /// A new key. `entropy` fills a buffer from the system's generator.
    pub fn generate(entropy: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        entropy(&mut bytes[..]);
        Self(Secret::new(*bytes))
    }

    /// The digits in lower case, for the one place that hands the key to its owner.
    pub fn expose_digits(&self) -> Zeroizing<String> {
        // All at once, since a text that grows leaves copies behind.
        let mut digits = Zeroizing::new(String::with_capacity(KEY_DIGITS));
        for byte in self.0.expose() {
            // Writing into a String cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }

    /// The bytes, for the cipher.
    pub(crate) fn expose(&self) -> &[u8; KEY_BYTES] {
        self.0.expose()
    }
}

/// Why a text is not a certificate key. The text is not quoted: it may hold most of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCertificateKey {
    /// It is shorter or longer.
    #[error("has {0} characters; a certificate key has 64 hexadecimal digits (32 bytes)")]
    Length(usize),
    /// Something in it is not a digit.
    #[error("has characters other than hexadecimal digits; a certificate key has 64 of these digits (32 bytes)")]
    Digits,
}

impl FromStr for CertificateKey {
    type Err = NoCertificateKey;

    /// Reads digits in either case, as kubeadm does. White space around them is not part of a key.
    fn from_str(text: &str) -> Result<Self, NoCertificateKey> {
        let characters = text.chars().count();
        if characters != KEY_DIGITS {
            return Err(NoCertificateKey::Length(characters));
        }
        let bytes = Zeroizing::new(hex::decode(text).ok_or(NoCertificateKey::Digits)?);
        Ok(Self(Secret::new(*bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "E6A2EB8581237AB72A4F494F30285EC12A9694D750B9785706A83BFCBBBD2204";

    #[test]
    fn a_key_is_read_in_either_case_and_shown_in_lower_case() {
        for text in [KEY.to_owned(), KEY.to_lowercase()] {
            let key: CertificateKey = text.parse().unwrap();
            assert_eq!(*key.expose_digits(), KEY.to_lowercase());
        }
    }

    #[test]
    fn a_new_key_is_the_random_bytes_that_it_was_given() {
        let key = CertificateKey::generate(|bytes| bytes.iter_mut().zip(1..).for_each(|(byte, value)| *byte = value));
        assert_eq!(*key.expose_digits(), "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20");
    }

    #[test]
    fn neither_a_key_nor_a_refusal_shows_any_of_it() {
        let key: CertificateKey = KEY.parse().unwrap();
        assert_eq!(format!("{key:?}"), "CertificateKey([secret])");
        let wide = "é".repeat(KEY_DIGITS);
        let cases = [
            (&KEY[1..], NoCertificateKey::Length(63)),
            ("", NoCertificateKey::Length(0)),
            (&wide, NoCertificateKey::Digits),
            (&format!("{}g", &KEY[1..]), NoCertificateKey::Digits),
            (&format!("{KEY}\n"), NoCertificateKey::Length(65)),
        ];
        for (text, reason) in cases {
            let error = text.parse::<CertificateKey>().unwrap_err();
            assert_eq!(error, reason);
            assert!(!error.to_string().to_uppercase().contains(&KEY[1..9]), "{error}");
        }
    }
}
