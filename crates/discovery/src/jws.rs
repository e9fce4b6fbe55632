//! Signatures of cluster-info: detached JWS with HS256, byte for byte as kube-controller-manager writes them.
use crate::{
    constant_time,
    token::{BootstrapToken, TokenId},
};
use aws_lc_rs::hmac::{self, HMAC_SHA256};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

/// Why a signature proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwsError {
    /// It doesn't have the three parts of one.
    #[error("the signature is not a detached JWS: it does not have three parts")]
    NotCompact,
    /// Its middle part isn't empty: it brings a content of its own.
    #[error("the signature contains a payload, which a detached JWS must not have")]
    AttachedPayload,
    /// A part of it isn't base64url without padding.
    #[error("the signature is not base64url without padding")]
    NotBase64,
    /// Its header is no JSON object.
    #[error("the signature's header is not JSON")]
    NoHeader,
    /// It isn't made with HMAC-SHA256.
    #[error("the signature names another algorithm than HS256")]
    OtherAlgorithm,
    /// It names another token.
    #[error("the signature names another token")]
    OtherToken,
    /// Its header says the right things in other bytes.
    #[error("the signature's header differs from the form that Kubernetes writes")]
    OtherHeader,
    /// All is right but the MAC: another content, or another secret.
    #[error("the signature is invalid: the content was changed, or it was signed with another token")]
    WrongMac,
}

/// The signature of a content by a token.
pub fn sign(token: &BootstrapToken, content: &[u8]) -> String {
    Content::new(content).sign(token)
}

/// Whether this is the token's signature of the content. Only the very bytes that [`sign`] writes are accepted.
pub fn verify(jws: &str, token: &BootstrapToken, content: &[u8]) -> Result<(), JwsError> {
    if constant_time::equal(jws.as_bytes(), sign(token, content).as_bytes()) {
        return Ok(());
    }
    Err(objection(jws, &token.id))
}

/// A content that many tokens sign.
pub struct Content {
    encoded: String,
}

impl Content {
    /// Takes a content.
    pub fn new(content: &[u8]) -> Self {
        Self { encoded: URL_SAFE_NO_PAD.encode(content) }
    }

    /// Its signature by a token.
    pub fn sign(&self, token: &BootstrapToken) -> String {
        self.sign_raw(token.id.as_str(), token.secret.expose().as_bytes())
    }

    /// Its signature by any id and secret, also such as no token has; upstream's own test vectors use them.
    pub fn sign_raw(&self, id: &str, secret: &[u8]) -> String {
        let header = URL_SAFE_NO_PAD.encode(format!("{{\"alg\":\"HS256\",\"kid\":{}}}", go_text(id)));
        let mut mac = hmac::Context::with_key(&hmac::Key::new(HMAC_SHA256, secret));
        for part in [header.as_str(), ".", &self.encoded] {
            mac.update(part.as_bytes());
        }
        format!("{header}..{}", URL_SAFE_NO_PAD.encode(mac.sign()))
    }
}

/// A text as Go's JSON writes it.
fn go_text(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// What is wrong with a signature that isn't the expected one.
fn objection(jws: &str, id: &TokenId) -> JwsError {
    let parts: Vec<_> = jws.split('.').collect();
    let [header, payload, mac] = parts[..] else { return JwsError::NotCompact };
    if !payload.is_empty() {
        return JwsError::AttachedPayload;
    }
    let Ok(header) = URL_SAFE_NO_PAD.decode(header) else { return JwsError::NotBase64 };
    let Ok(Value::Object(members)) = serde_json::from_slice(&header) else { return JwsError::NoHeader };
    let is = |member: &str, value: &str| members.get(member).and_then(Value::as_str) == Some(value);
    match () {
        () if !is("alg", "HS256") => JwsError::OtherAlgorithm,
        () if !is("kid", id.as_str()) => JwsError::OtherToken,
        () if URL_SAFE_NO_PAD.decode(mac).is_err() => JwsError::NotBase64,
        () if header != format!("{{\"alg\":\"HS256\",\"kid\":\"{id}\"}}").as_bytes() => JwsError::OtherHeader,
        () => JwsError::WrongMac,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token(text: &str) -> BootstrapToken {
        text.parse().unwrap()
    }

    fn refused(header: &str, payload: &str) -> JwsError {
        let token = token("abcdef.0123456789abcdef");
        let jws = sign(&token, b"content");
        let mac = jws.rsplit('.').next().unwrap();
        verify(&format!("{}.{payload}.{mac}", URL_SAFE_NO_PAD.encode(header)), &token, b"content").unwrap_err()
    }

    #[test]
    fn every_refusal_says_why() {
        assert_eq!(refused(r#"{"alg":"none","kid":"abcdef"}"#, ""), JwsError::OtherAlgorithm);
        assert_eq!(refused(r#"{"alg":"HS512","kid":"abcdef"}"#, ""), JwsError::OtherAlgorithm);
        assert_eq!(refused(r#"{"alg":"HS256","kid":"abcdeg"}"#, ""), JwsError::OtherToken);
        assert_eq!(refused(r#"{"kid":"abcdef","alg":"HS256"}"#, ""), JwsError::OtherHeader);
        assert_eq!(refused(r#"{"alg":"HS256","kid":"abcdef"}"#, "Y29udGVudA"), JwsError::AttachedPayload);
        assert_eq!(refused("[]", ""), JwsError::NoHeader);
        let token = token("abcdef.0123456789abcdef");
        let jws = sign(&token, b"content");
        assert_eq!(verify(&jws, &token, b"other"), Err(JwsError::WrongMac));
        assert_eq!(verify(&format!("{jws}="), &token, b"content"), Err(JwsError::NotBase64));
        assert_eq!(verify("!..", &token, b"content"), Err(JwsError::NotBase64));
        assert_eq!(verify("", &token, b"content"), Err(JwsError::NotCompact));
        assert_eq!(verify(&format!("{jws}.x"), &token, b"content"), Err(JwsError::NotCompact));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]
        #[test]
        fn a_signature_fits_its_token_and_content_and_nothing_else(
            one in "[a-z0-9]{6}[.][a-z0-9]{16}", other in "[a-z0-9]{6}[.][a-z0-9]{16}",
            content: Vec<u8>, at: proptest::sample::Index,
        ) {
            let jws = sign(&token(&one), &content);
            prop_assert_eq!(verify(&jws, &token(&one), &content), Ok(()));
            prop_assert_eq!(verify(&jws, &token(&other), &content).is_ok(), one == other);
            let mut longer = content.clone();
            longer.insert(at.index(content.len() + 1), 0);
            prop_assert_eq!(verify(&jws, &token(&one), &longer), Err(JwsError::WrongMac));
        }
    }
}
