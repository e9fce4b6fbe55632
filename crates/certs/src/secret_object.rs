//! The kubeadm-certs Secret: how it is named, owned, filled and read back.
use crate::{
    check::{CertificateSet, Found},
    entry::{self, EncryptError, SetEncryption},
    files::{FileName, FileSet},
    key::CertificateKey,
    owner::Owner,
};
use discovery::token_secret;
use objects::{Bytes, Secret};
use std::collections::BTreeMap;

/// The namespace of the Secret.
pub const NAMESPACE: &str = token_secret::NAMESPACE;
/// Its name.
pub const NAME: &str = "kubeadm-certs";
/// Its type.
pub const TYPE: &str = "Opaque";

/// The Secret with a whole set, which goes when its owner goes.
pub fn secret(
    set: &CertificateSet,
    mut encryption: SetEncryption<'_, impl FnMut(&mut [u8])>,
    owner: &Owner,
) -> Result<Secret, EncryptError> {
    let mut data = BTreeMap::new();
    for (file, content) in set.files() {
        data.insert(file.name.entry().to_owned(), encryption.encrypt(content)?);
    }
    data.extend(set.unused().iter().map(|name| (name.entry().to_owned(), Bytes::default())));
    Ok(Secret::new(owner.metadata(NAME), TYPE, data))
}

/// A kubeadm-certs Secret that was read, of machineadm or of kubeadm.
#[derive(Clone, Debug)]
pub struct KubeadmCerts<'a> {
    secret: &'a Secret,
}

/// Why a Secret is not kubeadm-certs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKubeadmCerts {
    /// It has another name or namespace.
    #[error("it is not the Secret {NAMESPACE}/{NAME}")]
    OtherName,
    /// It has another type.
    #[error("its type is not {TYPE}")]
    OtherType,
    /// It is being deleted: what it holds has ended.
    #[error("it is being deleted")]
    BeingDeleted,
}

impl<'a> KubeadmCerts<'a> {
    /// Reads a Secret.
    pub fn read(secret: &'a Secret) -> Result<Self, NotKubeadmCerts> {
        if (secret.metadata.namespace.as_str(), secret.metadata.name.as_str()) != (NAMESPACE, NAME) {
            return Err(NotKubeadmCerts::OtherName);
        }
        if secret.secret_type != TYPE {
            return Err(NotKubeadmCerts::OtherType);
        }
        if secret.metadata.deletion_timestamp.is_some() {
            return Err(NotKubeadmCerts::BeingDeleted);
        }
        Ok(Self { secret })
    }

    /// The token whose deletion deletes it. Without one nothing ever does.
    pub fn owner(&self) -> Option<Owner> {
        Owner::named_by(&self.secret.metadata)
    }

    /// The names of its entries.
    pub fn entries(&self) -> impl Iterator<Item = &'a str> {
        self.secret.data.keys().map(String::as_str)
    }

    /// Every file of a set as it stands in the Secret: decrypted, missing, or why it is neither.
    pub fn decrypt(&self, files: &FileSet, key: &CertificateKey) -> BTreeMap<FileName, Found> {
        let found = |name: FileName| match self.secret.data.get(name.entry()) {
            None => Found::Missing,
            Some(value) => entry::decrypt(key, value.expose()).map_or_else(Found::Undecryptable, Found::Content),
        };
        files.files().iter().map(|file| (file.name, found(file.name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::ObjectMeta;

    #[test]
    fn another_secret_and_one_that_is_being_deleted_are_refused() {
        let secret = |namespace, name, secret_type| {
            Secret::new(ObjectMeta::named_in(namespace, name), secret_type, BTreeMap::new())
        };
        let read = |secret: &Secret| KubeadmCerts::read(secret).map(|certs| certs.owner());
        let mut own = secret(NAMESPACE, NAME, TYPE);
        assert_eq!(read(&own), Ok(None));
        own.metadata.deletion_timestamp = Some("2026-11-15T18:55:35Z".to_owned());
        assert_eq!(read(&own), Err(NotKubeadmCerts::BeingDeleted));
        assert_eq!(read(&secret("default", NAME, TYPE)), Err(NotKubeadmCerts::OtherName));
        assert_eq!(read(&secret(NAMESPACE, "kubeadm-cert", TYPE)), Err(NotKubeadmCerts::OtherName));
        assert_eq!(read(&secret(NAMESPACE, NAME, "kubernetes.io/tls")), Err(NotKubeadmCerts::OtherType));
    }
}
