//! Tokens that are logged in for: renewed after half of their life, replaced when that fails.
use super::refused_logins::{self, Login};
use super::requests::{Server, read, read_secret};
use super::{VaultAuth, VaultSettings};
use crate::{Failure, FailureKind};
use fetch::Method;
use secret::Secret;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a token that is refused and valid is not replaced: its role may get other policies.
const OLD: Duration = Duration::from_mins(10);
/// The same where nobody can ask whether a token is valid. A login for each refusal would leave Vault full of tokens.
const OLD_UNSEEN: Duration = Duration::from_mins(1);
/// How long a token that still lives is used after no other could be had. A little less than from one probe of the plugin
/// to the next: the first request of a probe then asks and waits, and not one whose time is limited.
pub(super) const NEXT_TRY: Duration = Duration::from_secs(9);
/// No token is expected to live longer. What a server tells beyond that is more than the clock can count.
const LONGEST: Duration = Duration::from_hours(10 * 365 * 24);
/// The policies that let a token be looked up by itself.
const LOOKUP: [&str; 2] = ["default", "root"];

/// A token of Vault.
pub(super) type Token = Secret<String>;

/// The token of the last login.
#[derive(Default)]
pub(super) struct Session(Mutex<Option<Held>>);

#[derive(Clone)]
struct Held {
    token: Token,
    /// When it was logged in for.
    since: Instant,
    renew_at: Instant,
    ends: Instant,
    is_renewable: bool,
    can_be_looked_up: bool,
}

/// What a refusal of a token means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another login may help: this one is some time ago, or another has followed it.
    Replace,
    /// Vault can be asked whether the token is gone.
    LookUp,
    /// The login was a moment ago: a right is missing.
    Right,
}

impl Session {
    /// A token that is valid now.
    pub(super) fn token(&self, server: &Server) -> Result<Token, Failure> {
        let now = Instant::now();
        let mut held = self.held();
        let living = match held.as_mut() {
            Some(held) if now < held.renew_at => return Ok(held.token.clone()),
            Some(held) if now < held.ends => {
                held.renew_at = now + NEXT_TRY;
                Some(held.clone())
            }
            _ => None,
        };
        let Some(living) = living else { return Ok(held.insert(login(server)?).token.clone()) };
        // One asks, others go on with the token that still lives: an outage of the login alone does not stop the key.
        drop(held);
        let renewed = if living.is_renewable { renew(server, &living) } else { None };
        match renewed.map_or_else(|| login(server), Ok) {
            Ok(next) => Ok(self.held().insert(next).token.clone()),
            Err(_) => Ok(living.token),
        }
    }

    /// What it means that a token was refused.
    pub(super) fn refused(&self, token: &Token) -> Refused {
        match self.held().as_ref().filter(|held| held.token == *token) {
            None => Refused::Replace,
            Some(held) => held.refused(held.since.elapsed()),
        }
    }

