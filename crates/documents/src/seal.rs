//! Sealing: from documents and a passphrase to an EncryptedConfig that others can open too.
use crate::{
    Secret,
    decrypt::key,
    v1alpha1::{EncryptedConfig, Scope, ScopeConfig, Sealed, TAG},
    write,
};
use aws_lc_rs::aead::{Aad, Nonce};
use zeroize::Zeroizing;

/// Why nothing was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the documents cannot be encrypted: the cryptographic library returned an error")]
pub struct SealError;

/// Random bytes for one sealing; never use them twice.
#[derive(Clone, Copy, Debug)]
pub struct Fresh {
    /// PBKDF2's salt.
    pub salt: [u8; 16],
    /// GCM's nonce.
    pub iv: [u8; 12],
}

/// What an EncryptedConfig says beside what is sealed.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// The document's name.
    pub name: Option<&'a str>,
    /// Who fetches the passphrase.
    pub provider: &'a str,
    /// Where the passphrase is.
    pub passphrase_uri: &'a Secret<String>,
    /// Who alone may vouch for the server of the passphrase, in PEM.
    pub certificate_authority: Option<&'a str>,
}

/// Seals a text: PBKDF2-HMAC-SHA512 makes the key, AES-256-GCM seals, the tag stands at the end.
pub fn seal(text: &[u8], passphrase: &Secret<Vec<u8>>, rounds: u32, fresh: Fresh) -> Result<Sealed, SealError> {
    let Fresh { salt, iv } = fresh;
    let key = key(passphrase, &salt, rounds).map_err(|_| SealError)?;
    // All at once, since a vector that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() + TAG));
    bytes.extend_from_slice(text);
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(iv), Aad::empty(), &mut *bytes).map_err(|_| SealError)?;
    Ok(Sealed { ciphertext: std::mem::take(&mut *bytes), salt: salt.to_vec(), iv, rounds })
}

/// The text of an EncryptedConfig.
pub fn sealed_document(sealed: &Sealed, heading: &Heading<'_>) -> String {
    let Heading { name, provider, passphrase_uri, certificate_authority } = heading;
    let certificate_authority = certificate_authority.map(str::to_owned);
    let spec = EncryptedConfig { certificate_authority, ..EncryptedConfig::new(sealed, provider, passphrase_uri) };
    write(*name, &spec).expose().clone()
}

/// The text of a ScopeConfig, to stand before what is sealed.
pub fn scope_document(scope: &Scope) -> String {
    write(None, &ScopeConfig::from(scope)).expose().clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyDocument, read_for_sealing, testing::source, v1alpha1::Machines};
    use std::time::Duration;

    #[test]
    fn a_scope_is_read_back_as_it_was_meant() {
        let time = |text: &str| Some(text.parse().unwrap());
        let machines = |hostnames: &[&str], ids: &[&str], uuids: &[&str]| {
            let [hostnames, machine_ids, product_uuids] =
                [hostnames, ids, uuids].map(|list| list.iter().map(|name| (*name).to_owned()).collect());
            Some(Machines { hostnames, machine_ids, product_uuids })
        };
        let uuid = "6f1c8b1e-0000-4000-8000-00000000000a";
        for scope in [
            Scope { machines: machines(&["node-7", "on"], &[], &[]), ..Scope::default() },
            Scope { machines: machines(&[], &["0123456789abcdef0123456789abcdef"], &[uuid]), ..Scope::default() },
            Scope { not_after: time("2026-11-17T08:00:00Z"), ..Scope::default() },
            Scope {
                issued_at: time("2026-11-16T08:00:00.5Z"),
                max_age: Some(Duration::from_millis(1500)),
                ..Scope::default()
            },
        ] {
            let text = scope_document(&scope);
            let mut read = read_for_sealing(vec![source("-", text.as_bytes())]);
            assert!(read.report.is_empty(), "{}\n{text}", read.report);
            assert_eq!(read.documents.remove(0).body, AnyDocument::Scope(Box::new(scope)), "{text}");
        }
    }
}
