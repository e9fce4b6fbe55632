//! Deletes what an upload has left in a cluster: the Secret first, so that it never outlives its owner.
use super::path;
use crate::{ApiServer, Deleted, Effect, Precondition, Result};
use certs::ttl_token;
use discovery::{TokenId, token_secret};

/// What was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedCerts {
    /// Whether there was a Secret.
    pub secret: bool,
    /// Whether it is still there, since finalizers keep it; never after a dry run.
    pub remains: bool,
    /// The TTL tokens that there were.
    pub tokens: Vec<TokenId>,
}

impl ApiServer {
    /// Deletes the Secret, and all tokens that serve to delete it.
    pub fn delete_certs(&self, effect: Effect) -> Result<DeletedCerts> {
        let secret = self.delete(&path(), &Precondition::default(), effect)? == Deleted::Deleted;
        let remains = effect == Effect::Real
            && self.secret(&path())?.is_some_and(|secret| secret.metadata.deletion_timestamp.is_some());
        let mut tokens = Vec::new();
        // Without the Secret, each of them is one that owns nothing.
        for token in ttl_token::orphans(&self.tokens()?, None) {
            let only_if = Precondition { uid: token.metadata.uid.clone(), resource_version: None };
            let deleted = self.delete(&super::secret_path(&token.metadata.name), &only_if, effect)?;
            tokens.extend(token_secret::id(token).ok().filter(|_| deleted == Deleted::Deleted));
        }
        Ok(DeletedCerts { secret, remains, tokens })
    }
}
