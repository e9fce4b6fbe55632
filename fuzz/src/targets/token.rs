//! A bootstrap token as somebody types it.
use crate::{Seen, Target};
use discovery::{BootstrapToken, TokenId, TokenSecret};

pub(super) const TARGET: Target = Target {
    name: "token",
    inputs: 500_000,
    seeds,
    words: &["abcdef", ".", "0123456789abcdef", "\n", " ", "A", "\u{e4}", "\u{660}"],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    ["abcdef.0123456789abcdef", "abcdef:0123456789abcdef", "ABCDEF.0123456789abcdef", "abcdef", "0123456789abcdef", ""]
        .map(|seed| seed.as_bytes().to_vec())
        .to_vec()
}

/// A text is a token exactly when all of its 23 bytes are as they should be; it is written back to the same text and
/// shows its secret half nowhere.
fn target(input: &[u8]) -> Seen {
    let right = right(input);
    let Ok(text) = std::str::from_utf8(input) else { return Seen::new(("no text", right)) };
    let read = text.parse::<BootstrapToken>();
    assert_eq!(read.is_ok(), right == 23 && input.len() == 23, "a token by one measure alone");
    match &read {
        Ok(token) => {
            assert_eq!(token.expose().as_str(), text);
            assert_eq!((token.id.as_str(), token.secret.expose()), (&text[..6], &text[7..]));
            assert!(!format!("{token:?}").contains(&text[7..]) || text[7..].is_empty(), "the secret half is shown");
        }
        Err(error) => assert!(text.len() < 30 || !error.to_string().contains(text), "a refused text is quoted"),
    }
    let halves = (text.parse::<TokenId>().is_ok(), text.parse::<TokenSecret>().is_ok());
    assert!(u8::from(read.is_ok()) + u8::from(halves.0) + u8::from(halves.1) <= 1, "more than one thing at once");
    Seen::new((right, input.len().min(40), halves))
}

/// How many bytes from the beginning are as a token's.
fn right(input: &[u8]) -> usize {
    let fits = |(place, byte): &(usize, &u8)| match place {
        6 => **byte == b'.',
        0..23 => matches!(byte, b'a'..=b'z' | b'0'..=b'9'),
        _ => false,
    };
    input.iter().enumerate().take_while(fits).count()
}
