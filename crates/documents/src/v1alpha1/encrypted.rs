//! EncryptedConfig: further documents, sealed with a passphrase that a provider fetches.
use super::{API_VERSION, Certificate, contents::from_base64, trust_bundle::authorities, uri};
use crate::{
    Claim, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    limits::{ROUNDS_DEFAULT, ROUNDS_FEWEST, ROUNDS_MOST},
    path::member,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// AES-256-GCM, the one cipher.
const CIPHER: &str = "aes-256-gcm";
/// SHA-512, the one digest under PBKDF2's HMAC.
const DIGEST: &str = "sha-512";
/// PBKDF2, the one derivation.
const DERIVATION: &str = "pbkdf2";
/// Bytes of GCM's tag, at the ciphertext's end.
pub(crate) const TAG: usize = 16;

const SALT_BYTES: std::ops::RangeInclusive<usize> = 16..=1024;

/// Documents that are sealed, and where their passphrase is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encrypted {
    /// Who fetches the passphrase.
    pub provider: String,
    /// Where the passphrase is.
    pub passphrase_uri: Secret<String>,
    /// Who may vouch for the server of the passphrase; empty if nothing particular.
    pub authorities: Vec<Certificate>,
    /// What is sealed.
    pub sealed: Sealed,
}

/// Sealed bytes with what is needed beside the passphrase to open them.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    /// With the tag at its end.
    pub ciphertext: Vec<u8>,
    /// PBKDF2's salt.
    pub salt: Vec<u8>,
    /// GCM's nonce.
    pub iv: [u8; 12],
    /// PBKDF2's rounds.
    pub rounds: u32,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed {{ {} bytes, {} rounds }}", self.ciphertext.len(), self.rounds)
    }
}

/// Documents that are encrypted with a passphrase. The decrypted documents replace this document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EncryptedConfig {
    /// CA certificates (PEM) for the https server of the passphrase. When set, no other CA certificates are used. Default:
    /// those of the system and of every TrustBundleConfig before this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
    /// Provider that fetches the passphrase: `file` (a file that only its owner can read), `descriptor` (an inherited file
    /// descriptor) or `https`.
    pub provider: String,
    /// URI of the passphrase: `file:///etc/machineadm/passphrase`, `fd:3`, `https://vault.example.com/node-7`. Output shows
    /// it without credentials and query.
    #[serde(rename = "passphraseURI", serialize_with = "secret::exposed")]
    pub passphrase_uri: Secret<String>,
    /// Cipher.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^aes-256-gcm$"), extend("default" = CIPHER))]
    pub cipher_algorithm: Option<String>,
    /// Digest of the HMAC in the key derivation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^sha-512$"), extend("default" = DIGEST))]
    pub digest_algorithm: Option<String>,
    /// Algorithm that derives the key from the passphrase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^pbkdf2$"), extend("default" = DERIVATION))]
    pub key_derivation_algorithm: Option<String>,
    /// Rounds of the key derivation, from 1000 to 1000000, as number or text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Rounds>,
    /// Salt of the key derivation in base64, 16 bytes to 1 KiB.
    pub salt: String,
    /// Initialization vector of the cipher in base64, 12 bytes.
    pub iv: String,
    /// The encrypted documents in base64: the ciphertext, followed by its tag of 16 bytes.
    pub ciphertext: String,
}

/// A number, as number or as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds(pub String);

impl JsonSchema for Rounds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rounds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"], "minimum": ROUNDS_FEWEST, "maximum": ROUNDS_MOST,
            "pattern": "^[1-9][0-9]*$", "default": ROUNDS_DEFAULT,
        })
    }
}

impl Document for EncryptedConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "EncryptedConfig";
    const SUMMARY: &str = "Documents encrypted with a passphrase; once decrypted, they replace this document.";
    const EXAMPLE: &str = include_str!("encrypted.yaml");
}

impl Check for EncryptedConfig {
    type Checked = Box<Encrypted>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Encrypted> {
        let Self { provider, passphrase_uri, certificate_authority, .. } = &self;
        uri::check(provider, passphrase_uri.expose(), "spec.passphraseURI", findings);
        for (field, named, known) in [
            ("cipherAlgorithm", &self.cipher_algorithm, CIPHER),
            ("digestAlgorithm", &self.digest_algorithm, DIGEST),
            ("keyDerivationAlgorithm", &self.key_derivation_algorithm, DERIVATION),
        ] {
            check_algorithm(field, named.as_deref(), known, findings);
        }
        let authorities = authorities("spec.certificateAuthority", certificate_authority.as_deref(), findings);
        let sealed = self.sealed(findings);
        let Self { provider, passphrase_uri, .. } = self;
        Box::new(Encrypted { provider, passphrase_uri, authorities, sealed })
    }
}

