//! The public key of whatever a PEM file holds: a private key, a public key or a certificate, in the forms that kubeadm
//! and kube-apiserver read. Keys are compared by it.
use aws_lc_rs::{
    encoding::{AsDer, PublicKeyX509Der},
    rsa,
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA384_ASN1_SIGNING,
        ECDSA_P521_SHA512_ASN1, ECDSA_P521_SHA512_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair,
        ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
    },
};
use discovery::certificate::Certificate;
use objects::pem::{self, Block, CERTIFICATE, PemError};

const CURVES: [&EcdsaSigningAlgorithm; 3] =
    [&ECDSA_P256_SHA256_ASN1_SIGNING, &ECDSA_P384_SHA384_ASN1_SIGNING, &ECDSA_P521_SHA512_ASN1_SIGNING];
const PUBLIC_ALGORITHMS: [&dyn VerificationAlgorithm; 4] =
    [&RSA_PKCS1_2048_8192_SHA256, &ECDSA_P256_SHA256_ASN1, &ECDSA_P384_SHA384_ASN1, &ECDSA_P521_SHA512_ASN1];

/// A public key as the DER of its SubjectPublicKeyInfo, the one form that certificates have too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(Vec<u8>);

/// Why a file has no key. Nothing of it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// A block of a key cannot be read.
    #[error("is not valid PEM: {0}")]
    Pem(PemError),
    /// Its blocks are of other kinds.
    #[error("has no PEM block of a private key: RSA PRIVATE KEY, EC PRIVATE KEY or PRIVATE KEY")]
    NoPrivateKey,
    /// Its blocks are of other kinds.
    #[error("has no PEM block of a public key: PUBLIC KEY, RSA PUBLIC KEY or CERTIFICATE")]
    NoPublicKey,
    /// Kubernetes reads no passphrase.
    #[error("is encrypted with a passphrase: Kubernetes reads only private keys that are not")]
    Encrypted,
    /// It is damaged, or of a kind that kubeadm does not use.
    #[error("has a key that is damaged or unsupported: use RSA of 2048 to 8192 bits, or ECDSA P-256, P-384 or P-521")]
    Unsupported,
    /// kube-apiserver refuses it, whatever its label.
    #[error(
        "has a public key in PKCS#1 form, which kube-apiserver does not read: \
         convert it with `openssl rsa -RSAPublicKey_in -pubout`"
    )]
    Pkcs1PublicKey,
}

impl PublicKey {
    /// The key of a certificate.
    pub fn of_certificate(certificate: &Certificate) -> Self {
        Self(certificate.public_key_info.clone())
    }

    /// The public half of the private key in a file: the first block that is one, as kubeadm takes it. The two halves
    /// belong together, since the library refuses a private key whose own public half does not fit.
    pub fn of_private_key(text: &[u8]) -> Result<Self, NoKey> {
        let mut reason = NoKey::NoPrivateKey;
        for block in pem::blocks(text) {
            match private_key(&block) {
                Ok(key) => return Ok(key),
                // The first reason that concerns a key; EC PARAMETERS and others may stand around it.
                Err(next) if reason == NoKey::NoPrivateKey => reason = next,
                Err(_) => {}
            }
        }
        Err(reason)
    }

    /// All public keys in a file. kube-apiserver verifies with each of them.
    pub fn all_in(text: &[u8]) -> Result<Vec<Self>, NoKey> {
        let keys = pem::blocks(text).filter_map(|block| public_key(&block).transpose());
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(NoKey::NoPublicKey) } else { Ok(keys) }
    }
}

/// Whether a file has a private key in it, whatever else it holds.
pub(crate) fn has_private_key(text: &[u8]) -> bool {
    pem::blocks(text).any(|block| block.label.ends_with("PRIVATE KEY"))
}

fn private_key(block: &Block<'_>) -> Result<PublicKey, NoKey> {
    let der = || block.der().map_err(NoKey::Pem);
    let key = match block.label {
        "RSA PRIVATE KEY" | "EC PRIVATE KEY" if block.is_encrypted() => return Err(NoKey::Encrypted),
        "RSA PRIVATE KEY" => rsa::KeyPair::from_der(&der()?).ok().and_then(|key| info(key.public_key())),
        "EC PRIVATE KEY" => ec_key(&der()?),
        "PRIVATE KEY" => pkcs8_key(&der()?),
        "ENCRYPTED PRIVATE KEY" => return Err(NoKey::Encrypted),
        _ => return Err(NoKey::NoPrivateKey),
    };
    key.ok_or(NoKey::Unsupported)
}

/// SEC 1. The library would take PKCS#8 here too, which kubeadm does not.
fn ec_key(der: &[u8]) -> Option<PublicKey> {
    let is_pkcs8 = |curve| EcdsaKeyPair::from_pkcs8(curve, der).is_ok();
    let read = |curve| EcdsaKeyPair::from_private_key_der(curve, der).ok().filter(|_| !is_pkcs8(curve));
    CURVES.into_iter().find_map(read).and_then(|key| info(key.public_key()))
}

fn pkcs8_key(der: &[u8]) -> Option<PublicKey> {
    let rsa = || rsa::KeyPair::from_pkcs8(der).ok().and_then(|key| info(key.public_key()));
    let ec = |curve| EcdsaKeyPair::from_pkcs8(curve, der).ok().and_then(|key| info(key.public_key()));
    rsa().or_else(|| CURVES.into_iter().find_map(ec))
}

/// The key of a block; nothing for a block of another kind.
fn public_key(block: &Block<'_>) -> Result<Option<PublicKey>, NoKey> {
    let der = || block.der().map_err(NoKey::Pem);
    match block.label {
        CERTIFICATE => {
            let certificate = Certificate::read(&der()?).ok_or(NoKey::Unsupported)?;
            Ok(Some(PublicKey::of_certificate(&certificate)))
        }
        "PUBLIC KEY" | "RSA PUBLIC KEY" => {
            let der = der()?;
            let parsed = |algorithm| ParsedPublicKey::new(algorithm, &*der).ok();
            let key = PUBLIC_ALGORITHMS.into_iter().find_map(parsed).and_then(|key| info(&key));
            // The library also reads shorter forms than the one that Kubernetes reads; it writes only that one.
            match key.ok_or(NoKey::Unsupported)? {
                key if key.0 == *der => Ok(Some(key)),
                _ if rsa::PublicKey::from_der(&der).is_ok() => Err(NoKey::Pkcs1PublicKey),
                _ => Err(NoKey::Unsupported),
            }
        }
        _ => Ok(None),
    }
}

fn info(key: &impl AsDer<PublicKeyX509Der<'static>>) -> Option<PublicKey> {
    key.as_der().ok().map(|der| PublicKey(der.as_ref().to_vec()))
}
