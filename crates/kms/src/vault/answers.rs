//! What Vault answers: descriptions of keys, ciphertexts, and failures.
use crate::{Failure, FailureKind};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is read of a key's description.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeyDescription {
    /// The version that encrypts.
    pub(super) latest: u64,
    /// The versions that still decrypt, and when each was created.
    created: BTreeMap<u64, u64>,
}

impl KeyDescription {
    /// Reads the answer to `GET MOUNT/keys/KEY`.
    pub(super) fn read(answer: &Value) -> Result<Self, Failure> {
        let odd = |what: &str| Failure::new(FailureKind::Unreachable, format!("the description of the key {what}"));
        let data = &answer["data"];
        let latest = data["latest_version"].as_u64().ok_or_else(|| odd("has no latest_version"))?;
        let keys = data["keys"].as_object().ok_or_else(|| odd("has no keys"))?;
        // Keys that sign have an object for each version; those that encrypt have the time alone.
        let entry = |(number, time): (&String, &Value)| Some((number.parse().ok()?, time.as_u64()?));
        let created: Option<BTreeMap<u64, u64>> = keys.iter().map(entry).collect();
        let created = created.ok_or_else(|| {
            let message = "the key is not a symmetric one, such as aes256-gcm96: create another";
            Failure::new(FailureKind::Missing, message)
        })?;
        Ok(Self { latest, created })
    }

    /// The name of a version: its number, and when it was created.
    pub(super) fn version(&self, number: u64) -> Result<String, Failure> {
        let created = self.created.get(&number).ok_or_else(|| {
            let message = format!("version {number} of the key is gone, or below min_decryption_version");
            Failure::new(FailureKind::Missing, message)
        })?;
        Ok(format!("{number}@{created}"))
    }
}

/// The version in a ciphertext such as `vault:v3:BASE64`.
pub(super) fn number_of(ciphertext: &str) -> Option<u64> {
    let (number, rest) = ciphertext.strip_prefix("vault:v")?.split_once(':')?;
    (!rest.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.parse().ok())?
}

/// What an answer that is no success means.
pub(super) fn failure(what: &str, status: u16, body: &[u8]) -> Failure {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let errors: Vec<&str> = said["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let text = objects::printable(&errors.join("; "), 300);
    let is = |part: &str| text.contains(part);
    let kind = match status {
        403 => FailureKind::AccessDenied,
        404 => FailureKind::Missing,
        400 if is("encryption key not found") || is("too old") => FailureKind::Missing,
        400 => FailureKind::InvalidRequest,
        429 => FailureKind::Throttled,
        _ => FailureKind::Unreachable,
    };
    let text = if text.is_empty() { String::new() } else { format!(": {text}") };
    Failure::new(kind, format!("{what} returned {status}{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_ciphertext_names_its_version() {
        assert_eq!(number_of("vault:v12:AAAA"), Some(12));
        for wrong in ["vault:v:A", "vault:v1:", "vault:v1", "vault:v+1:A", "v1:A", "", "vault:v99999999999999999999:A"]
        {
            assert_eq!(number_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_status_means_what_vault_means_by_it() {
        let meanings = [
            (400, "cipher: message authentication failed", FailureKind::InvalidRequest),
            (400, "encryption key not found", FailureKind::Missing),
            (403, "permission denied", FailureKind::AccessDenied),
            (404, "", FailureKind::Missing),
            (429, "request path \"x\": rate limit quota exceeded", FailureKind::Throttled),
            (500, "internal error", FailureKind::Unreachable),
            (503, "Vault is sealed", FailureKind::Unreachable),
        ];
        for (status, text, kind) in meanings {
            let found = failure("transit/keys/k", status, json!({"errors": [text]}).to_string().as_bytes());
            assert_eq!(found.kind, kind, "{found}");
        }
    }

    #[test]
    fn a_description_that_is_not_of_a_symmetric_key_is_refused() {
        let good = json!({"data": {"latest_version": 2, "keys": {"1": 100, "2": 200}}});
        let key = KeyDescription::read(&good).unwrap();
        assert_eq!(
            (key.version(2).unwrap().as_str(), key.version(3).unwrap_err().kind),
            ("2@200", FailureKind::Missing)
        );
        let signs = json!({"data": {"latest_version": 1, "keys": {"1": {"public_key": "x"}}}});
        for (wrong, kind) in [(json!({}), FailureKind::Unreachable), (signs, FailureKind::Missing)] {
            assert_eq!(KeyDescription::read(&wrong).unwrap_err().kind, kind);
        }
    }
}
