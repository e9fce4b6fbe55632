//! Credentials of a role by a token of another issuer: AssumeRoleWithWebIdentity of STS.
use super::credentials::{AwsCredentials, Keys, Lease, denied, read_text};
use super::requests::{chain, client, trust};
use crate::{Failure, FailureKind};
use fetch::{Method, Request};
use secret::Secret;
use std::time::Duration;
use url::form_urlencoded::Serializer;
use zeroize::Zeroizing;

/// Asks STS for credentials of the role. The request is not signed: the token is what proves it.
pub(super) fn lend(source: &AwsCredentials, timeout: Duration) -> Result<Lease, Failure> {
    let AwsCredentials::WebIdentity { role_arn, token_file, session_name, endpoint, ca_file } = source else {
        return Err(denied("these credentials are not a web identity".to_owned()));
    };
    let unreachable = |error: fetch::Error| Failure::new(FailureKind::Unreachable, format!("STS: {}", chain(&error)));
    let token = Zeroizing::new(read_text(token_file)?);
    let body = Serializer::new(String::new())
        .append_pair("Action", "AssumeRoleWithWebIdentity")
        .append_pair("Version", "2011-06-15")
        .append_pair("RoleArn", role_arn)
        .append_pair("RoleSessionName", session_name)
        .append_pair("WebIdentityToken", &token)
        .finish();
    let request = Request::new(Method::Post, &format!("{}/", endpoint.trim_end_matches('/'))).map_err(unreachable)?;
    let request = request.with_body("application/x-www-form-urlencoded; charset=utf-8", body.into_bytes());
    let answer = client(trust(ca_file.as_deref())?, timeout)?.send(&request).map_err(unreachable)?;
    let text = std::str::from_utf8(&answer.body).unwrap_or_default();
    if !answer.is_success() {
        let (code, message) = (element(text, "Code").unwrap_or_default(), element(text, "Message").unwrap_or_default());
        let kind = match answer.status {
            429 => FailureKind::Throttled,
            400 if code == "Throttling" || code == "IDPCommunicationError" => FailureKind::Throttled,
            500.. => FailureKind::Unreachable,
            _ => FailureKind::AccessDenied,
        };
        let said = objects::printable(&format!("{code}: {message}"), 300);
        return Err(Failure::new(kind, format!("AssumeRoleWithWebIdentity returned {}: {said}", answer.status)));
    }
    read(text).ok_or_else(|| Failure::new(FailureKind::Unreachable, "STS answered without credentials"))
}

fn read(answer: &str) -> Option<Lease> {
    let credentials = element(answer, "Credentials")?;
    let text = |name: &str| element(credentials, name).filter(|text| !text.contains(['<', '&'])).map(str::to_owned);
    let keys = Keys {
        access_key_id: text("AccessKeyId")?,
        secret_access_key: Secret::new(text("SecretAccessKey")?),
        session_token: Some(Secret::new(text("SessionToken")?)),
    };
    Some(Lease { keys, ends: text("Expiration")?.parse().ok()? })
}

/// What stands in the first element of this name. Credentials need no entities: one with `&` is refused above.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = &text[text.find(&format!("<{name}>"))? + name.len() + 2..];
    rest.find(&format!("</{name}>")).map(|end| rest[..end].trim()).filter(|found| !found.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_from_the_answer_of_sts() {
        let answer = "<R><AssumedRoleUser><Arn>x</Arn></AssumedRoleUser><Credentials><AccessKeyId>A</AccessKeyId>\
            <SecretAccessKey>s+/=</SecretAccessKey><SessionToken>t</SessionToken>\
            <Expiration>2026-11-18T00:00:00Z</Expiration></Credentials></R>";
        let lease = read(answer).unwrap();
        assert_eq!((lease.keys.access_key_id.as_str(), lease.keys.secret_access_key.expose().as_str()), ("A", "s+/="));
        assert_eq!(lease.ends.to_string(), "2026-11-18T00:00:00Z");
        for wrong in
            ["", "<Credentials></Credentials>", &answer.replace("Expiration", "Ends"), &answer.replace('+', "&amp;")]
        {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
