//! PEM texts that hold certificates (RFC 7468), and nothing that must not be shared.
use base64::{Engine, engine::general_purpose::STANDARD};

/// Why a PEM text can't be used. Blocks are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PemError {
    #[error("block {0} is a private key: it must not be shared")]
    PrivateKey(usize),
    #[error("block {0} is not a CERTIFICATE")]
    OtherBlock(usize),
    #[error("block {0} has no END line that fits its BEGIN line")]
    Open(usize),
    #[error("block {0} is not valid base64")]
    Base64(usize),
    #[error("block {0} is not one DER certificate")]
    Der(usize),
}

/// The DER of every certificate, and every problem. Text outside of blocks is a comment.
pub(crate) fn certificates(text: &str) -> (Vec<Vec<u8>>, Vec<PemError>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let mut lines = text.lines().map(str::trim);
    let mut number = 0;
    while let Some(line) = lines.next() {
        let Some(label) = label(line, "-----BEGIN ") else { continue };
        number += 1;
        let mut body = String::new();
        let end = lines.by_ref().find(|line| {
            let ends = line.starts_with("-----");
            if !ends {
                body.push_str(line);
            }
            ends
        });
        match block(number, label, &body, end) {
            Ok(der) => found.push(der),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

fn block(number: usize, name: &str, body: &str, end: Option<&str>) -> Result<Vec<u8>, PemError> {
    if name.contains("PRIVATE KEY") {
        return Err(PemError::PrivateKey(number));
    }
    if end.and_then(|line| label(line, "-----END ")) != Some(name) {
        return Err(PemError::Open(number));
    }
    if name != "CERTIFICATE" {
        return Err(PemError::OtherBlock(number));
    }
    let der = STANDARD.decode(body).map_err(|_| PemError::Base64(number))?;
    if is_one_sequence(&der) { Ok(der) } else { Err(PemError::Der(number)) }
}

fn label<'a>(line: &'a str, begin: &str) -> Option<&'a str> {
    line.strip_prefix(begin)?.strip_suffix("-----")
}

/// Whether these bytes are one DER SEQUENCE that ends where they end and begins with another, as a certificate does.
fn is_one_sequence(der: &[u8]) -> bool {
    let Some((0x30, rest)) = der.split_first().map(|(tag, rest)| (*tag, rest)) else { return false };
    let Some((&first, rest)) = rest.split_first() else { return false };
    let contents = match first {
        0..=0x7f => Some((usize::from(first), rest)),
        0x81..=0x84 => {
            let (length, contents) = rest.split_at_checked(usize::from(first & 0x7f)).unwrap_or((&[], &[]));
            Some((length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), contents))
        }
        _ => None,
    };
    contents.is_some_and(|(length, contents)| length == contents.len() && contents.first() == Some(&0x30))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pem(label: &str, der: &[u8]) -> String {
        format!("# a comment\n-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
    }

    #[test]
    fn every_certificate_is_found() {
        let text = pem("CERTIFICATE", &[0x30, 2, 0x30, 0]) + &pem("CERTIFICATE", &[0x30, 0x81, 2, 0x30, 0]);
        assert_eq!(certificates(&text), (vec![vec![0x30, 2, 0x30, 0], vec![0x30, 0x81, 2, 0x30, 0]], vec![]));
    }

    #[test]
    fn a_private_key_is_refused_by_name() {
        for label in ["PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"] {
            assert_eq!(certificates(&pem(label, &[0x30, 0])).1, [PemError::PrivateKey(1)]);
        }
    }

    #[test]
    fn each_bad_block_is_named() {
        let text = pem("CERTIFICATE", &[0x30, 3, 0x30, 0])
            + &pem("X509 CRL", &[0x30, 2, 0x30, 0])
            + "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMAA=\n";
        let expected = [PemError::Der(1), PemError::OtherBlock(2), PemError::Base64(3), PemError::Open(4)];
        assert_eq!(certificates(&text), (vec![], expected.to_vec()));
    }

    #[test]
    fn a_length_that_is_cut_is_no_sequence() {
        assert!(
            ![&[][..], &[0x30], &[0x30, 0x82, 1], &[0x30, 0x80, 0, 0], &[0x31, 0]].into_iter().any(is_one_sequence)
        );
    }
}
