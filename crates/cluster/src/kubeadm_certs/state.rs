//! What a cluster has of the certificates copy now; nothing secret of it.
use super::{path, token_path};
use crate::{ApiServer, Result};
use certs::{CertificateKey, CertificateSet, FileSet, KubeadmCerts, Owner, check_download, secret_object};
use discovery::{Expiry, certificate::CaBundle, token_secret};
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

    /// The set that this key decrypts, if it is whole and has an owner whose end is ahead.
    pub fn live_certs(&self, files: &FileSet, key: &CertificateKey) -> Result<Option<CertificateSet>> {
        let Some(secret) = self.secret(&path())? else { return Ok(None) };
        let Ok(certs) = KubeadmCerts::read(&secret) else { return Ok(None) };
        let Some(owner) = certs.owner() else { return Ok(None) };
        let token = self.token_of(&owner)?;
        let now = self.time()?;
        let ends = token.is_some_and(|token| token_secret::expiry(&token).ahead(now).is_some());
        let set = check_download(files, certs.decrypt(files, key), &CaBundle::default(), now);
        Ok(set.ok().filter(|_| ends))
    }

    /// The token that an owner is; another of the same name is not.
    pub(super) fn token_of(&self, owner: &Owner) -> Result<Option<Secret>> {
        let token = self.secret(&token_path(owner))?;
        Ok(token.filter(|token| token.metadata.uid.as_deref() == Some(&owner.uid)))
    }
}
