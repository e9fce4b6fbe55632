//! Expansion: what a RemoteConfig or an EncryptedConfig stands for takes its place, in order and nested, under one
//! budget. It goes on only while nothing is wrong.
use crate::{
    AnyDocument, ForeignKinds, Read, Request, Rights, Secret, Source, Surroundings, decrypt,
    findings::Quotes,
    limits::{FETCHES, NESTING, PASSPHRASE_FEWEST, PASSPHRASE_MOST, ROUNDS, spend},
    read::whole,
    reader::{Kept, Manner, Reader, ScopeHere},
    surroundings::{PASSPHRASE_PLUGIN, ProviderError, REMOTE_PLUGIN},
    v1alpha1::{Certificate, Encrypted, Proxy, Remote, without_secrets},
    within::Within,
};
use jiff::Timestamp;
use std::{fmt, time::Duration};

/// How long a passphrase may take, retries included.
const PASSPHRASE_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// A configuration as it lies on the machine, read to its end; nothing is fetched or opened yet.
pub struct Given {
    reader: Reader,
}

impl Given {
    /// Reads it; if anything is wrong with it, nothing is to be fetched.
    pub fn read(sources: Vec<Source>, foreign: ForeignKinds) -> Result<Self, Read> {
        let manner = Manner { quotes: Quotes::Words, scope: ScopeHere::Nowhere };
        let reader = whole(sources, manner, foreign);
        if reader.has_errors() { Err(reader.finish()) } else { Ok(Self { reader }) }
    }

    /// Reads everything that it points to or seals.
    pub fn expand(self, surroundings: &Surroundings<'_>) -> Read {
        let Self { mut reader } = self;
        let given = reader.take();
        let mut expansion = Expansion { reader, surroundings, bundles: Vec::new(), proxy: None, fetched: Vec::new() };
        expansion.place_all(given, &Within::local());
        let Expansion { mut reader, fetched, .. } = expansion;
        if !reader.has_errors() {
            reader.compare();
        }
        let mut read = reader.finish();
        read.fetched = fetched;
        let is_replaced = |body: &AnyDocument| {
            matches!(body, AnyDocument::Remote(_) | AnyDocument::Encrypted(_) | AnyDocument::Scope(_))
        };
        (read.replaced, read.documents) = read.documents.into_iter().partition(|document| is_replaced(&document.body));
        read
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").finish_non_exhaustive()
    }
}

struct Expansion<'a> {
    reader: Reader,
    surroundings: &'a Surroundings<'a>,
    /// Certificates of every TrustBundleConfig so far.
    bundles: Vec<Certificate>,
    /// The last ProxyConfig so far.
    proxy: Option<Proxy>,
    /// The digest of each part that was fetched.
    fetched: Vec<String>,
}

/// What is to stand in a document's place.
struct Contents<'a> {
    source: Source,
    within: Within<'a>,
}

