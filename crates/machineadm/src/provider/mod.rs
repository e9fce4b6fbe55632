//! Providers: who fetches documents and passphrases. Those that are built in stand here, in one visible list each.
mod descriptor;
mod fetched;
mod file;
mod https;
mod patience;

use crate::command_error::CommandError;
use descriptor::Descriptor;
use documents::{
    AnyDocument, Fault, Given, PassphraseProvider, ProviderError, Read, RemoteProvider, Request, Rights, Secret,
    Surroundings,
    limits::{PASSPHRASE_FEWEST, PASSPHRASE_MOST},
    v1alpha1::{Certificate, Encrypted, Identity, Proxy, without_secrets},
};
pub(crate) use fetched::Fetched;
use fetched::Keeping;
use file::File;
use host::contract::Exit;
use https::Https;
pub(crate) use https::settings as https_settings;
use jiff::Timestamp;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Who fetches documents.
fn remote_providers<'a>(https: &'a Keeping<'a>) -> [(&'static str, &'a dyn RemoteProvider); 2] {
    [("file", &File), ("https", https)]
}

/// Who fetches passphrases.
fn passphrase_providers<'a>(
    descriptor: &'a Descriptor,
    https: &'a Https,
) -> [(&'static str, &'a dyn PassphraseProvider); 3] {
    [("file", &File), ("descriptor", descriptor), ("https", https)]
}

/// How long a person waits for a passphrase at most.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long a fetch may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// As long as the documents say: a run waits for its network.
    AsConfigured,
    /// A few seconds: somebody only looks, and learns what could not be asked.
    Briefly,
}

/// A few seconds.
const BRIEFLY: Duration = Duration::from_secs(5);

/// Reads all that a configuration points to or seals.
pub(crate) fn expand(given: Given, identity: Identity, fetched: &Fetched, waiting: Waiting) -> Read {
    let https = match waiting {
        Waiting::AsConfigured => Https::PATIENT,
        Waiting::Briefly => Https { longest: BRIEFLY },
    };
    let keeping = Keeping { provider: &https, fetched };
    let remote = &remote_providers(&keeping);
    let descriptor = Descriptor::default();
    let passphrase = &passphrase_providers(&descriptor, &https);
    let begun = Instant::now();
    let (now, elapsed) = (Timestamp::now(), &|| begun.elapsed());
    given.expand(&Surroundings { identity, now, elapsed, remote, passphrase })
}

/// Passphrases for `encrypt` and `decrypt`, which a person calls.
#[derive(Default)]
pub(crate) struct Passphrases {
    descriptor: Descriptor,
    /// Certificates of every TrustBundleConfig so far.
    bundles: Vec<Certificate>,
    /// The last ProxyConfig so far.
    proxy: Option<Proxy>,
}

impl Passphrases {
    /// Goes by a document that stands before others, as expansion does.
    pub(crate) fn remember(&mut self, body: &AnyDocument) {
        match body {
            AnyDocument::TrustBundle(bundle) => self.bundles.extend(bundle.certificates.iter().cloned()),
            AnyDocument::Proxy(proxy) => self.proxy = Some(proxy.clone()),
            _ => {}
        }
    }

    /// Fetches the passphrase of an EncryptedConfig.
    pub(crate) fn of(&self, encrypted: &Encrypted) -> Result<Secret<Vec<u8>>, CommandError> {
        let shown = without_secrets(encrypted.passphrase_uri.expose());
        self.fetched(encrypted, &shown).map_err(|ProviderError { message, hint, fault }| {
            let exit = match fault {
                Fault::Document => Exit::Input,
                Fault::World => Exit::Failed,
            };
            CommandError::new(exit, format!("no passphrase from {shown}: {message}")).with_remedies(hint)
        })
    }

    fn fetched(&self, encrypted: &Encrypted, shown: &str) -> Result<Secret<Vec<u8>>, ProviderError> {
        let providers = passphrase_providers(&self.descriptor, &Https::PATIENT);
        let Some((_, provider)) = providers.iter().find(|(known, _)| *known == encrypted.provider) else {
            let known = providers.map(|(known, _)| known).join(", ");
            return Err(ProviderError::new(format!("the provider is unknown; built in are: {known}")));
        };
        let passphrase = provider.passphrase(&Request {
            uri: &encrypted.passphrase_uri,
            shown,
            rights: Rights::ALL,
            redirect_rights: Rights::NONE,
            authorities: &encrypted.authorities,
            bundles: &self.bundles,
            proxy: self.proxy.as_ref(),
            keep_as: None,
            limit: PASSPHRASE_MOST,
            timeout: TIMEOUT,
        })?;
        match passphrase.expose().len() {
            PASSPHRASE_FEWEST..=PASSPHRASE_MOST => Ok(passphrase),
            length => Err(ProviderError::new(format!(
                "it has {length} bytes: at least {PASSPHRASE_FEWEST}, at most {PASSPHRASE_MOST}"
            ))),
        }
    }
}

/// A passphrase without the line end that editors and shells put behind it.
fn without_line_end(mut bytes: Zeroizing<Vec<u8>>) -> Secret<Vec<u8>> {
    if bytes.ends_with(b"\n") {
        bytes.pop();
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
    }
    Secret::new(std::mem::take(&mut *bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_no_part_of_a_passphrase() {
        for (bytes, left) in
            [("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\r", "a\r"), ("a \n", "a "), ("", "")]
        {
            assert_eq!(without_line_end(Zeroizing::new(bytes.into())).expose(), left.as_bytes());
        }
    }
}
