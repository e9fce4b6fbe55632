//! Tokens that are logged in for: renewed after half of their life, replaced when that fails.
use super::VaultAuth;
use super::requests::{Server, read, read_secret};
use crate::{Failure, FailureKind};
use fetch::Method;
use secret::Secret;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A token of Vault.
pub(super) type Token = Secret<String>;

/// The token of the last login.
#[derive(Default)]
pub(super) struct Session(Option<Held>);

struct Held {
    token: Token,
    renew_at: Instant,
    ends: Instant,
    is_renewable: bool,
}

impl Session {
    /// A token that is valid now.
    pub(super) fn token(&mut self, server: &Server) -> Result<Token, Failure> {
        let now = Instant::now();
        if let Some(held) = &self.0 {
            if now < held.renew_at {
                return Ok(held.token.clone());
            }
            let renewed = if held.is_renewable { renew(server, &held.token) } else { None };
            if let Some(renewed) = renewed {
                let token = renewed.token.clone();
                self.0 = Some(renewed);
                return Ok(token);
            }
        }
        match login(server) {
            Ok(held) => {
                let token = held.token.clone();
                self.0 = Some(held);
                Ok(token)
            }
            // The old token still lives: an outage of the login alone does not stop the key.
            Err(failure) => match &self.0 {
                Some(held) if now < held.ends => Ok(held.token.clone()),
                _ => Err(failure),
            },
        }
    }

    /// Forgets a token that was refused.
    pub(super) fn forget(&mut self, token: &Token) {
        if self.0.as_ref().is_some_and(|held| held.token == *token) {
            self.0 = None;
        }
    }
}

fn renew(server: &Server, token: &Token) -> Option<Held> {
    let answer = server.exchange(Method::Post, "auth/token/renew-self", Some(&json!({})), Some(token)).ok()?;
    held(&read("auth/token/renew-self", &answer).ok()?)
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
    let answer = server.exchange(Method::Post, &path, Some(&body), None);
    objects::wipe(&mut body);
    let answer = answer?;
    let mut found = read(&path, &answer).map_err(|failure| {
        // Credentials that are refused: most versions of Vault answer 400, 1.13 answers 500 for a secret id.
        let is_refused = matches!(failure.kind, FailureKind::InvalidRequest | FailureKind::Missing)
            || failure.message.contains("invalid secret id");
        if is_refused { Failure { kind: FailureKind::AccessDenied, ..failure } } else { failure }
    })?;
    let held = held(&found);
    objects::wipe(&mut found);
    held.ok_or_else(|| Failure::new(FailureKind::Unreachable, format!("{path} answered without a token")))
}

fn held(answer: &Value) -> Option<Held> {
    let auth = &answer["auth"];
    let token = Secret::new(auth["client_token"].as_str()?.to_owned());
    let life = Duration::from_secs(auth["lease_duration"].as_u64()?);
    // A token without an end is looked at once a day.
    let life = if life.is_zero() { Duration::from_secs(24 * 3600) } else { life };
    let now = Instant::now();
    let is_renewable = auth["renewable"].as_bool().unwrap_or_default();
    Some(Held { token, renew_at: now + life / 2, ends: now + life, is_renewable })
}
