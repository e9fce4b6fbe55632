//! The canary: an expired token and a Secret that it owns. Whether a cluster deletes them shows whether it would ever
//! delete the kubeadm-certs Secret.
use crate::owner::Owner;
use discovery::{BootstrapToken, TokenSettings, expiry::rfc3339};
use jiff::Timestamp;
use objects::{Duration, Secret};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The label of the token and of the Secret, by which those of interrupted runs are found.
pub const LABEL: &str = "machineadm.cluster.x-k8s.io/canary";

/// What the token is for, in the list of tokens.
pub const DESCRIPTION: &str = "Canary of machineadm: shows that the token cleaner deletes expired tokens";
/// How long to wait for the deletion of both. A leader election of kube-controller-manager alone takes 15 s.
pub const PATIENCE: Duration = Duration::seconds(60);
/// How long a user may have it wait: less than [`LEFT`], so that no other run deletes a canary that is still watched. Its
/// deletion would pass for the cluster's.
pub const LONGEST_PATIENCE: Duration = Duration::minutes(5);
/// What the name of the Secret starts with; the token's id follows, so that two runs do not meet.
const NAME_PREFIX: &str = "machineadm-canary-";
/// So long ago no run has begun that still looks at its canary: many times [`PATIENCE`].
const LEFT: Duration = Duration::minutes(-10);
const EXPIRED: &str = "2000-01-01T00:00:00Z";

/// The token, which has expired before it is created and which nobody can use.
pub fn token(token: BootstrapToken) -> Secret {
    let (description, expires) = (DESCRIPTION.to_owned(), rfc3339(EXPIRED));
    labelled(TokenSettings { description, expires, ..TokenSettings::new(token) }.secret())
}

/// The Secret, which has no content and goes when its owner goes.
pub fn secret(owner: &Owner) -> Secret {
    labelled(Secret::new(owner.metadata(&format!("{NAME_PREFIX}{}", owner.id)), "Opaque", BTreeMap::new()))
}

fn labelled(mut secret: Secret) -> Secret {
    secret.metadata.rest.insert("labels".to_owned(), json!({LABEL: ""}));
    secret
}

/// Whether a canary was left by a run that was interrupted: it is older than any run that still looks at its own.
pub fn is_left(canary: &Secret, now: Timestamp) -> bool {
    let created = canary.metadata.rest.get("creationTimestamp").and_then(Value::as_str).and_then(rfc3339);
    created.is_some_and(|created| created.since(now) < LEFT)
}

/// Whether an object is still there, by its UID: another of the same name does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    Present,
    /// It was deleted.
    Gone,
}

/// What the canary shows of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// Expired tokens are deleted, and so is what they own.
    Works,
    /// The token cleaner does not run, or not yet. Nothing is known of the garbage collector.
    TokenCleanerMissing,
    /// Expired tokens are deleted, but what they own stays, or is not deleted yet.
    GarbageCollectorMissing,
}

impl Cleanup {
    /// What is seen now. Only [`Cleanup::Works`] is final before [`PATIENCE`] is over.
    pub fn seen(token: Presence, secret: Presence) -> Self {
        match (token, secret) {
            (Presence::Gone, Presence::Gone) => Self::Works,
            (Presence::Gone, Presence::Present) => Self::GarbageCollectorMissing,
            // A Secret that is gone before its owner was deleted by something else.
            (Presence::Present, _) => Self::TokenCleanerMissing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::{token_secret, usable};

    #[test]
    fn the_canarys_token_is_due_for_every_cleaner_and_of_no_use() {
        let secret = token("abcdef.0123456789abcdef".parse().unwrap());
        let now: Timestamp = "2000-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(usable::cleaning(&secret, now), usable::Cleaning::Delete);
        assert_eq!(secret.value("expiration"), Some(&b"2000-01-01T00:00:00Z"[..]));
        let keys: Vec<_> = secret.data.keys().map(String::as_str).collect();
        assert_eq!(keys, ["description", "expiration", "token-id", "token-secret"]);
        let shown = token_secret::token(&secret).unwrap();
        assert!(usable::authenticates(&secret, &shown, now).is_err() && usable::signs(&secret, now).is_err());
    }

    #[test]
    fn the_canarys_secret_holds_nothing_and_is_owned_by_its_token() {
        let owner = Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() };
        let secret = secret(&owner);
        assert_eq!((secret.metadata.name.as_str(), secret.data.len()), ("machineadm-canary-abcdef", 0));
        assert_eq!(secret.metadata.namespace, token_secret::NAMESPACE);
        assert_eq!(Owner::named_by(&secret.metadata), Some(owner));
    }

    #[test]
    fn only_a_canary_that_nobody_can_be_looking_at_was_left() {
        let mut canary = secret(&Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() });
        assert_eq!(canary.metadata.rest["labels"], json!({LABEL: ""}));
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        assert!(!is_left(&canary, now));
        for (created, left) in
            [("2026-11-16T11:49:59Z", true), ("2026-11-16T11:50:00Z", false), ("2026-11-16T12:00:01Z", false)]
        {
            canary.metadata.rest.insert("creationTimestamp".to_owned(), json!(created));
            assert_eq!(is_left(&canary, now), left, "{created}");
        }
    }

    #[test]
    fn no_canary_is_left_while_a_run_may_look_at_it() {
        let mut canary = secret(&Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() });
        let created: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        canary.metadata.rest.insert("creationTimestamp".to_owned(), json!(created.to_string()));
        let longest = jiff::SignedDuration::from_nanos(LONGEST_PATIENCE.as_nanoseconds());
        assert!(PATIENCE < LONGEST_PATIENCE && !is_left(&canary, created + longest + longest));
    }

    #[test]
    fn what_is_left_of_the_canary_tells_which_controller_is_missing() {
        use Presence::{Gone, Present};
        assert_eq!(Cleanup::seen(Gone, Gone), Cleanup::Works);
        assert_eq!(Cleanup::seen(Gone, Present), Cleanup::GarbageCollectorMissing);
        assert_eq!(Cleanup::seen(Present, Present), Cleanup::TokenCleanerMissing);
        assert_eq!(Cleanup::seen(Present, Gone), Cleanup::TokenCleanerMissing);
    }
}
