//! Where credentials of AWS come from, and how long they are used.
use super::{metadata, shared_file, web_identity};
use crate::{Failure, FailureKind};
use jiff::{SignedDuration, Timestamp};
use secret::Secret;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Before its end credentials are replaced.
const BEFORE_END: SignedDuration = SignedDuration::from_mins(5);
/// How long credentials that still live are used after new ones could not be had. A little less than from one probe of the
/// plugin to the next: the first request of a probe then asks and waits, and not one whose time is limited.
const NEXT_TRY: SignedDuration = SignedDuration::from_secs(9);
/// Larger files are no credentials.
const FILE_LIMIT: u64 = 64 << 10;

/// Where credentials come from. Files are read again for each request, so that they can be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsCredentials {
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    Environment,
    /// A file such as `~/.aws/credentials`.
    SharedFile {
        /// The file.
        path: PathBuf,
        /// The section in it.
        profile: String,
    },
    /// A directory with the files `aws_access_key_id`, `aws_secret_access_key` and, where there is one,
    /// `aws_session_token`: a mounted Secret.
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The role of the instance, from its metadata service (IMDSv2).
    InstanceMetadata {
        /// The URL of the service.
        endpoint: String,
    },
    /// A role that a token of another issuer stands for, such as a service account's.
    WebIdentity {
        /// The role.
        role_arn: String,
        /// The file with the token.
        token_file: PathBuf,
        /// The name of the session, which CloudTrail shows.
        session_name: String,
        /// The URL of STS.
        endpoint: String,
        /// CA certificates (PEM) for STS; without, those of the system.
        ca_file: Option<PathBuf>,
    },
}

/// What requests are signed with.
#[derive(Clone)]
pub(super) struct Keys {
    pub(super) access_key_id: String,
    pub(super) secret_access_key: Secret<String>,
    pub(super) session_token: Option<Secret<String>>,
}

/// Credentials with an end.
pub(super) struct Lease {
    pub(super) keys: Keys,
    pub(super) ends: Timestamp,
}

/// The source, and what it has lent.
pub(super) struct CredentialSource {
    source: AwsCredentials,
    timeout: Duration,
    lent: Mutex<Option<Lent>>,
}

struct Lent {
    lease: Lease,
    replace_at: Timestamp,
}

impl CredentialSource {
    pub(super) fn new(source: AwsCredentials, timeout: Duration) -> Self {
        Self { source, timeout, lent: Mutex::default() }
    }

    /// Credentials that are valid now.
    pub(super) fn keys(&self) -> Result<Keys, Failure> {
        match &self.source {
            AwsCredentials::Environment => from_environment(),
            AwsCredentials::SharedFile { path, profile } => shared_file::read(path, profile),
            AwsCredentials::Directory { path } => from_directory(path),
            AwsCredentials::InstanceMetadata { endpoint } => self.lend(|| metadata::lend(endpoint, self.timeout)),
            AwsCredentials::WebIdentity { .. } => self.lend(|| web_identity::lend(&self.source, self.timeout)),
        }
    }

    /// Forgets what was lent, since AWS refused it, unless another call has replaced it already; whether asking again can
    /// bring others.
    pub(super) fn forget(&self, refused: &Keys) -> bool {
        self.lent().take_if(|held| held.lease.keys.access_key_id == refused.access_key_id);
        matches!(self.source, AwsCredentials::InstanceMetadata { .. } | AwsCredentials::WebIdentity { .. })
    }

    fn lend(&self, ask: impl FnOnce() -> Result<Lease, Failure>) -> Result<Keys, Failure> {
        let now = Timestamp::now();
        let mut lent = self.lent();
        let still_lives = match lent.as_mut() {
            Some(held) if now < held.replace_at => return Ok(held.lease.keys.clone()),
            Some(held) if now < held.lease.ends => {
                held.replace_at = now + NEXT_TRY;
                Some(held.lease.keys.clone())
            }
            _ => None,
        };
        let Some(keys) = still_lives else { return Ok(hold(&mut lent, ask()?, now)) };
        // One asks, others go on with what still lives: an outage of its source alone does not stop the key.
        drop(lent);
        Ok(ask().map_or(keys, |lease| hold(&mut self.lent(), lease, now)))
    }

    fn lent(&self) -> MutexGuard<'_, Option<Lent>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes what was lent, and when it is replaced.
fn hold(lent: &mut Option<Lent>, lease: Lease, now: Timestamp) -> Keys {
    let life = lease.ends.duration_since(now);
    let replace_at = now + (life - BEFORE_END).max(life / 2);
    let keys = lease.keys.clone();
    *lent = Some(Lent { lease, replace_at });
    keys
}

fn from_environment() -> Result<Keys, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let required =
        |name: &str| variable(name).ok_or_else(|| denied(format!("the environment variable {name} is not set")));
    Ok(Keys {
        access_key_id: required("AWS_ACCESS_KEY_ID")?,
        secret_access_key: Secret::new(required("AWS_SECRET_ACCESS_KEY")?),
        session_token: variable("AWS_SESSION_TOKEN").map(Secret::new),
    })
}

fn from_directory(path: &Path) -> Result<Keys, Failure> {
    // The kubelet replaces a Secret by turning this link: read behind it, all files are of one version.
    let version = fs::canonicalize(path.join("..data"));
    let path = version.as_deref().unwrap_or(path);
    let token = path.join("aws_session_token");
    Ok(Keys {
        access_key_id: read_text(&path.join("aws_access_key_id"))?,
        secret_access_key: Secret::new(read_text(&path.join("aws_secret_access_key"))?),
        session_token: if token.exists() { Some(Secret::new(read_text(&token)?)) } else { None },
    })
}

/// A credential in a file, without the line's end.
pub(super) fn read_text(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let found = fs::metadata(path).and_then(|found| {
        let is_small = found.is_file() && found.len() <= FILE_LIMIT;
        if is_small { fs::read_to_string(path) } else { Err(std::io::Error::other("not a file of at most 64 KiB")) }
    });
    let text = found.map_err(|error| denied(format!("cannot read the credentials {shown}: {error}")))?;
    let text = text.trim();
    if text.is_empty() { Err(denied(format!("the credentials {shown} are empty"))) } else { Ok(text.to_owned()) }
}

pub(super) fn denied(message: String) -> Failure {
    Failure::new(FailureKind::AccessDenied, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_replaced_5_minutes_before_their_end_or_after_half_of_a_short_life() {
        let now = Timestamp::now();
        for (life, used) in [(60, 55), (20, 15), (8, 4), (2, 1)] {
            let keys = Keys { access_key_id: String::new(), secret_access_key: Secret::default(), session_token: None };
            let mut lent = None;
            hold(&mut lent, Lease { keys, ends: now + SignedDuration::from_mins(life) }, now);
            assert_eq!(lent.unwrap().replace_at, now + SignedDuration::from_mins(used), "{life} minutes");
        }
    }
}
