//! Pins: the digest of a root's public key, by which a machine knows its cluster before it has met it.
use crate::certificate::Certificate;
use aws_lc_rs::digest::{SHA256, digest};
use objects::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// SHA-256 of a root's SubjectPublicKeyInfo, written `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pin([u8; 32]);

/// Why a text is no pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPin {
    /// It doesn't have two parts.
    #[error("must be `sha256:` and 64 hexadecimal digits")]
    Shape,
    /// It names another digest.
    #[error("has an unsupported hash algorithm: CA pins start with `sha256:`")]
    OtherDigest,
    /// It isn't as long as a SHA-256, or no hexadecimal number.
    #[error("must have 64 hexadecimal digits after `sha256:`")]
    NotADigest,
}

impl Pin {
    /// The pin of a certificate.
    pub fn of(certificate: &Certificate) -> Self {
        let mut pin = [0; 32];
        pin.copy_from_slice(digest(&SHA256, &certificate.public_key_info).as_ref());
        Self(pin)
    }

    /// The certificates whose keys are pinned.
    pub fn matching(pins: &[Self], certificates: &[Certificate]) -> Vec<Certificate> {
        certificates.iter().filter(|certificate| pins.contains(&Self::of(certificate))).cloned().collect()
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(&self.0))
    }
}

impl FromStr for Pin {
    type Err = NoPin;

    fn from_str(text: &str) -> Result<Self, NoPin> {
        let parts: Vec<_> = text.split(':').collect();
        let [name, digits] = parts[..] else { return Err(NoPin::Shape) };
        if !name.eq_ignore_ascii_case("sha256") {
            return Err(NoPin::OtherDigest);
        }
        hex::decode(digits).map(Self).ok_or(NoPin::NotADigest)
    }
}

impl Serialize for Pin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_read_in_any_case_and_written_in_one() {
        let hex = "345959acb2c3b2feb87d281961c893f62a314207ef02599f1cc4a5fb255480b3";
        let pin: Pin = format!("SHA256:{}", hex.to_uppercase()).parse().unwrap();
        assert_eq!(pin.to_string(), format!("sha256:{hex}"));
        assert_eq!(format!("md5:{hex}").parse::<Pin>(), Err(NoPin::OtherDigest));
        assert_eq!(format!("sha256:{hex}:").parse::<Pin>(), Err(NoPin::Shape));
        assert_eq!(format!("sha256:{}é", &hex[1..]).parse::<Pin>(), Err(NoPin::NotADigest));
    }
}
