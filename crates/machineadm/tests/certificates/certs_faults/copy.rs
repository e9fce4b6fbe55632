//! What a cluster has of the certificates copy: the Secret, TTL tokens and canaries.
use super::{
    bed::{Bed, KEY, LIMIT, OTHER_KEY},
    gateway::SECRETS,
};
use certs::{
    CertificateKey, Etcd, FileName, FileSet, Found, KubeadmCerts, Owner, canary, secret_object,
    ttl_token::{self, DESCRIPTION},
};
use cluster::{ApiServer, Listed};
use discovery::{TokenSettings, token_secret};
use jiff::Timestamp;
use objects::Secret;
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};
use testbed::{Result, until};

/// Every Secret of the namespace, at one moment.
pub(crate) struct Copy(Vec<Secret>);

impl Copy {
    pub(crate) fn seen(api: &ApiServer) -> Self {
        let mut secrets = Vec::new();
        let listed = api.list(SECRETS, &[], &mut |item| match item {
            Listed::Item(secret) => secrets.push(secret),
            Listed::Restarted => secrets.clear(),
        });
        listed.unwrap();
        Self(secrets)
    }

    /// From a list of Secrets.
    pub(crate) fn read(list: &[u8]) -> Self {
        let list: Value = serde_json::from_slice(list).unwrap();
        let items = list["items"].as_array().unwrap().iter();
        Self(items.map(|item| serde_json::from_value(item.clone()).unwrap()).collect())
    }

    pub(crate) fn certs(&self) -> Option<&Secret> {
        self.0.iter().find(|secret| secret.metadata.name == secret_object::NAME)
    }

    pub(crate) fn ttl_tokens(&self) -> Vec<&Secret> {
        let is_ttl_token = |secret: &&Secret| secret.value("description") == Some(DESCRIPTION.as_bytes());
        self.0.iter().filter(is_ttl_token).collect()
    }

    /// Names of what is left of canaries.
    pub(crate) fn canaries(&self) -> Vec<&str> {
        let is_canary =
            |secret: &&Secret| secret.metadata.rest.get("labels").is_some_and(|l| l.get(canary::LABEL).is_some());
        self.0.iter().filter(is_canary).map(|secret| secret.metadata.name.as_str()).collect()
    }

    /// TTL tokens that own no Secret.
    pub(crate) fn orphans(&self) -> Vec<&Secret> {
        let certs = self.certs().map(|secret| KubeadmCerts::read(secret).unwrap());
        ttl_token::orphans(&self.0, certs.as_ref())
    }

    /// What holds at every moment, whoever was killed: a Secret has a live owner and is whole, and of an interrupted
    /// upload one token is left at most.
    pub(crate) fn assert_safe(&self, bed: &Bed, when: &str) {
        assert!(self.orphans().len() <= 1, "{when}: {} TTL tokens own nothing", self.orphans().len());
        let Some(certs) = self.certs() else { return };
        let references = &certs.metadata.owner_references;
        assert_eq!(references.len(), 1, "{when}: {references:?}");
        let owner = Owner::named_by(&certs.metadata).unwrap();
        let live = self.ttl_tokens().into_iter().find(|token| Owner::of(token).as_ref() == Some(&owner));
        let live = live.unwrap_or_else(|| panic!("{when}: the owner {owner:?} does not exist"));
        let expires = token_secret::expiry(live);
        assert!(expires.ahead(Timestamp::now()).is_some(), "{when}: the owner ends at {expires:?}");
        let settings = TokenSettings::read(live).unwrap();
        assert!(settings.usages.is_empty() && settings.groups.is_empty(), "{when}: {settings:?}");
        let keys: Vec<_> = [KEY, OTHER_KEY].into_iter().filter(|key| self.is_whole(bed, key)).collect();
        assert_eq!(keys.len(), 1, "{when}: the set is whole under one key: {keys:?}");
    }

    /// What holds after an upload that ended well: one Secret, one token, which owns it, and nothing else.
    pub(crate) fn assert_complete(&self, bed: &Bed, key: &str, when: &str) {
        self.assert_safe(bed, when);
        assert!(self.is_whole(bed, key), "{when}: the files of the control plane are there");
        assert_eq!(self.orphans().len(), 0, "{when}: no orphan");
        assert_eq!(self.ttl_tokens().len(), 1, "{when}: one TTL token");
    }

    /// Whether this key decrypts the Secret to all files of the control plane, byte for byte.
    pub(crate) fn is_whole(&self, bed: &Bed, key: &str) -> bool {
        let (files, key) = (FileSet::new(&Etcd::Stacked), key.parse::<CertificateKey>().unwrap());
        let Some(certs) = self.certs() else { return false };
        let found = KubeadmCerts::read(certs).unwrap().decrypt(&files, &key);
        found.len() == 8
            && certs.data.len() == 8
            && own_files(&bed.plane.pki(), &files)
                .iter()
                .all(|(name, own)| matches!(&found[name], Found::Content(content) if content.expose() == own))
    }
}

fn own_files(pki: &Path, files: &FileSet) -> BTreeMap<FileName, Vec<u8>> {
    files.files().iter().map(|file| (file.name, fs::read(file.location.path(pki)).unwrap())).collect()
}

/// The token cleaner and the garbage collector delete what canaries of killed runs have left.
pub(crate) fn wait_for_no_canary(api: &ApiServer) -> Result<()> {
    until("no canary is left", LIMIT, || match Copy::seen(api).canaries()[..] {
        [] => Ok(()),
        ref left => Err(format!("{left:?}")),
    })
}
