//! PEM texts that hold certificates, and nothing that must not be shared.
use objects::pem::{self, Block, CERTIFICATE};
use x509_cert::{Certificate, der::Decode, ext::pkix::BasicConstraints};

/// Why a PEM text can't be used. Blocks are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PemError {
    #[error("block {0} is a private key: it must not be shared")]
    PrivateKey(usize),
    #[error("block {0} is not a CERTIFICATE")]
    OtherBlock(usize),
    #[error(transparent)]
    Pem(#[from] pem::PemError),
    #[error("block {0} is not one DER certificate")]
    Der(usize),
}

/// Whether a certificate can be the trust anchor of others. Old roots have no extensions: one that signed itself is taken.
pub(crate) fn is_authority(der: &[u8]) -> bool {
    let Ok(certificate) = Certificate::from_der(der) else { return false };
    let signed = certificate.tbs_certificate();
    match signed.get_extension::<BasicConstraints>() {
        Ok(Some((_, constraints))) => constraints.ca,
        Ok(None) => signed.issuer() == signed.subject(),
        Err(_) => false,
    }
}

/// The DER of every certificate, and every problem. Text outside of blocks is a comment.
pub(crate) fn certificates(text: &str) -> (Vec<Vec<u8>>, Vec<PemError>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for block in pem::blocks(text.as_bytes()) {
        match certificate(&block) {
            Ok(der) => found.push(der),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

fn certificate(block: &Block<'_>) -> Result<Vec<u8>, PemError> {
    if block.label.contains("PRIVATE KEY") {
        return Err(PemError::PrivateKey(block.number));
    }
    if block.label != CERTIFICATE {
        return Err(PemError::OtherBlock(block.number));
    }
    let der = block.der()?;
    match Certificate::from_der(&der) {
        Ok(_) => Ok(der.to_vec()),
        Err(_) => Err(PemError::Der(block.number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, v1alpha1::trust_bundle::TrustBundleConfig};

    /// A real one.
    fn example() -> Vec<u8> {
        pem::certificates(TrustBundleConfig::EXAMPLE.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn every_certificate_is_found() {
        let text = format!("# a comment\n{0}# another\n{0}", pem::encode(CERTIFICATE, &example()));
        assert_eq!(certificates(&text), (vec![example(), example()], vec![]));
    }

    #[test]
    fn a_private_key_is_refused_by_name_even_where_it_is_cut() {
        for label in ["PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"] {
            let text = pem::encode(label, &[0x30, 0]);
            assert_eq!(certificates(&text).1, [PemError::PrivateKey(1)]);
            assert_eq!(certificates(&text[..text.len() - 5]).1, [PemError::PrivateKey(1)]);
        }
    }

    #[test]
    fn each_bad_block_is_named() {
        let text = pem::encode(CERTIFICATE, &[0x30, 2, 0x30, 0])
            + &pem::encode("X509 CRL", &[0x30, 2, 0x30, 0])
            + "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMAA=\n";
        let [base64, open] = [pem::PemError::Base64(3), pem::PemError::Open(4)].map(PemError::Pem);
        let expected = [PemError::Der(1), PemError::OtherBlock(2), base64, open];
        assert_eq!(certificates(&text), (vec![], expected.to_vec()));
        assert_eq!(open.to_string(), "block 4 has no END line that fits its BEGIN line");
    }

    #[test]
    fn a_certificate_that_is_cut_or_goes_on_is_refused() {
        let mut der = example();
        der.push(0);
        assert_eq!(certificates(&pem::encode(CERTIFICATE, &der)).1, [PemError::Der(1)]);
        der.truncate(der.len() - 2);
        assert_eq!(certificates(&pem::encode(CERTIFICATE, &der)).1, [PemError::Der(1)]);
    }
}
