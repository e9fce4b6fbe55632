//! What we need of a certificate: its public key's bytes for a pin, when it is valid, whether it is a CA's, and who issued
//! it.
use crate::moment::Moment;
use objects::pem::{self, CERTIFICATE, PemError};
use rustls_pki_types::{CertificateDer, UnixTime};
use x509_cert::{
    der::{Decode, Encode},
    ext::pkix::BasicConstraints,
    time::Time,
};

/// A certificate of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The whole of it.
    pub der: Vec<u8>,
    /// Its SubjectPublicKeyInfo, the bytes that a pin is taken of.
    pub public_key_info: Vec<u8>,
    /// Its first moment.
    pub not_before: Moment,
    /// Its last moment.
    pub not_after: Moment,
    /// Whether its basic constraints let it sign other certificates.
    pub is_ca: bool,
}

/// Why there are no certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCertificates {
    /// The text is not valid PEM.
    #[error("is not valid PEM: {0}")]
    Pem(PemError),
    /// The text has no certificate in it.
    #[error("has no certificate")]
    Empty,
    /// A block isn't a certificate.
    #[error("has a CERTIFICATE block that is not an X.509 certificate")]
    NotACertificate,
}

/// CA certificates: the PEM text that was given, and every certificate in it. An empty one means those of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaBundle {
    pem: Vec<u8>,
    certificates: Vec<Certificate>,
}

impl CaBundle {
    /// Reads a PEM text to its end; it must hold at least one certificate.
    pub fn read(pem: Vec<u8>) -> Result<Self, NoCertificates> {
        let certificates = all(&pem::certificates(&pem).map_err(NoCertificates::Pem)?)?;
        Ok(Self { pem, certificates })
    }

    /// Certificates, of which there must be at least one.
    pub fn from_der(ders: &[impl AsRef<[u8]>]) -> Result<Self, NoCertificates> {
        let certificates = all(ders)?;
        let pem: String = certificates.iter().map(Certificate::pem).collect();
        Ok(Self { pem: pem.into_bytes(), certificates })
    }

    /// The text.
    pub fn pem(&self) -> &[u8] {
        &self.pem
    }

    /// The certificates; none means those of the system.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// Whether one of these CA certificates stands behind a client certificate that is valid now. The client's comes
    /// first, with the intermediate ones after it.
    pub fn has_issued(&self, chain: &[impl AsRef<[u8]>], now: Moment) -> bool {
        let ders: Vec<CertificateDer<'_>> = chain.iter().map(|der| CertificateDer::from(der.as_ref())).collect();
        let [client, between @ ..] = ders.as_slice() else { return false };
        let authorities: Vec<_> =
            self.certificates.iter().map(|certificate| CertificateDer::from(certificate.der.as_slice())).collect();
        let anchors: Vec<_> =
            authorities.iter().filter_map(|authority| webpki::anchor_from_trusted_cert(authority).ok()).collect();
        let since = UnixTime::since_unix_epoch(now.since_epoch());
        let usage = webpki::KeyUsage::client_auth();
        webpki::EndEntityCert::try_from(client).is_ok_and(|client| {
            client.verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &anchors, between, since, usage, None, None).is_ok()
        })
    }

    /// Whether it means those of the system.
    pub fn is_empty(&self) -> bool {
        self.certificates.is_empty()
    }
}

fn all(ders: &[impl AsRef<[u8]>]) -> Result<Vec<Certificate>, NoCertificates> {
    let read = ders.iter().map(|der| Certificate::read(der.as_ref()).ok_or(NoCertificates::NotACertificate));
    let certificates: Vec<_> = read.collect::<Result<_, _>>()?;
    if certificates.is_empty() { Err(NoCertificates::Empty) } else { Ok(certificates) }
}

