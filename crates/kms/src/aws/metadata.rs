//! Credentials of the instance's role, from its metadata service: IMDSv2, with a session token.
use super::credentials::{Keys, Lease, denied};
use super::requests::{chain, client, trust};
use crate::{Failure, FailureKind};
use fetch::{Client, Method, Request, Trust};
use secret::Secret;
use serde_json::Value;
use std::time::Duration;

const ROLE: &str = "/latest/meta-data/iam/security-credentials/";
/// How long the session token lives that these few requests need.
const SESSION: &str = "60";

/// Asks for the credentials of the role that the instance has.
pub(super) fn lend(endpoint: &str, timeout: Duration) -> Result<Lease, Failure> {
    // Plain HTTP has no certificate to verify: a machine without CA certificates of the system has a role, too.
    let trust = if endpoint.starts_with("http://") { Trust::Unverified } else { trust(None)? };
    let client = client(trust, timeout)?;
    let ask = |method, path: &str, header: (&str, &str)| ask(&client, endpoint, (method, path), header);
    let session = ask(Method::Put, "/latest/api/token", ("X-aws-ec2-metadata-token-ttl-seconds", SESSION))?;
    let header = ("X-aws-ec2-metadata-token", session.as_str());
    let role = ask(Method::Get, ROLE, header)?;
    let role = role.lines().next().unwrap_or_default().trim();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@-_".contains(&byte);
    if role.is_empty() || !role.bytes().all(is_name) {
        return Err(denied("the instance has no role: attach an instance profile".to_owned()));
    }
    let mut answer: Value =
        serde_json::from_str(&ask(Method::Get, &format!("{ROLE}{role}"), header)?).unwrap_or_default();
    let lease = read(&answer);
    objects::wipe(&mut answer);
    lease.ok_or_else(|| denied(format!("the metadata service has no valid credentials of the role {role}")))
}

fn read(answer: &Value) -> Option<Lease> {
    let text = |name: &str| answer[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let keys = Keys {
        access_key_id: text("AccessKeyId")?,
        secret_access_key: Secret::new(text("SecretAccessKey")?),
        session_token: Some(Secret::new(text("Token")?)),
    };
    let is_success = answer["Code"].as_str() == Some("Success");
    is_success.then_some(Lease { keys, ends: text("Expiration")?.parse().ok()? })
}

fn ask(client: &Client, endpoint: &str, of: (Method, &str), header: (&str, &str)) -> Result<String, Failure> {
    let (method, path) = of;
    let unreachable = |error: fetch::Error| {
        Failure::new(FailureKind::Unreachable, format!("the instance metadata service: {}", chain(&error)))
    };
    let url = format!("{}{path}", endpoint.trim_end_matches('/'));
    let request = Request::to_metadata(method, &url).map_err(unreachable)?;
    let answer = client.send(&request.with_header(header.0, Secret::new(header.1.to_owned()))).map_err(unreachable)?;
    if !answer.is_success() {
        let kind =
            if matches!(answer.status, 401 | 403 | 404) { FailureKind::AccessDenied } else { FailureKind::Unreachable };
        return Err(Failure::new(kind, format!("{path} of the instance metadata service returned {}", answer.status)));
    }
    String::from_utf8(answer.body.to_vec())
        .map_err(|_| denied(format!("{path} of the instance metadata service is not text")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_that_the_service_could_not_get_are_none() {
        let answer = |code: &str| {
            json!({
                "Code": code, "AccessKeyId": "A", "SecretAccessKey": "s", "Token": "t", "Expiration": "2026-11-18T00:00:00Z",
            })
        };
        assert_eq!(read(&answer("Success")).unwrap().keys.access_key_id, "A");
        assert!(read(&answer("AssumeRoleUnauthorizedAccess")).is_none());
    }
}
