//! Verifies Signature Version 4 as AWS documents it, for the fake: a second implementation, beside the one that signs.
use crate::fake_aws_kms::Account;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};
use testbed::fake::Seen;

/// How far a client's clock may be off.
const SKEW: Duration = Duration::from_secs(300);

/// Whose request it is; otherwise the name of the error that AWS answers with.
pub(crate) fn verify<'a>(
    seen: &Seen,
    region: &str,
    accounts: &'a BTreeMap<String, Account>,
) -> Result<&'a Account, &'static str> {
    let header = seen.header("authorization").ok_or("MissingAuthenticationTokenException")?;
    let fields = header.strip_prefix("AWS4-HMAC-SHA256 ").ok_or("IncompleteSignatureException")?;
    let field = |name: &str| fields.split(", ").find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    let incomplete = "IncompleteSignatureException";
    let scope: Vec<&str> = field("Credential").ok_or(incomplete)?.split('/').collect();
    let &[id, day, scope_region, "kms", "aws4_request"] = scope.as_slice() else { return Err(incomplete) };
    let account = accounts.get(id).ok_or("UnrecognizedClientException")?;
    if account.is_expired {
        return Err("ExpiredTokenException");
    }
    if seen.header("x-amz-security-token") != account.token.as_deref() {
        return Err("UnrecognizedClientException");
    }
    let time = seen.header("x-amz-date").ok_or(incomplete)?;
    let names: Vec<&str> = field("SignedHeaders").ok_or(incomplete)?.split(';').collect();
    let needed = ["content-type", "host", "x-amz-date", "x-amz-target"];
    let is_complete = needed.iter().all(|name| names.contains(name)) && names.is_sorted();
    let token_is_signed = account.token.is_none() || names.contains(&"x-amz-security-token");
    if scope_region != region || !time.starts_with(day) || !is_complete || !token_is_signed || !is_recent(time) {
        return Err("InvalidSignatureException");
    }
    let mut canonical = "POST\n/\n\n".to_owned();
    for name in &names {
        canonical += &format!("{name}:{}\n", seen.header(name).ok_or("InvalidSignatureException")?.trim());
    }
    canonical += &format!("\n{}\n{}", names.join(";"), hex(digest(&SHA256, &seen.body).as_ref()));
    let scope = format!("{day}/{region}/kms/aws4_request");
    let digest = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let key = [region, "kms", "aws4_request"]
        .iter()
        .fold(mac(format!("AWS4{}", account.secret).as_bytes(), day), |key, part| mac(&key, part));
    let is_ours = field("Signature") == Some(hex(&mac(&key, &text)).as_str());
    if is_ours { Ok(account) } else { Err("InvalidSignatureException") }
}

fn is_recent(time: &str) -> bool {
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).ok();
    let at = at.and_then(|at| at.to_zoned(jiff::tz::TimeZone::UTC).ok()).map(|at| SystemTime::from(at.timestamp()));
    let now = SystemTime::now();
    at.is_some_and(|at| now.duration_since(at).or(at.duration_since(now)).is_ok_and(|off| off < SKEW))
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
