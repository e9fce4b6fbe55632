//! The ExecCredential that a plugin prints.
use super::{ExecFault, KIND};
use fetch::Identity;
use jiff::Timestamp;
use secret::Secret;
use serde::Deserialize;

/// What a client proves itself with.
#[derive(Debug)]
pub(crate) struct Credential {
    pub(crate) identity: Option<Identity>,
    pub(crate) authorization: Option<Secret<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<String>,
    token: Option<Secret<String>>,
    client_certificate_data: Option<Secret<String>>,
    client_key_data: Option<Secret<String>>,
}

/// The credentials in what a plugin printed. The parser's own errors could quote them.
pub(super) fn read(printed: &[u8], api_version: &str, now: Timestamp) -> Result<Credential, ExecFault> {
    let read: ExecCredential =
        serde_json::from_slice(printed).map_err(|_| ExecFault::Invalid("it is not JSON of an ExecCredential"))?;
    if read.kind != KIND {
        return Err(ExecFault::Invalid("its kind is not ExecCredential"));
    }
    if read.api_version != api_version {
        return Err(ExecFault::Invalid("its apiVersion differs from the kubeconfig's"));
    }
    let status = read.status.ok_or(ExecFault::Invalid("status is missing"))?;
    if status.has_expired(now)? {
        return Err(ExecFault::Expired);
    }
    let credential = Credential { identity: status.identity()?, authorization: status.authorization()? };
    match credential {
        Credential { identity: None, authorization: None } => {
            Err(ExecFault::Invalid("status has neither token nor clientCertificateData and clientKeyData"))
        }
        credential => Ok(credential),
    }
}

impl Status {
    fn has_expired(&self, now: Timestamp) -> Result<bool, ExecFault> {
        let Some(text) = self.expiration_timestamp.as_deref().filter(|text| !text.is_empty()) else { return Ok(false) };
        let end: Timestamp =
            text.parse().map_err(|_| ExecFault::Invalid("status.expirationTimestamp is not a time of RFC 3339"))?;
        Ok(end <= now)
    }

    fn authorization(&self) -> Result<Option<Secret<String>>, ExecFault> {
        let Some(token) = given(&self.token) else { return Ok(None) };
        let header =
            bearer(token.expose()).ok_or(ExecFault::Invalid("status.token has characters that no token has"))?;
        Ok(Some(header))
    }

    fn identity(&self) -> Result<Option<Identity>, ExecFault> {
        match (given(&self.client_certificate_data), given(&self.client_key_data)) {
            (None, None) => Ok(None),
            (Some(chain), Some(key)) => {
                let key = Secret::new(key.expose().clone().into_bytes());
                let identity = Identity::from_pem(chain.expose().as_bytes(), key);
                let invalid = "status.clientCertificateData and clientKeyData are not a certificate and its key in PEM";
                identity.map(Some).map_err(|_| ExecFault::Invalid(invalid))
            }
            _ => Err(ExecFault::Invalid("status has only one of clientCertificateData and clientKeyData")),
        }
    }
}

/// A member that is set; empty is absent.
fn given(member: &Option<Secret<String>>) -> Option<&Secret<String>> {
    member.as_ref().filter(|text| !text.expose().is_empty())
}

/// The `Authorization` header for a token; `None` if no header can carry it.
pub(crate) fn bearer(token: &str) -> Option<Secret<String>> {
    let is_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_word.then(|| Secret::new(format!("Bearer {token}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};
    use serde_json::{Value, json};

    const V1: &str = "client.authentication.k8s.io/v1";

    fn of(status: Value) -> Result<Credential, ExecFault> {
        let text = json!({"apiVersion": V1, "kind": "ExecCredential", "status": status}).to_string();
        read(text.as_bytes(), V1, "2026-11-16T00:00:00Z".parse().expect("a time"))
    }

    #[test]
    fn a_token_or_a_certificate_is_taken_until_it_expires() {
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::default().self_signed(&key).expect("a certificate").pem();
        let found = of(json!({"token": "t", "expirationTimestamp": "2026-11-16T00:00:01Z"})).expect("a token");
        assert_eq!(found.authorization.expect("one").expose(), "Bearer t");
        let found =
            of(json!({"clientCertificateData": certificate, "clientKeyData": key.serialize_pem(), "token": null}));
        assert!(found.expect("a certificate").identity.is_some());
        let expired = of(json!({"token": "t", "expirationTimestamp": "2026-11-16T00:00:00Z"}));
        assert!(matches!(expired, Err(ExecFault::Expired)));
    }

    #[test]
    fn everything_else_is_invalid_and_not_quoted() {
        for status in [
            Value::Null,
            json!({}),
            json!({"token": ""}),
            json!({"token": "hunter2 hunter2"}),
            json!({"token": 7}),
            json!({"token": "hunter2", "expirationTimestamp": "tomorrow"}),
            json!({"clientKeyData": "hunter2"}),
            json!({"clientCertificateData": "hunter2", "clientKeyData": "hunter2"}),
        ] {
            let error = of(status.clone()).expect_err("it is invalid");
            assert!(matches!(error, ExecFault::Invalid(_)), "{status}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{status}: {error}");
        }
        let other = json!({"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential"}).to_string();
        for text in [&*other, "{", "{\"kind\": \"Secret\"}"] {
            assert!(matches!(read(text.as_bytes(), V1, Timestamp::UNIX_EPOCH), Err(ExecFault::Invalid(_))), "{text}");
        }
    }
}
