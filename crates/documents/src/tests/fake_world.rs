//! A fake world for expansion: storage and passphrases in maps, and a note of who asked for what.
use crate::{
    ForeignKinds, Fresh, Given, Heading, PassphraseProvider, ProviderError, Read, RemoteProvider, Request, Rights,
    Secret, Source, Surroundings, seal, sealed_document,
    v1alpha1::{API_VERSION, Identity},
};
use std::{cell::RefCell, collections::HashMap, time::Duration};
use zeroize::Zeroizing;

pub(super) const PASSPHRASE: &str = "correct horse battery staple";
pub(super) const NOW: &str = "2026-11-16T12:00:00Z";

/// What a fake provider was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) uri: String,
    pub(super) rights: Rights,
    pub(super) redirect_rights: Rights,
    pub(super) bundles: usize,
    pub(super) authorities: usize,
    pub(super) has_proxy: bool,
    pub(super) limit: usize,
    pub(super) timeout: Duration,
}

#[derive(Default)]
pub(super) struct FakeWorld {
    pub(super) storage: HashMap<String, Vec<u8>>,
    pub(super) asked: RefCell<Vec<Asked>>,
    /// How long each fetch takes.
    pub(super) pace: Duration,
}

impl FakeWorld {
    /// Storage that holds these.
    pub(super) fn with(contents: &[(&str, &str)]) -> Self {
        let storage = contents.iter().map(|(uri, text)| ((*uri).to_owned(), text.as_bytes().to_vec())).collect();
        Self { storage, ..Self::default() }
    }

    /// Opens a configuration of one file in this world.
    pub(super) fn open(&self, text: &str) -> Read {
        self.open_with(text, ForeignKinds::Refused)
    }

    pub(super) fn open_with(&self, text: &str, foreign: ForeignKinds) -> Read {
        let identity = Identity { hostname: "node-7".into(), ..Identity::default() };
        let surroundings = Surroundings {
            identity,
            now: NOW.parse().unwrap(),
            elapsed: &|| self.pace * u32::try_from(self.asked.borrow().len()).unwrap(),
            remote: &[("file", self), ("https", self)],
            passphrase: &[("file", self), ("descriptor", self), ("https", self)],
        };
        let source = Source { name: "node.yaml".into(), bytes: Zeroizing::new(text.into()) };
        Given::read(vec![source], foreign).map_or_else(|read| read, |given| given.expand(&surroundings))
    }

    /// `source path: message` of everything that is wrong.
    pub(super) fn problems(&self, text: &str) -> Vec<String> {
        let notes = self.open(text).report.notes;
        notes.into_iter().map(|note| format!("{} {}: {}", note.source, note.path, note.message)).collect()
    }

    fn note(&self, request: &Request<'_>) {
        self.asked.borrow_mut().push(Asked {
            uri: request.uri.expose().clone(),
            rights: request.rights,
            redirect_rights: request.redirect_rights,
            bundles: request.bundles.len(),
            authorities: request.authorities.len(),
            has_proxy: request.proxy.is_some(),
            limit: request.limit,
            timeout: request.timeout,
        });
    }
}

impl RemoteProvider for FakeWorld {
    fn fetch(&self, request: &Request<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        self.note(request);
        let found = self.storage.get(request.uri.expose());
        found.map(|bytes| Zeroizing::new(bytes.clone())).ok_or_else(|| ProviderError::unavailable("nothing is there"))
    }
}

impl PassphraseProvider for FakeWorld {
    fn passphrase(&self, request: &Request<'_>) -> Result<Secret<Vec<u8>>, ProviderError> {
        self.note(request);
        let is_local = request.uri.expose().starts_with("file:");
        if is_local && !request.rights.local_files {
            return Err(ProviderError::not_allowed("local files", "localFiles"));
        }
        let found = self.storage.get(request.uri.expose()).cloned().unwrap_or_else(|| PASSPHRASE.into());
        Ok(Secret::new(found))
    }
}

/// A RemoteConfig for a file, with more members.
pub(super) fn remote(uri: &str, more: &str) -> String {
    let provider = uri.split(':').next().unwrap();
    let name = uri.rsplit('/').next().unwrap();
    format!(
        "---\napiVersion: {API_VERSION}\nkind: RemoteConfig\nmetadata: {{name: '{name}'}}\nspec: {{provider: {provider}, uri: '{uri}'{more}}}\n"
    )
}

/// An EncryptedConfig that holds this text.
pub(super) fn sealed(text: impl AsRef<[u8]>) -> String {
    sealed_with(text, "file", "file:///passphrase", 1000)
}

pub(super) fn sealed_with(text: impl AsRef<[u8]>, provider: &str, uri: &str, rounds: u32) -> String {
    let fresh = Fresh { salt: [1; 16], iv: [2; 12] };
    let sealed = seal(text.as_ref(), &Secret::new(PASSPHRASE.into()), rounds, fresh).unwrap();
    let uri = Secret::new(uri.to_owned());
    format!(
        "---\n{}",
        sealed_document(&sealed, &Heading { name: None, provider, passphrase_uri: &uri, certificate_authority: None })
    )
}

/// The certificate of the examples, as a YAML string.
pub(super) fn authority() -> String {
    let bundle = crate::KINDS.iter().find(|known| known.kind == "TrustBundleConfig").unwrap().example;
    format!("\"{}\"", bundle.split_once("certificates: |\n").unwrap().1.replace('\n', "\\n").replace("    ", ""))
}

/// A document that loads a module of this name.
pub(super) fn module(name: &str) -> String {
    format!(
        "---\napiVersion: {API_VERSION}\nkind: KernelModulesConfig\nmetadata: {{name: {name}}}\nspec: {{modules: [{name}]}}\n"
    )
}
