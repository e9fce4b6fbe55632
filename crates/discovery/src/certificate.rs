//! What we need of a certificate: its public key's bytes for a pin, and when it ends. A strict walk over its DER.
use crate::{expiry::rfc3339, moment::Moment};
use rustls_pki_types::{CertificateDer, pem::PemObject};

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `[0]`, which holds the version.
const VERSION: u8 = 0xa0;

/// A certificate of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The whole of it.
    pub der: Vec<u8>,
    /// Its SubjectPublicKeyInfo, the bytes that a pin is taken of.
    pub public_key_info: Vec<u8>,
    /// Its last moment.
    pub not_after: Moment,
}

/// Why there are no certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCertificates {
    /// The text is no PEM.
    #[error("is not PEM")]
    NoPem,
    /// The text has no certificate in it.
    #[error("holds no certificate")]
    Empty,
    /// A block isn't a certificate.
    #[error("holds a block that is no X.509 certificate")]
    NotACertificate,
}

/// All certificates of a PEM bundle.
pub fn bundle(pem: &[u8]) -> Result<Vec<Certificate>, NoCertificates> {
    let mut certificates = Vec::new();
    for der in CertificateDer::pem_slice_iter(pem) {
        let der = der.map_err(|_| NoCertificates::NoPem)?;
        certificates.push(Certificate::read(&der).ok_or(NoCertificates::NotACertificate)?);
    }
    if certificates.is_empty() { Err(NoCertificates::Empty) } else { Ok(certificates) }
}

impl Certificate {
    /// Reads one certificate.
    pub fn read(der: &[u8]) -> Option<Self> {
        let mut outside = Der(der);
        let mut certificate = Der(outside.take(SEQUENCE)?.value);
        let mut signed = Der(certificate.take(SEQUENCE)?.value);
        certificate.take(SEQUENCE)?;
        certificate.take(BIT_STRING)?;
        signed.take(VERSION);
        signed.take(INTEGER)?;
        let _algorithm_and_issuer = (signed.take(SEQUENCE)?, signed.take(SEQUENCE)?);
        let mut validity = Der(signed.take(SEQUENCE)?.value);
        let _subject = signed.take(SEQUENCE)?;
        let public_key_info = signed.take(SEQUENCE)?.whole.to_vec();
        let (_not_before, not_after) = (validity.time()?, validity.time()?);
        let is_whole = outside.0.is_empty() && certificate.0.is_empty() && validity.0.is_empty();
        is_whole.then(|| Self { der: der.to_vec(), public_key_info, not_after })
    }

    /// The certificate as PEM.
    pub fn pem(&self) -> String {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let text = STANDARD.encode(&self.der);
        let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
        let body: String = lines.map(|line| format!("{line}\n")).collect();
        format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n")
    }
}

/// Several certificates as one text of PEM.
pub(crate) fn pem(certificates: &[&Certificate]) -> Vec<u8> {
    certificates.iter().map(|certificate| certificate.pem()).collect::<String>().into_bytes()
}

/// What is still to be read.
struct Der<'a>(&'a [u8]);

/// One element: all of it, and what is inside.
struct Element<'a> {
    whole: &'a [u8],
    value: &'a [u8],
}

impl<'a> Der<'a> {
    /// The next element, if it has this tag; otherwise nothing is read.
    fn take(&mut self, tag: u8) -> Option<Element<'a>> {
        let rest = self.0.strip_prefix(&[tag])?;
        let (length, rest) = length(rest)?;
        let value = rest.get(..length)?;
        let (whole, after) = self.0.split_at(self.0.len() - rest.len() + length);
        self.0 = after;
        Some(Element { whole, value })
    }

    /// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`.
    fn time(&mut self) -> Option<Moment> {
        let text = match self.take(UTC_TIME) {
            Some(time) => {
                let text = std::str::from_utf8(time.value).ok()?;
                let century = if text.get(..2)? >= "50" { "19" } else { "20" };
                format!("{century}{text}")
            }
            None => String::from_utf8(self.take(GENERALIZED_TIME)?.value.to_vec()).ok()?,
        };
        let part = |from, to| text.get(from..to);
        let (date, hour) = ((part(0, 4)?, part(4, 6)?, part(6, 8)?), (part(8, 10)?, part(10, 12)?, part(12, 14)?));
        let zone = part(14, text.len())?;
        rfc3339(&format!("{}-{}-{}T{}:{}:{}{zone}", date.0, date.1, date.2, hour.0, hour.1, hour.2))
            .filter(|_| zone == "Z")
    }
}

/// A length in the one way in which DER writes it, and what follows it.
fn length(rest: &[u8]) -> Option<(usize, &[u8])> {
    match rest {
        [short @ ..=0x7f, rest @ ..] => Some((usize::from(*short), rest)),
        [0x81, one @ 0x80..=0xff, rest @ ..] => Some((usize::from(*one), rest)),
        [0x82, one @ 1..=0xff, two, rest @ ..] => Some((usize::from(*one) << 8 | usize::from(*two), rest)),
        [0x83, one @ 1..=0xff, two, three, rest @ ..] => {
            Some((usize::from(*one) << 16 | usize::from(*two) << 8 | usize::from(*three), rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CA: &[u8] = include_bytes!("../tests/vectors/real/pki/ca.crt");

    #[test]
    fn a_real_root_is_read() {
        let roots = bundle(CA).unwrap();
        assert_eq!(roots[0].not_after.to_string(), "2036-11-12T18:48:09Z");
        assert_eq!(roots[0].pem().as_bytes(), CA);
    }

    #[test]
    fn a_bundle_is_read_to_its_end_or_not_at_all() {
        let two = [b"a comment\n", CA, b"\n", CA].concat();
        assert_eq!(bundle(&two).unwrap().len(), 2);
        assert_eq!(bundle(b""), Err(NoCertificates::Empty));
        assert_eq!(bundle(b"x"), Err(NoCertificates::Empty));
        let broken = [CA, b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"].concat();
        assert_eq!(bundle(&broken), Err(NoCertificates::NotACertificate));
        let cut = [CA, b"-----BEGIN CERTIFICATE-----\nAAAA\n"].concat();
        assert_eq!(bundle(&cut), Err(NoCertificates::NoPem));
    }

    #[test]
    fn nothing_may_follow_a_certificate_and_nothing_may_be_missing() {
        let der = &bundle(CA).unwrap()[0].der;
        assert_eq!(Certificate::read(&[der.as_slice(), &[0]].concat()), None);
        for end in 0..der.len() {
            assert_eq!(Certificate::read(&der[..end]), None, "{end}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]
        #[test]
        fn changed_bytes_are_read_or_refused(at: proptest::sample::Index, byte: u8) {
            let mut der = bundle(CA).unwrap().remove(0).der;
            let at = at.index(der.len());
            der[at] = byte;
            let _ = Certificate::read(&der);
        }
    }
}
