//! What AWS KMS answers: descriptions of keys, and failures.
use super::KeyArn;
use crate::{Failure, FailureKind};
use serde_json::Value;

/// What each error of AWS means. docs/operating/kms.md has the same table, and the tests read it there.
const ERRORS: &[(&str, FailureKind)] = &[
    ("AccessDeniedException", FailureKind::AccessDenied),
    ("DependencyTimeoutException", FailureKind::Unreachable),
    ("DisabledException", FailureKind::Disabled),
    ("DryRunOperationException", FailureKind::InvalidRequest),
    ("ExpiredTokenException", FailureKind::AccessDenied),
    ("IncompleteSignatureException", FailureKind::AccessDenied),
    ("IncorrectKeyException", FailureKind::InvalidRequest),
    ("InvalidArnException", FailureKind::Missing),
    ("InvalidCiphertextException", FailureKind::InvalidRequest),
    ("InvalidClientTokenId", FailureKind::AccessDenied),
    ("InvalidGrantTokenException", FailureKind::AccessDenied),
    ("InvalidKeyUsageException", FailureKind::Missing),
    ("InvalidSignatureException", FailureKind::AccessDenied),
    ("KMSInternalException", FailureKind::Unreachable),
    ("KMSInvalidStateException", FailureKind::Unreachable),
    ("KeyUnavailableException", FailureKind::Unreachable),
    ("LimitExceededException", FailureKind::Throttled),
    ("MissingAuthenticationTokenException", FailureKind::AccessDenied),
    ("NotFoundException", FailureKind::Missing),
    ("OptInRequired", FailureKind::AccessDenied),
    ("RequestExpired", FailureKind::AccessDenied),
    ("ServiceUnavailableException", FailureKind::Unreachable),
    ("ThrottlingException", FailureKind::Throttled),
    ("UnrecognizedClientException", FailureKind::AccessDenied),
    ("ValidationException", FailureKind::InvalidRequest),
];

/// An answer that is no success.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The error's name, without the namespace that may stand before it.
    pub(super) name: String,
    /// What it means.
    pub(super) failure: Failure,
}

impl Refusal {
    /// Reads the answer to an operation.
    pub(super) fn read(operation: &str, status: u16, body: &[u8]) -> Self {
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        let name = said["__type"].as_str().unwrap_or_default();
        let name = objects::printable(name.rsplit('#').next().unwrap_or_default(), 80);
        let text = said["message"].as_str().or(said["Message"].as_str()).unwrap_or_default();
        let kind = ERRORS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        let kind = kind.unwrap_or(match status {
            403 => FailureKind::AccessDenied,
            404 => FailureKind::Missing,
            429 => FailureKind::Throttled,
            _ if name.contains("Throttl") => FailureKind::Throttled,
            _ => FailureKind::Unreachable,
        });
        let text = match name.as_str() {
            // AWS quotes the request as it should have been signed, and the session token with it.
            "InvalidSignatureException" => "the secret access key is wrong, or the clock of this machine is".to_owned(),
            _ => objects::printable(text, 300),
        };
        let parts = [name.clone(), text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let message = format!("{operation} returned {status}: {}", parts.join(": "));
        Self { name, failure: Failure::new(kind, message) }
    }

    /// Whether other credentials may succeed: these have expired, or are those of a role that was replaced.
    pub(super) fn is_of_credentials(&self) -> bool {
        matches!(
            self.name.as_str(),
            "ExpiredTokenException"
                | "InvalidClientTokenId"
                | "UnrecognizedClientException"
                | "InvalidSignatureException"
        )
    }
}

/// The key material that encrypts now, if AWS tells which; a failure if the key can't be used.
pub(super) fn current_material(arn: &KeyArn, answer: &Value) -> Result<Option<String>, Failure> {
    let key = &answer["KeyMetadata"];
    let text = |name: &str| key[name].as_str().unwrap_or_default();
    let failure = |kind, message: &str| Err(Failure::new(kind, format!("the key {arn} {message}")));
    match text("KeyState") {
        // Updating is how a change of a multi-Region key is shown; it encrypts meanwhile.
        "Enabled" | "Updating" => {}
        "Disabled" => {
            return failure(FailureKind::Disabled, "is disabled: enable it with `aws kms enable-key`");
        }
        "PendingDeletion" | "PendingReplicaDeletion" => {
            return failure(FailureKind::PendingDeletion, &pending_deletion(&key["DeletionDate"]));
        }
        "PendingImport" => {
            return failure(FailureKind::Missing, "has no key material: import it again");
        }
        state => {
            let message = format!("has the state {}", objects::printable(state, 40));
            return failure(FailureKind::Unreachable, &message);
        }
    }
    let (usage, spec) = (text("KeyUsage"), text("KeySpec"));
    if usage != "ENCRYPT_DECRYPT" || spec != "SYMMETRIC_DEFAULT" {
        let message = "is not a symmetric key for encryption (KeyUsage ENCRYPT_DECRYPT, KeySpec SYMMETRIC_DEFAULT)";
        return failure(FailureKind::Missing, message);
    }
    match key["CurrentKeyMaterialId"].as_str() {
        None => Ok(None),
        Some(id) if is_material(id) => Ok(Some(id.to_owned())),
        Some(_) => failure(FailureKind::Unreachable, "has a CurrentKeyMaterialId that is not 64 hexadecimal digits"),
    }
}

fn pending_deletion(date: &Value) -> String {
    let seconds = date.as_f64().filter(|seconds| seconds.is_finite());
    #[expect(clippy::cast_possible_truncation, reason = "the date is told to the second, and jiff checks its range")]
    let date = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds as i64).ok());
    let date = date.map_or_else(|| "at a date that AWS does not name".to_owned(), |date| format!("at {date}"));
    format!(
        "is pending deletion and is deleted {date}: what it encrypted is unreadable now and lost then. Run `aws kms cancel-key-deletion` and `aws kms enable-key`"
    )
}

