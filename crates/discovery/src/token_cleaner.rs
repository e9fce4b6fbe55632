//! What kube-controller-manager's TokenCleaner has to do: which expired tokens are deleted, and when to look again.
use crate::{
    expiry::Expiry,
    moment::{Moment, earliest},
    token_secret, usable,
};
use jiff::Timestamp;
use objects::Secret;

/// What the cleaner has to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaning {
    /// Secrets to delete.
    pub delete: Vec<Due>,
    /// When the next token ends.
    pub next: Option<Moment>,
}

/// A Secret to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its name.
    pub name: String,
    /// Which object of that name: the precondition of its deletion, so that a new token of the same id stays.
    pub uid: Option<String>,
    /// Why.
    pub reason: Reason,
}

/// Why a token is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has ended at this time.
    Expired(Moment),
    /// Its expiration is no time.
    UnreadableExpiration,
}

/// What the cleaner has to do, given all Secrets that may be tokens.
pub fn decide(secrets: &[Secret], now: Timestamp) -> Cleaning {
    let mut cleaning = Cleaning::default();
    for secret in secrets {
        match usable::cleaning(secret, now) {
            usable::Cleaning::Wait(moment) => cleaning.next = earliest(cleaning.next, Some(moment)),
            usable::Cleaning::Delete => cleaning.delete.push(Due {
                name: secret.metadata.name.clone(),
                uid: secret.metadata.uid.clone(),
                reason: reason(token_secret::expiry(secret)),
            }),
            usable::Cleaning::Ignore(_) | usable::Cleaning::BeingDeleted | usable::Cleaning::Keep => {}
        }
    }
    cleaning
}

fn reason(expiry: Expiry) -> Reason {
    match expiry {
        Expiry::At(moment) => Reason::Expired(moment),
        Expiry::Never | Expiry::Unreadable => Reason::UnreadableExpiration,
    }
}