impl Body for Encrypted {
    fn secrets(&self) -> Vec<&[u8]> {
        uri::uri_secrets(self.passphrase_uri.expose()).into_iter().map(str::as_bytes).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        Vec::new()
    }
}

impl EncryptedConfig {
    /// What is sealed here, with everything that others need beside the passphrase to open it.
    pub fn new(sealed: &Sealed, provider: &str, passphrase_uri: &Secret<String>) -> Self {
        Self {
            certificate_authority: None,
            provider: provider.to_owned(),
            passphrase_uri: passphrase_uri.clone(),
            cipher_algorithm: Some(CIPHER.to_owned()),
            digest_algorithm: Some(DIGEST.to_owned()),
            key_derivation_algorithm: Some(DERIVATION.to_owned()),
            // As text, which is how the specification's type has it.
            iterations: Some(Rounds(sealed.rounds.to_string())),
            salt: STANDARD.encode(&sealed.salt),
            iv: STANDARD.encode(sealed.iv),
            ciphertext: STANDARD.encode(&sealed.ciphertext),
        }
    }

    fn sealed(&self, findings: &mut Findings<'_>) -> Sealed {
        let ciphertext = bytes("ciphertext", &self.ciphertext, findings);
        let salt = bytes("salt", &self.salt, findings);
        let iv = bytes("iv", &self.iv, findings);
        if ciphertext.as_ref().is_some_and(|bytes| bytes.len() < TAG) {
            findings.error("spec.ciphertext", "is shorter than its tag of 16 bytes: it was truncated");
        }
        if let Some(salt) = salt.as_ref().filter(|salt| !SALT_BYTES.contains(&salt.len())) {
            findings.error("spec.salt", format!("has {} bytes: at least 16, at most 1024", salt.len()));
        }
        if let Some(iv) = iv.as_ref().filter(|iv| iv.len() != 12) {
            findings.error("spec.iv", format!("has {} bytes: {CIPHER} takes 12", iv.len()));
        }
        let iv = iv.and_then(|iv| iv.try_into().ok()).unwrap_or_default();
        let rounds = rounds(self.iterations.as_ref(), findings).unwrap_or(ROUNDS_DEFAULT);
        Sealed { ciphertext: ciphertext.unwrap_or_default(), salt: salt.unwrap_or_default(), iv, rounds }
    }
}

fn bytes(field: &str, text: &str, findings: &mut Findings<'_>) -> Option<Vec<u8>> {
    match from_base64(text) {
        Ok(mut bytes) => Some(std::mem::take(&mut *bytes)),
        Err(problem) => {
            findings.error(&member("spec", field), problem);
            None
        }
    }
}

fn check_algorithm(field: &str, named: Option<&str>, known: &str, findings: &mut Findings<'_>) {
    if let Some(named) = named.filter(|named| *named != known) {
        let message = match findings.word(named) {
            Some(word) => format!("{word} is not supported"),
            None => "is not supported".to_owned(),
        };
        findings.error(&member("spec", field), message).hint(format!("use `{known}`"));
    }
}

