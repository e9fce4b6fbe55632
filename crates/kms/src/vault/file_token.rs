//! The token in a file: the plugin renews it, and who writes the file replaces it.
use super::login::{NEXT_TRY, Token};
use super::requests::{Server, read, read_secret};
use crate::Failure;
use fetch::Method;
use secret::Secret;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When a renewal that Vault refuses is tried again: the token may get that right.
const REFUSED: Duration = Duration::from_mins(10);
/// The longest time to the next renewal.
const LONGEST: Duration = Duration::from_hours(24);

/// The token that the file had last, and when it is renewed next.
#[derive(Default)]
pub(super) struct FileToken(Mutex<Option<(Token, Instant)>>);

impl FileToken {
    /// The token in the file now. That a renewal fails is no failure: the token may work all the same.
    pub(super) fn token(&self, file: &Path, server: &Server) -> Result<Token, Failure> {
        let token = Secret::new(read_secret(file)?);
        if self.is_due(&token) {
            self.renew_after(&token, renewed(server, &token));
        }
        Ok(token)
    }

    /// Whether to renew now. One asks; others go on meanwhile.
    fn is_due(&self, token: &Token) -> bool {
        let now = Instant::now();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.as_ref().is_none_or(|(known, next)| known != token || now >= *next);
        if is_due {
            *last = Some((token.clone(), now + NEXT_TRY));
        }
        is_due
    }

    fn renew_after(&self, token: &Token, pause: Duration) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, next)) = last.as_mut().filter(|(known, _)| known == token) {
            *next = Instant::now() + pause;
        }
    }
}

/// Renews a token; when to do that again.
fn renewed(server: &Server, token: &Token) -> Duration {
    let path = "auth/token/renew-self";
    let Ok(answer) = server.exchange(Method::Post, path, Some(&json!({})), Some(token)) else { return NEXT_TRY };
    match answer.status {
        // It is not renewable, or has not the right to renew itself.
        400 | 403 => REFUSED,
        _ => read(path, &answer).ok().and_then(half_a_life).unwrap_or(NEXT_TRY),
    }
}

/// Half of the life that a renewal has left.
fn half_a_life(mut answer: Value) -> Option<Duration> {
    let life = answer["auth"]["lease_duration"].as_u64().map(Duration::from_secs);
    objects::wipe(&mut answer);
    Some(match life? {
        // It has no end.
        Duration::ZERO => LONGEST,
        life => (life / 2).min(LONGEST),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_renewal_is_after_half_of_the_life_and_at_least_once_a_day() {
        let after = |seconds: u64| half_a_life(json!({"auth": {"lease_duration": seconds}}));
        assert_eq!(after(3600), Some(Duration::from_secs(1800)));
        for endless in [0, u64::MAX] {
            assert_eq!(after(endless), Some(LONGEST));
        }
        assert_eq!(half_a_life(json!({"auth": {}})), None);
    }
}
