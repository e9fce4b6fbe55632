//! The certificates copy in a cluster: the Secret kubeadm-certs is written, read and deleted here, each file one verb.
//!
//! What the Secret holds, who may read it and when it ends are rules of [`certs`].
mod cleanup;
mod delete;
mod download;
mod layout;
mod state;
mod upload;

pub use cleanup::CleanupWait;
pub use delete::DeletedCerts;
pub use download::{Download, DownloadError, Downloaded};
pub use layout::{Layout, NoLayout};
pub use state::{CertsState, OwnerState};
pub use upload::{MissingCleanup, Upload, UploadError, Uploaded};

use crate::{ApiServer, Created, Deleted, Effect, Listed, Precondition, Replaced, Result, api_server::Wiped};
use certs::{Owner, secret_object};
use discovery::token_secret;
use objects::{Resource, Secret};
use serde_json::Value;
use std::io;

/// Fills a buffer from the system's generator.
pub type Entropy<'a> = &'a dyn Fn(&mut [u8]) -> io::Result<()>;

/// Makes something of random bytes; nothing, where the system gave none.
fn drawn<T>(entropy: Entropy<'_>, make: impl FnOnce(&mut dyn FnMut(&mut [u8])) -> T) -> io::Result<T> {
    let mut failure = Ok(());
    let made = make(&mut |buffer| {
        if failure.is_ok() {
            failure = entropy(buffer);
        }
    });
    failure.map(|()| made)
}

/// The path of the Secret.
fn path() -> String {
    secret_path(secret_object::NAME)
}

/// The path of a token's Secret.
fn token_path(owner: &Owner) -> String {
    secret_path(&token_secret::name(&owner.id))
}

fn secret_path(name: &str) -> String {
    format!("{}/{name}", Secret::collection(secret_object::NAMESPACE))
}

/// Typed Secrets over the verbs.
impl ApiServer {
    fn secret(&self, path: &str) -> Result<Option<Secret>> {
        self.get(path)?.map(|value| self.read_secret(value)).transpose()
    }

    /// The Secret as the server stored it, also if the answer to a first try was lost: what is there then is ours if it
    /// holds the same and has the same owner. `None` when there is another one of that name.
    fn create_secret(&self, secret: &Secret) -> Result<Option<Secret>> {
        let body = self.written(secret)?;
        match self.create(&Secret::collection(secret_object::NAMESPACE), &body.0, Effect::Real)? {
            Created::Created(stored) => self.read_secret(stored).map(Some),
            Created::Exists { .. } => self.read_back(&secret_path(&secret.metadata.name), secret),
        }
    }

    /// The Secret as the server stored it, also if the answer to a first try was lost; `None` when it was changed or
    /// deleted since it was read.
    fn replace_secret(&self, path: &str, secret: &Secret) -> Result<Option<Secret>> {
        let body = self.written(secret)?;
        match self.replace(path, &body.0, Effect::Real)? {
            Replaced::Replaced(stored) => self.read_secret(stored).map(Some),
            Replaced::Conflict | Replaced::Absent => self.read_back(path, secret),
        }
    }

    /// What is stored, if it is what we have sent.
    fn read_back(&self, path: &str, sent: &Secret) -> Result<Option<Secret>> {
        let is_sent =
            |live: &Secret| live.data == sent.data && live.metadata.owner_references == sent.metadata.owner_references;
        Ok(self.secret(path)?.filter(is_sent))
    }

    /// Deletes a Secret that was read, if it is still as it was.
    fn delete_as_read(&self, secret: &Secret) -> Result<Deleted> {
        let (uid, resource_version) = (secret.metadata.uid.clone(), secret.metadata.resource_version.clone());
        let only_if = Precondition { uid, resource_version };
        self.delete(&secret_path(&secret.metadata.name), &only_if, Effect::Real)
    }

    /// Deletes this very Secret, however it has changed.
    fn delete_same(&self, secret: &Secret) -> Result<Deleted> {
        let only_if = Precondition { uid: secret.metadata.uid.clone(), resource_version: None };
        self.delete(&secret_path(&secret.metadata.name), &only_if, Effect::Real)
    }

    /// Secrets of the namespace that a query selects.
    fn secrets(&self, query: (&str, &str)) -> Result<Vec<Secret>> {
        let mut secrets = Vec::new();
        self.list(&Secret::collection(secret_object::NAMESPACE), &[query], &mut |item| match item {
            Listed::Item(secret) => secrets.push(secret),
            Listed::Restarted => secrets.clear(),
        })?;
        Ok(secrets)
    }

    fn tokens(&self) -> Result<Vec<Secret>> {
        self.secrets(("fieldSelector", &format!("type={}", token_secret::TYPE)))
    }

    fn written(&self, secret: &Secret) -> Result<Wiped> {
        serde_json::to_value(secret).map(Wiped).map_err(|_| self.strange("a Secret of ours is no JSON"))
    }

    /// What the parser says could quote a value.
    fn read_secret(&self, value: Value) -> Result<Secret> {
        let value = Wiped(value);
        let secret = serde::Deserialize::deserialize(&value.0);
        secret.map_err(|_| self.strange("it is not a Secret"))
    }
}
