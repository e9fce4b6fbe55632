//! AppRole logins that Vault has refused. Vault locks a role after five of them, for every instance on every machine that
//! logs in with it, so they are not tried again at once.
use crate::{Failure, FailureKind};
use secret::Secret;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When the same credentials are tried again. Vault forgets refused logins after 15 minutes without any.
const AGAIN: Duration = Duration::from_mins(16);

/// What Vault and OpenBao say of credentials that they do not take, and of a role that is locked.
const REFUSALS: [&str; 3] = ["invalid role", "invalid secret", "permission denied"];

/// Those of all keys of the process, which may have the same role.
static REFUSED: Mutex<Vec<RefusedLogin>> = Mutex::new(Vec::new());

struct RefusedLogin {
    login: Login,
    at: Instant,
    why: String,
}

/// Where a login goes, and what is sent.
pub(super) type Login = Secret<String>;

/// Refuses a login that Vault has refused a while ago.
pub(super) fn refuse_again(login: &Login, secret_id_file: &Path) -> Result<(), Failure> {
    let refused = refused();
    let Some(RefusedLogin { why, .. }) = refused.iter().find(|refused| refused.login == *login) else { return Ok(()) };
    let message = format!(
        "{why}. The role id and the secret id are not tried again for 16 minutes so that Vault does not lock the role: \
        correct {}",
        secret_id_file.display()
    );
    Err(Failure::new(FailureKind::AccessDenied, message))
}

/// Notes that Vault has refused a login. What something between here and Vault refuses does not count there.
pub(super) fn note(login: Login, failure: &Failure) {
    let said = failure.message.to_lowercase();
    if REFUSALS.iter().any(|refusal| said.contains(refusal)) {
        refused().push(RefusedLogin { login, at: Instant::now(), why: failure.message.clone() });
    }
}

fn refused() -> MutexGuard<'static, Vec<RefusedLogin>> {
    let mut refused = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    forget_old(&mut refused, Instant::now());
    refused
}

fn forget_old(refused: &mut Vec<RefusedLogin>, now: Instant) {
    refused.retain(|refused| now.saturating_duration_since(refused.at) < AGAIN);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_login_is_tried_again_after_16_minutes() {
        let at = Instant::now();
        let mut refused = vec![RefusedLogin { login: Login::new(String::new()), at, why: String::new() }];
        forget_old(&mut refused, at + Duration::from_mins(15));
        assert_eq!(refused.len(), 1);
        forget_old(&mut refused, at + Duration::from_mins(16));
        assert!(refused.is_empty());
    }
}
