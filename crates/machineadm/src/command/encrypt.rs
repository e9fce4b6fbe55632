//! `machineadm encrypt`: encrypts documents with a passphrase.
use super::small_file;
use crate::{
    command_error::CommandError,
    context::{sources, without_errors},
    provider::Passphrases,
    show,
};
use clap::Args;
use documents::{
    AnyDocument, Fresh, Heading, Secret, Source, limits,
    v1alpha1::{Encrypted, Machines, Scope, Sealed, parse_duration, parse_time},
};
use host::{
    contract::Exit,
    linux::{fresh_bytes, input::Care},
};
use jiff::Timestamp;
use std::time::Duration;
use zeroize::Zeroizing;

/// A time that a machine can have at all between fetching and opening.
const SHORTEST: Duration = Duration::from_secs(1);
/// A shorter passphrase is found by trying.
const SHORT: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct Encrypt {
    /// Documents to encrypt; may be repeated; `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Provider of the passphrase: file, descriptor or https
    #[arg(long, value_name = "NAME", default_value = "file")]
    pub(crate) provider: String,
    /// URI of the passphrase: file:///PATH, fd:N or https://HOST/PATH
    #[arg(long, value_name = "URI")]
    pub(crate) passphrase_uri: String,
    /// CA certificates (PEM) for the https server of the passphrase, instead of the system's; stored in the EncryptedConfig
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_authority: Option<String>,
    /// Rounds of the key derivation
    #[arg(long, value_name = "N", default_value_t = limits::ROUNDS_DEFAULT,
        value_parser = clap::value_parser!(u32).range(i64::from(limits::ROUNDS_FEWEST)..=i64::from(limits::ROUNDS_MOST)))]
    pub(crate) iterations: u32,
    /// Allow only the machine with this host name; may be repeated; one matching --for option is enough
    #[arg(long, value_name = "NAME")]
    pub(crate) for_hostname: Vec<String>,
    /// Allow only the machine with this /etc/machine-id; may be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) for_machine_id: Vec<String>,
    /// Allow only the machine with this /sys/class/dmi/id/product_uuid; may be repeated
    #[arg(long, value_name = "UUID")]
    pub(crate) for_product_uuid: Vec<String>,
    /// Time when the documents expire, such as 2026-11-17T08:00:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "valid_for", value_parser = parse_time)]
    pub(crate) not_after: Option<Timestamp>,
    /// Time until the documents expire, such as 24h
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) valid_for: Option<Duration>,
    /// Maximum age of the documents when they are decrypted, such as 24h
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) max_age: Option<Duration>,
    /// Name of the EncryptedConfig
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

pub(crate) fn run(asked: &Encrypt) -> Result<Exit, CommandError> {
    let text = text(asked)?;
    let uri = Secret::new(asked.passphrase_uri.clone());
    let authority = authority(asked)?;
    let heading = Heading {
        name: asked.name.as_deref(),
        provider: &asked.provider,
        passphrase_uri: &uri,
        certificate_authority: authority.as_deref(),
    };
    let passphrase = passphrase(&heading)?;
    let fresh = Fresh { salt: fresh_bytes()?, iv: fresh_bytes()? };
    let sealed = documents::seal(&text, &passphrase, asked.iterations, fresh);
    let sealed = sealed.map_err(|error| CommandError::failed(error.to_string()))?;
    // With its marker, so that it can be put behind other documents.
    let document = format!("---\n{}", documents::sealed_document(&sealed, &heading));
    // Opening counts both.
    if document.len() + text.len() > limits::TEXT_BYTES {
        let most = limits::TEXT_BYTES >> 10;
        let text = format!("encrypted and decrypted, the documents would exceed {most} KiB: encrypt fewer documents");
        return Err(CommandError::usage(text));
    }
    show::print(document)?;
    Ok(Exit::Done)
}

/// What is to be sealed: the scope, if one is asked for, and the documents, without a problem in any.
fn text(asked: &Encrypt) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let sources = sources(&asked.files, Care::Reading)?;
    let documents = documents::joined(&sources);
    let read = without_errors(documents::read_for_sealing(sources))?;
    let Some(scope) = scope(asked).map_err(CommandError::usage)? else { return Ok(documents) };
    if read.documents.first().is_some_and(|first| matches!(first.body, AnyDocument::Scope(_))) {
        return Err(CommandError::usage("the documents start with a ScopeConfig: remove it, or the options for one"));
    }
    let scope = documents::scope_document(&scope).into_bytes();
    without_errors(documents::read_for_sealing(vec![Source {
        name: "the options".into(),
        bytes: scope.clone().into(),
    }]))?;
    let parts = [Source { name: "scope".into(), bytes: scope.into() }, Source { name: "-".into(), bytes: documents }];
    Ok(documents::joined(&parts))
}

/// The text of the certificates that the server of the passphrase is checked with.
fn authority(asked: &Encrypt) -> Result<Option<String>, CommandError> {
    let Some(name) = &asked.certificate_authority else { return Ok(None) };
    if asked.provider != "https" {
        return Err(CommandError::usage("--certificate-authority requires --provider https"));
    }
    let bytes = small_file::bytes_within(name, Care::Reading, limits::TEXT_BYTES)?;
    let text = String::from_utf8(bytes.to_vec());
    text.map(Some).map_err(|_| CommandError::usage(format!("{name} has no certificates in PEM: it is not text")))
}

fn scope(asked: &Encrypt) -> Result<Option<Scope>, &'static str> {
    let Encrypt { for_hostname, for_machine_id, for_product_uuid, not_after, valid_for, max_age, .. } = asked;
    let machines = Machines {
        hostnames: for_hostname.clone(),
        machine_ids: for_machine_id.clone(),
        product_uuids: for_product_uuid.clone(),
    };
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default();
    let end = valid_for.map(|length| now.checked_add(length)).transpose();
    let not_after = end.map_err(|_| "--valid-for is longer than time lasts")?.or(*not_after);
    if [valid_for, max_age].into_iter().flatten().any(|length| *length < SHORTEST) {
        return Err("--valid-for and --max-age must be at least 1s");
    }
    if not_after.is_some_and(|end| end <= now) {
        warn!("--not-after is in the past: machines will refuse to decrypt these documents");
    }
    // A machine whose clock is behind would otherwise take what is over.
    let issued_at = (not_after.is_some() || max_age.is_some()).then_some(now);
    let machines = (machines != Machines::default()).then_some(machines);
    let scope = Scope { machines, issued_at, not_after, max_age: *max_age };
    Ok((scope != Scope::default()).then_some(scope))
}

/// The passphrase, once the rest of the document is seen to be right.
fn passphrase(heading: &Heading<'_>) -> Result<Secret<Vec<u8>>, CommandError> {
    let blank = Sealed { ciphertext: vec![0; 16], salt: vec![0; 16], iv: [0; 12], rounds: limits::ROUNDS_DEFAULT };
    let document = documents::sealed_document(&blank, heading).into_bytes();
    let source = Source { name: "the options".into(), bytes: document.into() };
    let read = without_errors(documents::read(vec![source]))?;
    let Some(AnyDocument::Encrypted(encrypted)) = read.documents.first().map(|document| &document.body) else {
        return Err(CommandError::usage("the options do not describe an EncryptedConfig"));
    };
    let passphrase = Passphrases::default().of(encrypted as &Encrypted)?;
    if passphrase.expose().len() < SHORT {
        warn!(
            "the passphrase has fewer than {SHORT} bytes; anyone who has the encrypted file can try all short ones: \
             generate one with `openssl rand -base64 32`"
        );
    }
    Ok(passphrase)
}
