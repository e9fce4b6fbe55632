//! What we need of a certificate: its public key's bytes for a pin, and when it ends.
use crate::moment::Moment;
use objects::pem::{self, CERTIFICATE, PemError};
use x509_cert::der::{Decode, Encode};

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
    /// The text is not valid PEM.
    #[error("is not valid PEM: {0}")]
    Pem(PemError),
    /// The text has no certificate in it.
    #[error("holds no certificate")]
    Empty,
    /// A block isn't a certificate.
    #[error("holds a CERTIFICATE block that is not an X.509 certificate")]
    NotACertificate,
}

/// All certificates of a PEM bundle.
pub fn bundle(text: &[u8]) -> Result<Vec<Certificate>, NoCertificates> {
    let found = pem::certificates(text).map_err(NoCertificates::Pem)?;
    let certificates = found.into_iter().map(|der| Certificate::read(&der).ok_or(NoCertificates::NotACertificate));
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>()?;
    if certificates.is_empty() { Err(NoCertificates::Empty) } else { Ok(certificates) }
}

impl Certificate {
    /// Reads one certificate.
    pub fn read(der: &[u8]) -> Option<Self> {
        let certificate = x509_cert::Certificate::from_der(der).ok()?;
        let signed = certificate.tbs_certificate();
        // DER has one form for each value, so that these are the very bytes that stand in the certificate.
        let public_key_info = signed.subject_public_key_info().to_der().ok()?;
        let not_after = signed.validity().not_after.to_unix_duration().as_secs();
        Some(Self { der: der.to_vec(), public_key_info, not_after: Moment::from_unix(i64::try_from(not_after).ok()?) })
    }

    /// The certificate as PEM.
    pub fn pem(&self) -> String {
        pem::encode(CERTIFICATE, &self.der)
    }
}

/// Several certificates as one text of PEM.
pub(crate) fn pem(certificates: &[&Certificate]) -> Vec<u8> {
    certificates.iter().map(|certificate| certificate.pem()).collect::<String>().into_bytes()
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
        assert_eq!(bundle(&cut), Err(NoCertificates::Pem(PemError::Open(2))));
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
        fn a_changed_certificate_is_refused_or_its_public_key_info_is_the_very_bytes_in_it(
            at: proptest::sample::Index, byte: u8,
        ) {
            let mut der = bundle(CA).unwrap().remove(0).der;
            let at = at.index(der.len());
            der[at] = byte;
            if let Some(read) = Certificate::read(&der) {
                let key = &read.public_key_info;
                prop_assert!(der.windows(key.len()).any(|bytes| bytes == key));
            }
        }
    }
}
