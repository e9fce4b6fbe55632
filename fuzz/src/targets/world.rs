//! A world in memory for expansion: the parts of an input are what its providers serve, and what it seals.
use documents::{
    ForeignKinds, Fresh, Given, Heading, PassphraseProvider, ProviderError, Read, RemoteProvider, Request, Rights,
    Secret, Source, Surroundings, seal, sealed_document, v1alpha1::Identity,
};
use jiff::Timestamp;
use std::{cell::RefCell, collections::BTreeSet, time::Duration};
use zeroize::Zeroizing;

/// Between two parts.
pub(super) const SEPARATOR: &str = "\n%part\n";
/// What stands for the sealed text of another part, before its number.
const SEAL: &[u8] = b"\n%seal ";
/// Sealing costs most of the time.
const MOST_SEALS: usize = 8;
/// The fewest rounds that there are.
const ROUNDS: u32 = documents::limits::ROUNDS_FEWEST;
pub(super) const PASSPHRASE: &str = "correct horse battery staple";
/// A word that reports may quote only where it lies in the open.
pub(super) const SECRET: &str = "hunter2";

/// What a provider was asked.
pub(super) struct Asked {
    /// The place as it may be shown, also where a sealed document names it.
    shown: String,
    pub(super) rights: Rights,
    pub(super) redirect_rights: Rights,
    pub(super) limit: usize,
    pub(super) timeout: Duration,
}

/// Who fetches, by name.
type Providers<'a, P> = [(&'a str, &'a P); 2];

pub(super) struct World {
    parts: Vec<Vec<u8>>,
    /// The parts that were fetched.
    served: RefCell<BTreeSet<usize>>,
    pub(super) asked: RefCell<Vec<Asked>>,
}

impl World {
    /// Splits an input; later parts are sealed into earlier ones where those say so.
    pub(super) fn of(input: &[u8]) -> Self {
        let mut parts = split(input, SEPARATOR.as_bytes());
        let mut left = MOST_SEALS;
        for index in (0..parts.len()).rev() {
            parts[index] = with_seals(&parts, index, &mut left);
        }
        Self { parts, served: RefCell::default(), asked: RefCell::default() }
    }

    /// Reads the configuration with everything that it leads to.
    pub(super) fn open(&self) -> Read {
        let identity = Identity { hostname: "node-7".into(), ..Identity::default() };
        let (now, elapsed) = (Timestamp::UNIX_EPOCH, &|| Duration::ZERO);
        let (remote, passphrase): (Providers<'_, dyn RemoteProvider>, Providers<'_, dyn PassphraseProvider>) =
            ([("file", self), ("https", self)], [("file", self), ("https", self)]);
        let local = Source { name: "input".into(), bytes: Zeroizing::new(self.parts[0].clone()) };
        let surroundings = Surroundings { identity, now, elapsed, remote: &remote, passphrase: &passphrase };
        let given = Given::read(vec![local], ForeignKinds::Noted);
        given.map_or_else(|read| read, |given| given.expand(&surroundings))
    }

    /// Whether a word can be read in what lies on the machine, was served, or names a place, not only in what was sealed.
    pub(super) fn is_in_the_open(&self, word: &str) -> bool {
        let served = self.served.borrow();
        let open = [0].iter().chain(served.iter()).filter_map(|number| self.parts.get(*number));
        let is_shown = self.asked.borrow().iter().any(|asked| asked.shown.contains(word));
        is_shown || open.into_iter().any(|part| part.windows(word.len()).any(|window| window == word.as_bytes()))
    }

    fn note(&self, request: &Request<'_>) {
        let Request { rights, redirect_rights, limit, timeout, .. } = *request;
        self.asked.borrow_mut().push(Asked {
            shown: request.shown.to_owned(),
            rights,
            redirect_rights,
            limit,
            timeout,
        });
    }
}

impl RemoteProvider for World {
    fn fetch(&self, request: &Request<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        self.note(request);
        if request.uri.expose().starts_with("file:") && !request.rights.local_files {
            return Err(ProviderError::not_allowed("local files", "localFiles"));
        }
        let name = request.uri.expose().rsplit('/').next().unwrap_or_default();
        let number = digits(name.as_bytes()).unwrap_or(0);
        let part = self.parts.get(number).ok_or_else(|| ProviderError::unavailable("nothing is there"))?;
        self.served.borrow_mut().insert(number);
        Ok(Zeroizing::new(part.clone()))
    }
}

impl PassphraseProvider for World {
    fn passphrase(&self, request: &Request<'_>) -> Result<Secret<Vec<u8>>, ProviderError> {
        self.note(request);
        Ok(Secret::new(PASSPHRASE.into()))
    }
}

/// A message without what differs from input to input.
pub(super) fn shape(message: &str) -> String {
    let letters = message.chars().take_while(|&letter| letter != '`').filter(|letter| letter.is_alphabetic());
    letters.take(40).collect()
}

/// A part with every `%seal N` replaced by the sealed text of part N, which must stand behind it.
fn with_seals(parts: &[Vec<u8>], index: usize, left: &mut usize) -> Vec<u8> {
    let mut pieces = split(&parts[index], SEAL).into_iter();
    let mut whole = pieces.next().unwrap_or_default();
    for piece in pieces {
        let inner = digits(&piece).filter(|number| *number > index).and_then(|number| parts.get(number));
        if let Some(inner) = inner.filter(|_| *left > 0) {
            *left -= 1;
            whole.extend_from_slice(&sealed(inner));
        }
        let end = piece.iter().position(|byte| *byte == b'\n').unwrap_or(piece.len());
        whole.extend_from_slice(&piece[end..]);
    }
    whole
}

fn sealed(text: &[u8]) -> Vec<u8> {
    let uri = Secret::new("file:///passphrase".to_owned());
    let heading = Heading { name: None, provider: "file", passphrase_uri: &uri, certificate_authority: None };
    // The same salt and iv each time: nothing is secret here, and a failure must come again.
    match seal(text, &Secret::new(PASSPHRASE.into()), ROUNDS, Fresh { salt: [1; 16], iv: [2; 12] }) {
        Ok(sealed) => format!("\n---\n{}", sealed_document(&sealed, &heading)).into_bytes(),
        Err(error) => panic!("{error}"),
    }
}

/// The first number in a text.
fn digits(text: &[u8]) -> Option<usize> {
    let first = text.iter().position(u8::is_ascii_digit)?;
    let digits: String =
        text[first..].iter().take(3).take_while(|byte| byte.is_ascii_digit()).map(|&b| b as char).collect();
    digits.parse().ok()
}

fn split(text: &[u8], at: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(found) = rest.windows(at.len()).position(|window| window == at) {
        pieces.push(rest[..found].to_vec());
        rest = &rest[found + at.len()..];
    }
    pieces.push(rest.to_vec());
    pieces
}