impl Certificate {
    /// Reads one certificate.
    pub fn read(der: &[u8]) -> Option<Self> {
        let certificate = x509_cert::Certificate::from_der(der).ok()?;
        let signed = certificate.tbs_certificate();
        // DER has one form for each value, so that these are the very bytes that stand in the certificate.
        let public_key_info = signed.subject_public_key_info().to_der().ok()?;
        let (not_before, not_after) = (moment(signed.validity().not_before)?, moment(signed.validity().not_after)?);
        let constraints = signed.get_extension::<BasicConstraints>().ok().flatten();
        let is_ca = constraints.is_some_and(|(_, constraints)| constraints.ca);
        Some(Self { der: der.to_vec(), public_key_info, not_before, not_after, is_ca })
    }

    /// The certificate as PEM.
    pub fn pem(&self) -> String {
        pem::encode(CERTIFICATE, &self.der)
    }

    /// The common name of its subject, which is the user name of a client.
    pub fn common_name(&self) -> Option<String> {
        let certificate = x509_cert::Certificate::from_der(&self.der).ok()?;
        let name = certificate.tbs_certificate().subject().common_name().ok()??;
        Some(name.value().into_owned())
    }
}

fn moment(time: Time) -> Option<Moment> {
    i64::try_from(time.to_unix_duration().as_secs()).ok().map(Moment::from_unix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CA: &[u8] = include_bytes!("../tests/vectors/real/pki/ca.crt");

    fn read(pem: &[u8]) -> Result<CaBundle, NoCertificates> {
        CaBundle::read(pem.to_vec())
    }

    #[test]
    fn a_real_root_is_read() {
        let roots = read(CA).unwrap();
        let Certificate { not_before, not_after, is_ca, .. } = &roots.certificates()[0];
        assert_eq!(not_before.to_string(), "2026-11-15T18:43:09Z");
        assert_eq!((not_after.to_string().as_str(), *is_ca), ("2036-11-12T18:48:09Z", true));
        assert_eq!((roots.certificates()[0].pem().as_bytes(), roots.pem()), (CA, CA));
        assert_eq!(roots.certificates()[0].common_name().as_deref(), Some("kubernetes"));
        assert_eq!(CaBundle::from_der(&[&roots.certificates()[0].der]), Ok(roots));
        assert_eq!(CaBundle::from_der(&[b"x"]), Err(NoCertificates::NotACertificate));
    }

    #[test]
    fn only_sound_basic_constraints_make_a_certificate_one_of_a_ca() {
        let der = read(CA).unwrap().certificates.remove(0).der;
        let with = |from: &[u8], to: &[u8]| {
            let at = der.windows(from.len()).position(|bytes| bytes == from).unwrap();
            let changed = [&der[..at], to, &der[at + to.len()..]].concat();
            Certificate::read(&changed).map(|certificate| certificate.is_ca)
        };
        let (constraints, other) = (&[0x55, 0x1d, 0x13], &[0x55, 0x1d, 0x63]);
        assert_eq!(with(constraints, constraints), Some(true));
        assert_eq!(with(constraints, other), Some(false), "without them");
        assert_eq!(with(&[0x30, 3, 1, 1, 0xff], &[0x30, 3, 1, 1, 0]), Some(false), "with a value that is not DER");
    }

    #[test]
    fn a_bundle_is_read_to_its_end_or_not_at_all() {
        let two = [b"a comment\n", CA, b"\n", CA].concat();
        assert_eq!(read(&two).unwrap().certificates().len(), 2);
        assert_eq!(read(b""), Err(NoCertificates::Empty));
        assert_eq!(read(b"x"), Err(NoCertificates::Empty));
        let broken = [CA, b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"].concat();
        assert_eq!(read(&broken), Err(NoCertificates::NotACertificate));
        let cut = [CA, b"-----BEGIN CERTIFICATE-----\nAAAA\n"].concat();
        assert_eq!(read(&cut), Err(NoCertificates::Pem(PemError::Open(2))));
    }

    #[test]
    fn nothing_may_follow_a_certificate_and_nothing_may_be_missing() {
        let der = &read(CA).unwrap().certificates[0].der;
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
            let mut der = read(CA).unwrap().certificates.remove(0).der;
            let at = at.index(der.len());
            der[at] = byte;
            if let Some(read) = Certificate::read(&der) {
                let key = &read.public_key_info;
                prop_assert!(der.windows(key.len()).any(|bytes| bytes == key));
            }
        }
    }
}