    /// Forgets a token that was refused.
    pub(super) fn forget(&self, token: &Token) {
        self.held().take_if(|held| held.token == *token);
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn refused(&self, age: Duration) -> Refused {
        let old = if self.can_be_looked_up { OLD } else { OLD_UNSEEN };
        match age > old {
            true => Refused::Replace,
            false if self.can_be_looked_up => Refused::LookUp,
            false => Refused::Right,
        }
    }
}

fn renew(server: &Server, living: &Held) -> Option<Held> {
    let answer = server.exchange(Method::Post, "auth/token/renew-self", Some(&json!({})), Some(&living.token)).ok()?;
    let renewed = held(&read("auth/token/renew-self", &answer).ok()?)?;
    Some(Held { since: living.since, ..renewed })
}

fn login(server: &Server) -> Result<Held, Failure> {
    let (path, mut body) = match &server.settings().auth {
        VaultAuth::AppRole { mount, role_id_file, secret_id_file } => {
            let body = json!({"role_id": read_secret(role_id_file)?, "secret_id": read_secret(secret_id_file)?});
            (format!("auth/{mount}/login"), body)
        }
        VaultAuth::Certificate { mount, role, .. } => {
            (format!("auth/{mount}/login"), role.as_ref().map_or(json!({}), |role| json!({"name": role})))
        }
        VaultAuth::Token { .. } => return Err(Failure::invalid("a token needs no login")),
    };
    let answer = role_login(server, &path, &body).and_then(|role| {
        let answer = server.exchange(Method::Post, &path, Some(&body), None)?;
        Ok((role, answer))
    });
    objects::wipe(&mut body);
    let (role, answer) = answer?;
    let mut found = read(&path, &answer).map_err(|failure| {
        // Credentials that are refused: most versions of Vault answer 400, 1.13 answers 500 for a secret id.
        let is_refused = matches!(failure.kind, FailureKind::InvalidRequest | FailureKind::AccessDenied)
            || failure.message.contains("invalid secret id");
        if let Some(login) = role.filter(|_| is_refused) {
            refused_logins::note(login, &failure);
        }
        let is_denied = is_refused || failure.kind == FailureKind::Missing;
        if is_denied { Failure { kind: FailureKind::AccessDenied, ..failure } } else { failure }
    })?;
    let held = held(&found);
    objects::wipe(&mut found);
    held.ok_or_else(|| Failure::new(FailureKind::Unreachable, format!("{path} answered without a token")))
}

/// The login of an AppRole; none for other methods, which Vault does not lock.
fn role_login(server: &Server, path: &str, body: &Value) -> Result<Option<Login>, Failure> {
    let VaultSettings { address, namespace, auth: VaultAuth::AppRole { secret_id_file, .. }, .. } = server.settings()
    else {
        return Ok(None);
    };
    let login = Login::new(format!("{address} {} {path} {body}", namespace.as_deref().unwrap_or_default()));
    refused_logins::refuse_again(&login, secret_id_file).map(|()| Some(login))
}

fn held(answer: &Value) -> Option<Held> {
    let auth = &answer["auth"];
    let token = Secret::new(auth["client_token"].as_str()?.to_owned());
    let life = Duration::from_secs(auth["lease_duration"].as_u64()?);
    // A token without an end is looked at once a day.
    let life = if life.is_zero() { Duration::from_secs(24 * 3600) } else { life.min(LONGEST) };
    let now = Instant::now();
    let is_renewable = auth["renewable"].as_bool().unwrap_or_default();
    let mut policies = auth["policies"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let can_be_looked_up = policies.any(|policy| LOOKUP.contains(&policy));
    Some(Held { token, since: now, renew_at: now + life / 2, ends: now + life, is_renewable, can_be_looked_up })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_a_life_beyond_all_clocks_is_taken() {
        let answer = json!({"auth": {"client_token": "t", "lease_duration": u64::MAX, "renewable": true}});
        let held = held(&answer).unwrap();
        assert_eq!((held.ends - held.since, held.renew_at - held.since), (LONGEST, LONGEST / 2));
    }

    #[test]
    fn a_token_without_an_end_is_looked_at_once_a_day() {
        let answer = json!({"auth": {"client_token": "t", "lease_duration": 0, "renewable": false}});
        let held = held(&answer).unwrap();
        assert_eq!(held.ends - held.since, Duration::from_hours(24));
    }

    #[test]
    fn a_token_that_cannot_be_looked_up_is_replaced_only_some_time_after_its_login() {
        let answer = |policies: &[&str]| json!({"auth": {"client_token": "t", "lease_duration": 60, "renewable": true, "policies": policies}});
        let [unseen, seen] = [&["kms"][..], &["default", "kms"]].map(|policies| held(&answer(policies)).unwrap());
        let means = |held: &Held| [1, 61, 601].map(|seconds| held.refused(Duration::from_secs(seconds)));
        assert_eq!(means(&unseen), [Refused::Right, Refused::Replace, Refused::Replace]);
        assert_eq!(means(&seen), [Refused::LookUp, Refused::LookUp, Refused::Replace]);
    }
}
