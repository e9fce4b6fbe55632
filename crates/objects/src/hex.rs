//! Bytes as hexadecimal digits, and back: digests, pins and keys.

/// The digits of some bytes, in lower case.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte / 16)], DIGITS[usize::from(byte % 16)]]).collect()
}

/// The bytes of a text that encodes just so many, in upper or lower case.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if !encodes(text, N) {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Whether a text encodes just so many bytes. Unlike [`decode`] it makes no copy of a key.
pub fn encodes(text: &str, bytes: usize) -> bool {
    text.len() == 2 * bytes && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_in_lower_case_and_read_back_in_either() {
        let all: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let text = encode(&all);
        assert_eq!((&text[..8], &text[0xa8 * 2..0xac * 2], &text[508..]), ("00010203", "a8a9aaab", "feff"));
        assert_eq!([decode(&text), decode(&text.to_uppercase())], [Some(all); 2]);
    }

    #[test]
    fn what_is_not_just_so_many_bytes_is_refused() {
        for text in ["", "0", "012", "01234", "0g1h", "+1+2", " 1 2", "é12", "0x12"] {
            assert_eq!((decode::<2>(text), encodes(text, 2)), (None, false), "{text}");
        }
        assert_eq!(decode::<2>("0aB9"), Some([0x0a, 0xb9]));
    }
}
