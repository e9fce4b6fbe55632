//! Public keys of SSH as a line of `authorized_keys`: type, base64, comment; see sshd(8).
use base64::{Engine, engine::general_purpose::STANDARD};

/// Types that current OpenSSH accepts.
const TYPES: [&str; 7] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// Why a line is not a key; `None` when it is.
pub(super) fn problem(line: &str) -> Option<&'static str> {
    if line.chars().any(char::is_control) || line.len() > 16 << 10 {
        return Some("must be one line of at most 16 KiB");
    }
    let mut words = line.split_whitespace();
    let (Some(key_type), Some(body)) = (words.next(), words.next()) else {
        return Some("must be a type, the key in base64 and an optional comment, such as `ssh-ed25519 AAAA… alice`");
    };
    if !TYPES.contains(&key_type) {
        return Some("must start with the type of a public key, such as `ssh-ed25519`; options are not allowed");
    }
    match STANDARD.decode(body) {
        Ok(bytes) if names(&bytes, key_type) => None,
        _ => Some("is not a public key of its type: its second word is not valid"),
    }
}

/// A key starts with its type, after the type's length in four bytes (RFC 4253, section 6.6), and has more behind it.
fn names(key: &[u8], key_type: &str) -> bool {
    let start = [&(key_type.len() as u32).to_be_bytes(), key_type.as_bytes()].concat();
    key.starts_with(&start) && key.len() >= start.len() + 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key_type: &str, inner: &str) -> String {
        let bytes = [&(inner.len() as u32).to_be_bytes(), inner.as_bytes(), &[7; 36]].concat();
        format!("{key_type} {}", STANDARD.encode(bytes))
    }

    #[test]
    fn a_key_has_its_type_inside_and_may_have_a_comment() {
        let good = key("ssh-ed25519", "ssh-ed25519");
        assert_eq!(problem(&good), None);
        assert_eq!(problem(&format!("{good} alice on her laptop")), None);
    }

    #[test]
    fn anything_else_is_refused() {
        let good = key("ssh-ed25519", "ssh-ed25519");
        for line in [
            String::new(),
            "ssh-ed25519".to_owned(),
            "ssh-ed25519 not-base64".to_owned(),
            key("ssh-ed25519", "ssh-rsa"),
            key("ssh-dss", "ssh-dss"),
            format!("command=\"id\" {good}"),
            format!("{good}\n{good}"),
            good[..30].to_owned(),
        ] {
            assert!(problem(&line).is_some(), "{line}");
        }
    }
}