/// Whether a text can be the id of key material.
pub(super) fn is_material(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DOCS: &str = include_str!("../../../../docs/operating/kms.md");

    #[test]
    fn the_docs_have_each_error_of_aws_with_its_kind() {
        let rows: Vec<&str> =
            DOCS.lines().filter(|line| line.starts_with("| `") && line.contains("Exception`")).collect();
        for (name, kind) in ERRORS {
            assert!(DOCS.lines().any(|line| line.starts_with(&format!("| `{name}` | `{kind}` |"))), "{name} {kind}");
        }
        for row in rows {
            let name = row.split('`').nth(1).unwrap();
            assert!(ERRORS.iter().any(|(known, _)| *known == name), "{row}");
        }
    }

    #[test]
    fn a_refusal_names_the_error_and_never_what_was_signed() {
        let body =
            json!({"__type": "com.amazonaws.kms#InvalidSignatureException", "message": "x-amz-security-token:s3cret"});
        let refusal = Refusal::read("Encrypt", 400, body.to_string().as_bytes());
        assert_eq!(
            (refusal.name.as_str(), refusal.failure.kind),
            ("InvalidSignatureException", FailureKind::AccessDenied)
        );
        assert!(!refusal.failure.message.contains("s3cret") && refusal.is_of_credentials());
        let by_status = [
            (403, FailureKind::AccessDenied),
            (404, FailureKind::Missing),
            (429, FailureKind::Throttled),
            (400, FailureKind::Unreachable),
        ];
        for (status, kind) in by_status {
            let body = json!({"__type": "SomethingNewException"}).to_string();
            assert_eq!(Refusal::read("Encrypt", status, body.as_bytes()).failure.kind, kind, "{status}");
        }
        let unknown = Refusal::read("Encrypt", 502, b"<html>");
        assert_eq!(unknown.failure, Failure::new(FailureKind::Unreachable, "Encrypt returned 502: "));
    }

    #[test]
    fn a_key_that_can_not_encrypt_is_a_failure_that_names_its_state() {
        let arn = KeyArn::parse("arn:aws:kms:us-west-2:111122223333:key/k").unwrap();
        let key = |state: &str, usage: &str| json!({"KeyMetadata": {"KeyState": state, "KeyUsage": usage, "KeySpec": "SYMMETRIC_DEFAULT", "DeletionDate": 1_800_000_000.5}});
        for state in ["Enabled", "Updating"] {
            assert_eq!(current_material(&arn, &key(state, "ENCRYPT_DECRYPT")), Ok(None), "{state}");
        }
        let kind = |state: &str, usage: &str| current_material(&arn, &key(state, usage)).unwrap_err().kind;
        assert_eq!(kind("Disabled", "ENCRYPT_DECRYPT"), FailureKind::Disabled);
        assert_eq!(kind("PendingReplicaDeletion", "ENCRYPT_DECRYPT"), FailureKind::PendingDeletion);
        assert_eq!(kind("PendingImport", "ENCRYPT_DECRYPT"), FailureKind::Missing);
        assert_eq!(kind("Unavailable", "ENCRYPT_DECRYPT"), FailureKind::Unreachable);
        assert_eq!(kind("Enabled", "SIGN_VERIFY"), FailureKind::Missing);
        let pending = current_material(&arn, &key("PendingDeletion", "ENCRYPT_DECRYPT")).unwrap_err();
        assert_eq!(pending.kind, FailureKind::PendingDeletion);
        assert!(pending.message.contains("is deleted at 2027-01-15T08:00:00Z"), "{pending}");
    }
}