fn rounds(written: Option<&Rounds>, findings: &mut Findings<'_>) -> Option<u32> {
    let Some(Rounds(text)) = written else { return Some(ROUNDS_DEFAULT) };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let message = match text.parse::<u64>() {
        _ if !digits => "must be a whole number, such as 50000".to_owned(),
        _ if text.len() > 1 && text.starts_with('0') => {
            "must not have leading zeros, which other programs read as octal".to_owned()
        }
        Ok(rounds) if rounds < ROUNDS_FEWEST.into() => {
            format!("{rounds} rounds are too few: at least {ROUNDS_FEWEST}, {ROUNDS_DEFAULT} by default")
        }
        Ok(rounds) if rounds <= ROUNDS_MOST.into() => return u32::try_from(rounds).ok(),
        _ => format!("too many rounds: at most {ROUNDS_MOST}, {ROUNDS_DEFAULT} by default"),
    };
    findings.error("spec.iterations", message);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{document, found, read_text},
    };

    /// The example's spec with one member changed or added.
    fn with(field: &str, value: &str) -> String {
        let example = EncryptedConfig::EXAMPLE.split_once("kind: EncryptedConfig\n").unwrap().1;
        let kept = example.lines().filter(|line| !line.starts_with(&format!("  {field}:")));
        let rest = kept.map(|line| format!("{line}\n")).collect::<String>();
        document("EncryptedConfig", &format!("{rest}  {field}: {value}"))
    }

    fn encrypted(text: &str) -> Encrypted {
        let mut read = read_text(text);
        assert!(read.report.is_empty(), "{}", read.report);
        let AnyDocument::Encrypted(encrypted) = read.documents.remove(0).body else { panic!() };
        *encrypted
    }

    #[test]
    fn rounds_are_a_number_or_text_and_have_a_default() {
        assert_eq!(encrypted(EncryptedConfig::EXAMPLE).sealed.rounds, 50_000);
        for written in ["60000", "\"60000\""] {
            assert_eq!(encrypted(&with("iterations", written)).sealed.rounds, 60_000, "{written}");
        }
    }

    #[test]
    fn absurd_rounds_are_refused_each_way() {
        let few = "spec.iterations: 12 rounds are too few: at least 1000, 50000 by default";
        assert_eq!(found(&with("iterations", "12")), [few]);
        let many = "spec.iterations: too many rounds: at most 1000000, 50000 by default";
        for written in ["1000001", "\"99999999999999999999\"", "18446744073709551616", "12345678901234567890123456"] {
            assert_eq!(found(&with("iterations", written)), [many], "{written}");
        }
        let none = "spec.iterations: must be a whole number, such as 50000";
        for written in ["\"\"", "-1", "\"5e4\"", "0x10000"] {
            assert_eq!(found(&with("iterations", written)), [none], "{written}");
        }
        let octal = "spec.iterations: must not have leading zeros, which other programs read as octal";
        for written in ["050000", "\"050000\"", "00"] {
            assert_eq!(found(&with("iterations", written)), [octal], "{written}");
        }
        let fraction = "spec.iterations: must be a whole number or text, not a number with a point or an exponent";
        for written in ["5e4", "50000.0"] {
            assert_eq!(found(&with("iterations", written)), [fraction], "{written}");
        }
    }

    #[test]
    fn an_unknown_algorithm_is_refused_by_its_name() {
        for (field, name) in
            [("cipherAlgorithm", "aes-128-cbc"), ("digestAlgorithm", "md5"), ("keyDerivationAlgorithm", "scrypt")]
        {
            assert_eq!(found(&with(field, name)), [format!("spec.{field}: `{name}` is not supported")]);
        }
        let long = "x".repeat(2000);
        assert!(found(&with("cipherAlgorithm", &long))[0].len() < 200);
    }

    /// A change of the algorithms is a new version of the type, which no older program takes for its own.
    #[test]
    fn another_version_of_the_type_is_refused_as_such() {
        assert!(EncryptedConfig::EXAMPLE.starts_with(&format!("apiVersion: {API_VERSION}\n")));
        let (group, version) = API_VERSION.split_once('/').unwrap();
        assert_eq!(version, "v1alpha1");
        for other in ["v1alpha2", "v1beta1", "v1"] {
            let text = EncryptedConfig::EXAMPLE.replacen(API_VERSION, &format!("{group}/{other}"), 1);
            let read = read_text(&text);
            assert!(read.documents.is_empty(), "{other} was read as {version}");
            let notes: Vec<_> =
                read.report.notes.iter().map(|note| (note.path.as_str(), note.message.as_str())).collect();
            assert_eq!(notes, [("apiVersion", "unknown version of machineadm's documents")], "{other}");
        }
    }

    #[test]
    fn what_is_needed_to_decrypt_is_required() {
        for field in ["provider", "passphraseURI", "ciphertext", "salt", "iv"] {
            let is_field = |line: &&str| line.starts_with(&format!("  {field}: "));
            let line = EncryptedConfig::EXAMPLE.lines().find(is_field).unwrap();
            let without = EncryptedConfig::EXAMPLE.replace(&format!("{line}\n"), "");
            assert_eq!(found(&without), [format!("spec.{field}: required, but missing")]);
        }
    }

    #[test]
    fn salt_iv_and_ciphertext_have_their_sizes() {
        for (field, value, message) in [
            ("salt", "c2hvcnQ=", "has 5 bytes: at least 16, at most 1024"),
            ("iv", "c2hvcnQ=", "has 5 bytes: aes-256-gcm takes 12"),
            ("ciphertext", "c2hvcnQ=", "is shorter than its tag of 16 bytes: it was truncated"),
            ("salt", "c2hvcnQ", "is not valid base64"),
            ("iv", "_-8=", "is not valid base64"),
            ("ciphertext", "'!'", "is not valid base64"),
        ] {
            assert_eq!(found(&with(field, value)), [format!("spec.{field}: {message}")]);
        }
    }

    #[test]
    fn the_authority_is_certificates_and_no_key() {
        let key = "\"-----BEGIN PRIVATE KEY-----\\nMAA=\\n-----END PRIVATE KEY-----\"";
        assert!(found(&with("certificateAuthority", key))[0].contains("private key"));
        assert_eq!(found(&with("certificateAuthority", "x")), ["spec.certificateAuthority: contains no certificate"]);
    }
}
