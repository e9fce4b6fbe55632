//! A SHA-256, as documents give it and programs print it.
use crate::hex;
use std::fmt;

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sha256Sum(pub [u8; 32]);

impl Sha256Sum {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }

    /// Its first digits, enough for a person to tell two of them apart.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..6])
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_read_and_written_with_all_its_digits() {
        let text = "0aff".repeat(16);
        let sum = Sha256Sum::parse(&text.to_uppercase()).expect("64 digits");
        assert_eq!((sum.to_string(), sum.short().as_str()), (text.clone(), "0aff0aff0aff"));
        assert_eq!(Sha256Sum::parse(&text[1..]), None);
    }
}
