//! A bootstrap token: its public id, its secret half, and how both are made.
use crate::constant_time;
use secret::Secret;
use std::{fmt, str::FromStr};
use zeroize::Zeroizing;

/// Letters of an id.
const ID: usize = 6;
/// Letters of a secret half.
const SECRET: usize = 16;
/// What both halves are made of.
const SYMBOLS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// `id.secret`: whoever holds it can sign a cluster-info or claim to be a node, as its usages say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapToken {
    /// Says which token is meant. It is public.
    pub id: TokenId,
    /// Proves that one holds it.
    pub secret: TokenSecret,
}

impl BootstrapToken {
    /// A new token. `entropy` fills a buffer from the system's generator.
    pub fn generate(mut entropy: impl FnMut(&mut [u8])) -> Self {
        let id = TokenId(letters(ID, &mut entropy).to_string());
        Self { id, secret: TokenSecret(Secret::new(letters(SECRET, &mut entropy).to_string())) }
    }

    /// The whole token, for the one place that hands it to its owner.
    pub fn expose(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{}.{}", self.id, self.secret.expose()))
    }
}

/// Letters, each of them with equal chance: bytes that would favour some are thrown away.
fn letters(count: usize, entropy: &mut impl FnMut(&mut [u8])) -> Zeroizing<String> {
    const FAIR: u8 = (256 / SYMBOLS.len() * SYMBOLS.len()) as u8;
    let mut text = Zeroizing::new(String::with_capacity(count));
    let mut bytes = Zeroizing::new([0; SECRET]);
    while text.len() < count {
        entropy(&mut bytes[..]);
        let fair = bytes.iter().filter(|byte| **byte < FAIR).take(count - text.len());
        text.extend(fair.map(|byte| char::from(SYMBOLS[usize::from(*byte) % SYMBOLS.len()])));
    }
    text
}

/// The text is no token. It isn't quoted: it may hold one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a bootstrap token: 6 lower-case letters or digits, a dot, 16 of them, such as abcdef.0123456789abcdef")]
pub struct NoToken;

impl FromStr for BootstrapToken {
    type Err = NoToken;

    fn from_str(text: &str) -> Result<Self, NoToken> {
        let (id, secret) = text.split_once('.').ok_or(NoToken)?;
        Ok(Self { id: id.parse().map_err(|_| NoToken)?, secret: secret.parse()? })
    }
}

/// The public half of a token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(String);

impl TokenId {
    /// Its letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no id of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a token id: 6 lower-case letters or digits, such as abcdef")]
pub struct NoTokenId;

impl FromStr for TokenId {
    type Err = NoTokenId;

    fn from_str(text: &str) -> Result<Self, NoTokenId> {
        if is_half(text, ID) { Ok(Self(text.to_owned())) } else { Err(NoTokenId) }
    }
}

/// The secret half of a token. Two of them are compared in a time that doesn't tell where they differ.
#[derive(Clone, Debug)]
pub struct TokenSecret(Secret<String>);

impl TokenSecret {
    /// Its letters, for the one place that needs them.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl PartialEq for TokenSecret {
    fn eq(&self, other: &Self) -> bool {
        constant_time::equal(self.expose().as_bytes(), other.expose().as_bytes())
    }
}

impl Eq for TokenSecret {}

impl FromStr for TokenSecret {
    type Err = NoToken;

    fn from_str(text: &str) -> Result<Self, NoToken> {
        if is_half(text, SECRET) { Ok(Self(Secret::new(text.to_owned()))) } else { Err(NoToken) }
    }
}

fn is_half(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A little generator, so that tests repeat themselves.
    fn fake_entropy(mut state: u64) -> impl FnMut(&mut [u8]) {
        move |bytes| {
            for byte in bytes {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (state >> 56) as u8;
            }
        }
    }

    #[test]
    fn no_letter_is_favoured() {
        let mut byte = 0_u8;
        let every_byte_once = &mut |bytes: &mut [u8]| {
            for place in bytes {
                (*place, byte) = (byte, byte.wrapping_add(1));
            }
        };
        let mut seen = BTreeMap::new();
        for letter in letters(252, every_byte_once).chars() {
            *seen.entry(letter).or_insert(0) += 1;
        }
        assert!(seen.len() == 36 && seen.values().all(|times| *times == 7), "{seen:?}");
    }

    #[test]
    fn bytes_that_would_favour_a_letter_are_thrown_away() {
        let mut bytes = [[255; 16], [252; 16], [251; 16], [0; 16]].into_iter().cycle();
        let token = BootstrapToken::generate(|buffer| buffer.copy_from_slice(&bytes.next().unwrap()));
        assert_eq!(*token.expose(), "zzzzzz.0000000000000000");
    }

    #[test]
    fn a_token_shows_its_id_only() {
        let token: BootstrapToken = "abcdef.0123456789abcdef".parse().unwrap();
        let shown = format!("{token:?} {}", "x.y".parse::<BootstrapToken>().unwrap_err());
        assert!(shown.contains("abcdef") && !shown.contains("\"0123456789abcdef"), "{shown}");
        assert_ne!(token, "abcdef.0123456789abcdeg".parse().unwrap());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]
        #[test]
        fn a_generated_token_is_read_back(seed: u64) {
            let token = BootstrapToken::generate(fake_entropy(seed));
            prop_assert_eq!(token.expose().parse(), Ok(token));
        }

        #[test]
        fn text_is_a_token_exactly_when_it_looks_like_one(text in "[a-z0-9]{5,7}[.:]?[a-zA0-9]{15,17}\n?") {
            let halves = text.split_once('.');
            let expected = halves.is_some_and(|(id, secret)| is_half(id, 6) && is_half(secret, 16));
            prop_assert_eq!(text.parse::<BootstrapToken>().is_ok(), expected);
        }
    }
}
