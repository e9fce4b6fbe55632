//! Sealing: from documents and a passphrase to an EncryptedConfig that others can open too.
use crate::{
    Secret,
    decrypt::key,
    v1alpha1::{API_VERSION, CIPHER, DERIVATION, DIGEST, Scope, Sealed, TAG},
};
use aws_lc_rs::aead::{Aad, Nonce};
use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

/// Why nothing was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the documents can't be sealed: the cryptographic library refused")]
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
    let mut text = format!("apiVersion: {API_VERSION}\nkind: EncryptedConfig\n");
    if let Some(name) = name {
        text.push_str(&format!("metadata:\n  name: {}\n", quoted(name)));
    }
    text.push_str("spec:\n");
    if let Some(authority) = certificate_authority {
        text.push_str(&format!("  certificateAuthority: {}\n", quoted(authority)));
    }
    for (field, value) in [
        ("provider", quoted(provider)),
        ("passphraseURI", quoted(passphrase_uri.expose())),
        ("cipherAlgorithm", quoted(CIPHER)),
        ("digestAlgorithm", quoted(DIGEST)),
        ("keyDerivationAlgorithm", quoted(DERIVATION)),
        // As text, which is how the specification's type has it.
        ("iterations", quoted(&sealed.rounds.to_string())),
        ("salt", quoted(&STANDARD.encode(&sealed.salt))),
        ("iv", quoted(&STANDARD.encode(sealed.iv))),
        ("ciphertext", quoted(&STANDARD.encode(&sealed.ciphertext))),
    ] {
        text.push_str(&format!("  {field}: {value}\n"));
    }
    text
}

/// The text of a ScopeConfig, to stand before what is sealed.
pub fn scope_document(scope: &Scope) -> String {
    let mut spec = serde_json::Map::new();
    if let Some(machines) = &scope.machines {
        let lists = [
            ("hostnames", &machines.hostnames),
            ("machineIDs", &machines.machine_ids),
            ("productUUIDs", &machines.product_uuids),
        ];
        let named = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let named = named.map(|(field, list)| (field.to_owned(), list.as_slice().into()));
        spec.insert("machines".into(), serde_json::Value::Object(named.collect()));
    }
    for (field, time) in [("issuedAt", scope.issued_at), ("notAfter", scope.not_after)] {
        spec.extend(time.map(|time| (field.to_owned(), time.to_string().into())));
    }
    spec.extend(scope.max_age.map(|age| ("maxAge".to_owned(), format!("{}ms", age.as_millis()).into())));
    format!("apiVersion: {API_VERSION}\nkind: ScopeConfig\nspec: {}\n", serde_json::Value::Object(spec))
}

/// JSON's strings are YAML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
