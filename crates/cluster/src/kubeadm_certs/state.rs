//! What a cluster has of the certificates copy now; nothing secret of it.
use super::{path, token_path};
use crate::{ApiServer, Result};
use certs::{Owner, secret_object};
use discovery::{Expiry, token_secret};
use objects::Secret;

/// The Secret kubeadm-certs as it stands in a cluster.
#[derive(Clone, Debug)]
pub struct CertsState {
    /// The names of its entries.
    pub entries: Vec<String>,
    /// When it was created, as the API server writes it.
    pub created: Option<String>,
    /// Whether somebody has asked for its deletion.
    pub being_deleted: bool,
    /// Whether it has the type that kubeadm gives it.
    pub has_right_type: bool,
    /// Whose deletion deletes it.
    pub owner: OwnerState,
}

/// Who owns the Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// No token: nothing ever deletes it.
    None,
    /// A token that does not exist any more: the garbage collector deletes the Secret.
    Gone(Owner),
    /// A token that exists, with its expiration.
    Live(Owner, Expiry),
}

impl ApiServer {
    /// The Secret and its owner; `None` when there is no such Secret.
    pub fn certs_state(&self) -> Result<Option<CertsState>> {
        let Some(secret) = self.secret(&path())? else { return Ok(None) };
        let owner = match Owner::named_by(&secret.metadata) {
            None => OwnerState::None,
            Some(owner) => match self.token_of(&owner)? {
                Some(token) => OwnerState::Live(owner, token_secret::expiry(&token)),
                None => OwnerState::Gone(owner),
            },
        };
        let created = secret.metadata.rest.get("creationTimestamp").and_then(|time| time.as_str());
        Ok(Some(CertsState {
            entries: secret.data.keys().cloned().collect(),
            created: created.map(str::to_owned),
            being_deleted: secret.metadata.deletion_timestamp.is_some(),
            has_right_type: secret.secret_type == secret_object::TYPE,
            owner,
        }))
    }

    /// The token that an owner is; another of the same name is not.
    pub(super) fn token_of(&self, owner: &Owner) -> Result<Option<Secret>> {
        let token = self.secret(&token_path(owner))?;
        Ok(token.filter(|token| token.metadata.uid.as_deref() == Some(&owner.uid)))
    }
}
