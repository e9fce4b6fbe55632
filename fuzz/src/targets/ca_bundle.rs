//! CA certificates: as PEM, and each as DER.
use crate::{Seen, Target};
use base64::{Engine, prelude::BASE64_STANDARD};
use discovery::{
    Pin,
    certificate::{CaBundle, Certificate},
    expiry::rfc3339,
};
use objects::pem;

const REAL: &str = include_str!("../seeds/cluster-info.kubeconfig.yaml");

pub(super) const TARGET: Target = Target {
    name: "ca_bundle",
    inputs: 50_000,
    seeds,
    words: &[
        "-----BEGIN CERTIFICATE-----\n",
        "-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----\n",
        "-----",
        "MII=",
        "\r",
        "\u{17}\r260101000000Z",
        "\u{18}\u{f}20260101000000Z",
        "\u{30}\u{0}",
        "\u{2}\u{1}\u{0}",
    ],
    read: target,
};

/// A real root: as its cluster-info shows it, twice after a comment, and as DER.
fn seeds() -> Vec<Vec<u8>> {
    let data = REAL.lines().find_map(|line| line.trim().strip_prefix("certificate-authority-data: "));
    let one = BASE64_STANDARD.decode(data.unwrap_or_default()).unwrap_or_default();
    let two = [b"# mine\n", &one[..], b"\n", &one[..]].concat();
    let der = pem::certificates(&one).unwrap_or_default();
    [vec![one, two], der].concat()
}

/// A bundle is read to its end or refused in words that can be shown; what is read says the same as PEM and as DER.
fn target(input: &[u8]) -> Seen {
    let whole = Certificate::read(input).map(|certificate| is_sound(&certificate));
    match CaBundle::read(input.to_vec()) {
        Ok(bundle) => {
            assert!(!bundle.is_empty() && bundle.pem() == input, "a bundle without certificates, or with other bytes");
            let ends: Vec<_> = bundle.certificates().iter().map(is_sound).collect();
            let ders: Vec<_> = bundle.certificates().iter().map(|certificate| &certificate.der).collect();
            let again = CaBundle::from_der(&ders).and_then(|bundle| CaBundle::read(bundle.pem().to_vec()));
            assert_eq!(again.as_ref().map(CaBundle::certificates), Ok(bundle.certificates()), "not written back");
            Seen::new((whole, ends))
        }
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "a control character in {error}");
            Seen::new((whole, error.to_string(), pem::blocks(input).map(|block| block.label.len()).collect::<Vec<_>>()))
        }
    }
}

/// Its public key stands in it byte for byte, it has one end, nothing follows it and nothing is missing. Tells its end.
fn is_sound(certificate: &Certificate) -> String {
    let Certificate { der, public_key_info, not_before, not_after, is_ca: _ } = certificate;
    assert!(der.windows(public_key_info.len()).any(|bytes| bytes == public_key_info), "a pin of other bytes");
    assert_eq!(Pin::of(certificate).to_string().parse(), Ok(Pin::of(certificate)));
    assert_eq!(rfc3339(&not_before.to_string()), Some(*not_before), "a beginning that can't be read back");
    assert_eq!(rfc3339(&not_after.to_string()), Some(*not_after), "an end that can't be read back");
    assert_eq!(Certificate::read(&der[..der.len() - 1]), None, "a certificate that was cut");
    assert_eq!(Certificate::read(&[&der[..], &[0]].concat()), None, "a certificate that goes on");
    not_after.date()
}
