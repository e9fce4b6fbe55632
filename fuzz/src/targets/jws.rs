//! The signature of a cluster-info, and the content that it is to sign.
use crate::{Seen, Target};
use aws_lc_rs::hmac::{HMAC_SHA256, Key, verify};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use discovery::{BootstrapToken, jws, token::NoToken};

const TOKEN: &str = "abcdef.0123456789abcdef";

pub(super) const TARGET: Target = Target {
    name: "jws",
    inputs: 100_000,
    seeds,
    words: &[
        ".",
        "..",
        "=",
        "\n",
        // {"alg":"HS256","kid":"abcdef"}, {"alg":"none","kid":"abcdef"}, {"kid":"abcdef","alg":"HS256"}
        "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9",
        "eyJhbGciOiJub25lIiwia2lkIjoiYWJjZGVmIn0",
        "eyJraWQiOiJhYmNkZWYiLCJhbGciOiJIUzI1NiJ9",
        "Y29udGVudA",
    ],
    read: target,
};

fn token(text: &str) -> Result<BootstrapToken, NoToken> {
    text.parse()
}

/// The signature, a line break, the content.
fn seeds() -> Vec<Vec<u8>> {
    let signed = |by: &str, content: &str| token(by).map(|token| jws::sign(&token, content.as_bytes()));
    let all =
        [(TOKEN, "content"), (TOKEN, ""), ("zzzzzz.0123456789abcdef", "content"), ("abcdef.0000000000000000", "x")];
    let right = all.iter().filter_map(|(by, content)| Some(format!("{}\n{content}", signed(by, content).ok()?)));
    let attached = right.clone().map(|text| text.replacen("..", ".Y29udGVudA.", 1));
    right.clone().chain(attached).map(String::into_bytes).collect()
}

/// Nothing but the exact signature is one: by comparison, by the MAC itself, for this token and for this content alone.
fn target(input: &[u8]) -> Seen {
    let split = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (signature, content) = (&input[..split], input.get(split + 1..).unwrap_or_default());
    let Ok(signature) = std::str::from_utf8(signature) else { return Seen::new("no text") };
    let (Ok(token), Ok(other)) = (token(TOKEN), token("abcdef.0123456789abcdeg")) else { panic!("no tokens") };
    let verified = jws::verify(signature, &token, content);
    assert_eq!(verified.is_ok(), signature == jws::sign(&token, content), "another text is taken for the signature");
    if verified.is_ok() {
        assert!(mac_fits(signature, content), "its MAC does not fit");
        assert!(jws::verify(signature, &other, content).is_err(), "another token's as well");
        assert!(jws::verify(signature, &token, &[content, b"x"].concat()).is_err(), "for another content as well");
    }
    Seen::new((verified.map_err(|error| error.to_string()), signature.matches('.').count().min(4), content.is_empty()))
}

/// HS256 as RFC 7515 has it, computed apart from the code that is tested.
fn mac_fits(signature: &str, content: &[u8]) -> bool {
    let Some((header, mac)) = signature.split_once("..") else { return false };
    let signed = format!("{header}.{}", BASE64_URL_SAFE_NO_PAD.encode(content));
    let key = Key::new(HMAC_SHA256, &TOKEN.as_bytes()[7..]);
    let mac = BASE64_URL_SAFE_NO_PAD.decode(mac).unwrap_or_default();
    verify(&key, signed.as_bytes(), &mac).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay;

    #[test]
    fn the_first_seed_is_verified_so_that_the_strict_half_is_reached() {
        let seed = &seeds()[0];
        let split = seed.iter().position(|byte| *byte == b'\n').expect("two lines");
        let signature = std::str::from_utf8(&seed[..split]).expect("text");
        assert!(mac_fits(signature, &seed[split + 1..]) && !mac_fits(signature, b"x"));
        assert!(replay(&TARGET, seed).is_ok());
    }
}
