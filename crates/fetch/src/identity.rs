//! Who the client is, and certificates from PEM.
use crate::{Error, Result};
use objects::pem;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use secret::Secret;

/// A client certificate with its key.
#[derive(Debug, Clone)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    /// PEM, as it was given.
    key: Secret<Vec<u8>>,
}

impl Identity {
    /// From PEM: a certificate with those that lead to its authority, and a key (PKCS#1, PKCS#8 or SEC 1).
    pub fn from_pem(chain: &[u8], key: Secret<Vec<u8>>) -> Result<Self> {
        let chain = certificates(chain)?;
        if chain.is_empty() {
            return Err(bad("the client certificate is not a PEM certificate"));
        }
        drop(private_key(&key)?);
        Ok(Self { chain, key })
    }

    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.chain.clone()
    }

    pub(crate) fn key(&self) -> Result<PrivateKeyDer<'static>> {
        private_key(&self.key)
    }
}

/// The certificates in PEM text, in their order; other blocks are passed over.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found = pem::certificates(pem).map_err(|error| bad(&format!("the certificates are not valid PEM: {error}")))?;
    Ok(found.into_iter().map(CertificateDer::from).collect())
}

/// rustls has a reader of its own for keys, which decodes them in constant time.
fn private_key(pem: &Secret<Vec<u8>>) -> Result<PrivateKeyDer<'static>> {
    // What the parser says could quote the key.
    PrivateKeyDer::from_pem_slice(pem.expose()).map_err(|_| bad("the client key is not a PEM private key"))
}

fn bad(what: &str) -> Error {
    Error::BadCredentials { what: what.to_owned() }
}