impl Expansion<'_> {
    fn place_all(&mut self, documents: Vec<Kept>, within: &Within<'_>) {
        for kept in documents {
            if self.reader.has_errors() {
                return;
            }
            self.place(kept, within);
        }
    }

    /// Keeps a document, and behind it what it stands for.
    fn place(&mut self, mut kept: Kept, within: &Within<'_>) {
        match &mut kept.decoded.body {
            AnyDocument::Report(reporting) => {
                (reporting.bundles, reporting.proxy) = (self.bundles.clone(), self.proxy.clone());
            }
            AnyDocument::Programs(programs) => {
                (programs.bundles, programs.proxy) = (self.bundles.clone(), self.proxy.clone());
            }
            _ => {}
        }
        let contents = match &kept.decoded.body {
            AnyDocument::Remote(remote) => self.fetched(remote, &kept, within),
            AnyDocument::Encrypted(encrypted) => self.opened(encrypted, &kept, within),
            body => {
                self.remember(body, within);
                None
            }
        };
        match contents {
            Some(Contents { source, within }) => self.nested(kept, source, &within),
            None => self.reader.keep(kept),
        }
    }

    /// Reads what a document stands for, judges it as a whole, and goes on inside of it.
    fn nested(&mut self, kept: Kept, source: Source, within: &Within<'_>) {
        let scope = if within.is_sealed() { ScopeHere::First } else { ScopeHere::Nowhere };
        let documents = self.reader.nested(source, Manner { quotes: within.quotes(), scope });
        if documents.is_empty() && !self.reader.has_errors() {
            self.reader.refuse(&kept, place_of(&kept.decoded.body), "contains no document", None);
        }
        self.reader.keep(kept);
        for document in &documents {
            self.judge(document, within);
        }
        self.place_all(documents, within);
    }

    /// Whether a document may stand where it was found.
    fn judge(&mut self, document: &Kept, within: &Within<'_>) {
        let is_taken = match &document.decoded.body {
            AnyDocument::Encrypted(_) => true,
            AnyDocument::Remote(remote) => remote.requires_encryption,
            AnyDocument::Scope(scope) => {
                let Surroundings { identity, now, elapsed, .. } = self.surroundings;
                // A storage that answers slowly must not stretch what holds only for a while.
                let now = now.saturating_add(elapsed()).unwrap_or(Timestamp::MAX);
                if let Some((path, message)) = scope.refusal(identity, now) {
                    let is_over = matches!(path, "spec.notAfter" | "spec.maxAge");
                    let hint = is_over.then(|| "encrypt the documents again and pass them with `-f`".to_owned());
                    self.reader.refuse(document, path, message, hint);
                }
                true
            }
            AnyDocument::Report(reporting) => {
                if let Some((path, what, right)) = reporting.not_allowed(within.rights) {
                    self.reader.refuse_for(document, &path, ProviderError::not_allowed(what, right));
                }
                false
            }
            AnyDocument::Programs(programs) => {
                if let Some((path, what, right)) = programs.not_allowed(within.rights) {
                    self.reader.refuse_for(document, &path, ProviderError::not_allowed(what, right));
                }
                false
            }
            _ => false,
        };
        if within.requires_encryption() && !is_taken {
            let message = "must be an EncryptedConfig: the RemoteConfig that fetched it has `require: encrypted`";
            self.reader.refuse(document, "kind", message, None);
        }
    }

    fn fetched<'w>(&mut self, remote: &Remote, kept: &Kept, within: &'w Within<'w>) -> Option<Contents<'w>> {
        self.goes_deeper(kept, "spec.uri", within)?;
        if within.has_fetched(remote) {
            self.refuse(kept, "spec.uri", "fetches the document that contains it: endless recursion");
            return None;
        }
        let Surroundings { remote: providers, .. } = self.surroundings;
        let provider = self.provider(providers, &remote.provider, REMOTE_PLUGIN, kept)?;
        let Remote { uri, authorities, timeout, .. } = remote;
        let limit = self.reader.budget.text_bytes;
        let end = self.end(*timeout, within);
        let redirect_rights = within.rights.and(remote.rights);
        let keep_as = remote.requires_encryption.then(|| hex(&sha256(uri.expose().as_bytes())));
        let keep_as = keep_as.as_deref();
        let asked = Asked { uri, here: "spec.uri", authorities, keep_as, limit, redirect_rights, end };
        let bytes = self.ask(&asked, kept, within, |request| provider.fetch(request))?;
        let digest = sha256(&bytes);
        self.fetched.push(hex(&digest));
        if bytes.len() > limit {
            self.refuse(kept, "spec.uri", "exceeds the limit of 1024 KiB for a whole configuration");
        } else if remote.sha256.is_some_and(|wanted| wanted != digest) {
            let message = format!("does not match the fetched bytes, whose SHA-256 is {}", hex(&digest));
            self.refuse(kept, "spec.sha256", message);
        } else if within.holds(digest) {
            self.refuse(kept, "spec.uri", "returns the document that contains it: endless recursion");
        } else {
            let name = inside(kept, &without_secrets(uri.expose()));
            return Some(Contents { source: Source { name, bytes }, within: within.fetched(remote, digest, end) });
        }
        None
    }

    fn opened<'w>(&mut self, encrypted: &Encrypted, kept: &Kept, within: &'w Within<'w>) -> Option<Contents<'w>> {
        const HERE: &str = "spec.passphraseURI";
        self.goes_deeper(kept, "spec.ciphertext", within)?;
        if let Some((here, problem)) = within.passphrase_refusal(encrypted) {
            self.refuse(kept, here, problem);
            return None;
        }
        if spend(&mut self.reader.budget.rounds, encrypted.sealed.rounds as usize).is_none() {
            self.refuse(
                kept,
                "spec.iterations",
                format!("exceeds the limit of {ROUNDS} key derivation rounds for a configuration"),
            );
            return None;
        }
        let Surroundings { passphrase: providers, .. } = self.surroundings;
        let provider = self.provider(providers, &encrypted.provider, PASSPHRASE_PLUGIN, kept)?;
        let Encrypted { passphrase_uri: uri, sealed, .. } = encrypted;
        let authorities = within.passphrase_authorities(encrypted);
        let (limit, redirect_rights, end) = (PASSPHRASE_MOST, Rights::NONE, self.end(PASSPHRASE_TIMEOUT, within));
        let asked = Asked { uri, here: HERE, authorities, keep_as: None, limit, redirect_rights, end };
        let passphrase = self.ask(&asked, kept, within, |request| provider.passphrase(request))?;
        if !(PASSPHRASE_FEWEST..=PASSPHRASE_MOST).contains(&passphrase.expose().len()) {
            let message =
                format!("the passphrase there is invalid: it must have {PASSPHRASE_FEWEST} to {PASSPHRASE_MOST} bytes");
            self.refuse(kept, HERE, message);
            return None;
        }
        match decrypt(sealed, &passphrase) {
            Ok(bytes) => {
                let digest = sha256(&bytes);
                let source = Source { name: inside(kept, "decrypted"), bytes };
                Some(Contents { source, within: within.sealed(encrypted, digest) })
            }
            Err(error) => {
                self.refuse(kept, "spec.ciphertext", error.to_string());
                None
            }
        }
    }

    /// Asks a provider, as often as a whole configuration may.
    fn ask<T>(
        &mut self,
        asked: &Asked<'_>,
        kept: &Kept,
        within: &Within<'_>,
        provider: impl FnOnce(&Request<'_>) -> Result<T, ProviderError>,
    ) -> Option<T> {
        if spend(&mut self.reader.budget.fetches, 1).is_none() {
            self.refuse(kept, asked.here, format!("exceeds the limit of {FETCHES} fetches for a configuration"));
            return None;
        }
        let Asked { uri, here, authorities, keep_as, limit, redirect_rights, end } = *asked;
        let timeout = end.saturating_sub((self.surroundings.elapsed)());
        if timeout.is_zero() {
            let late =
                ProviderError::unavailable("the timeout of the RemoteConfig that fetched this document has expired");
            self.reader.refuse_for(kept, here, late);
            return None;
        }
        let shown = without_secrets(uri.expose());
        let (bundles, proxy) = (&self.bundles, self.proxy.as_ref());
        let rights = within.rights;
        let shown = &shown;
        let request =
            Request { uri, shown, rights, redirect_rights, authorities, bundles, proxy, keep_as, limit, timeout };
        match provider(&request) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.reader.refuse_for(kept, here, error);
                None
            }
        }
    }

    /// When to give up: a fetched document gets no more time than is left to what fetched it, whatever it says.
    fn end(&self, timeout: Duration, within: &Within<'_>) -> Duration {
        let own = (self.surroundings.elapsed)().saturating_add(timeout);
        within.end.map_or(own, |end| end.min(own))
    }

    /// A provider by its name.
    fn provider<P: Copy>(&mut self, known: &[(&str, P)], name: &str, plugin: &str, kept: &Kept) -> Option<P> {
        let found = known.iter().find(|(known, _)| *known == name).map(|(_, provider)| *provider);
        if found.is_none() {
            let names: Vec<String> = known.iter().map(|(known, _)| format!("`{known}`")).collect();
            let message = format!("unknown provider; built-in providers are {}", names.join(", "));
            let hint = format!(
                "the plugin `{plugin}{name}` would provide it, but this machineadm does not support plugins yet"
            );
            let hint = (!kept.decoded.sealed).then_some(hint);
            self.reader.refuse(kept, "spec.provider", message, hint);
        }
        found
    }

    fn goes_deeper(&mut self, kept: &Kept, here: &str, within: &Within<'_>) -> Option<()> {
        if within.depth < NESTING {
            return Some(());
        }
        self.refuse(kept, here, format!("more than {NESTING} nested configurations"));
        None
    }

    fn refuse(&mut self, kept: &Kept, here: &str, message: impl Into<String>) {
        self.reader.refuse(kept, here, message, None);
    }

    /// What later fetches go by.
    fn remember(&mut self, body: &AnyDocument, within: &Within<'_>) {
        match body {
            // Whoever owns one storage must not vouch for the next.
            AnyDocument::TrustBundle(bundle) if within.is_ours() => {
                self.bundles.extend(bundle.certificates.iter().cloned());
            }
            // A proxy is reached first of all, so that naming one must not lead where its document may not go.
            AnyDocument::Proxy(proxy) if within.rights.loopback && within.rights.link_local => {
                self.proxy = Some(proxy.clone());
            }
            _ => {}
        }
    }
}

/// What is asked for on a document's behalf.
struct Asked<'a> {
    uri: &'a Secret<String>,
    /// The field that names it.
    here: &'a str,
    authorities: &'a [Certificate],
    keep_as: Option<&'a str>,
    limit: usize,
    redirect_rights: Rights,
    end: Duration,
}

/// The field that says what a document stands for.
const fn place_of(body: &AnyDocument) -> &'static str {
    if matches!(body, AnyDocument::Remote(_)) { "spec.uri" } else { "spec.ciphertext" }
}

/// What a report calls the inside of a document.
fn inside(kept: &Kept, what: &str) -> String {
    format!("{}#{} > {what}", kept.decoded.origin.source, kept.decoded.origin.number)
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    digest.as_ref().try_into().unwrap_or_default()
}

pub(crate) use objects::hex::encode as hex;
