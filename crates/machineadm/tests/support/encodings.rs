//! The encodings in which a word may be found.
use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};

/// As it is, in hexadecimal, and in base64 at each of the three places where it can begin.
pub(crate) fn encodings(word: &str) -> Vec<String> {
    let hex = objects::hex::encode(word.as_bytes());
    let shifted = (0..3).map(|before| {
        let whole = BASE64_STANDARD_NO_PAD.encode([&vec![0; before], word.as_bytes()].concat());
        // Letters that also depend on what stands before and behind are left out.
        let (from, bits) = ((before * 8).div_ceil(6), (before + word.len()) * 8);
        whole[from..bits / 6].to_owned()
    });
    [word.to_owned(), hex].into_iter().chain(shifted).collect()
}
