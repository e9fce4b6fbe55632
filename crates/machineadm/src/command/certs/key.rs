//! The certificate key: generated, or given by flag, file, standard input or configuration file.
use super::arguments::{Key, KeyOption};
use crate::{command::small_file, command_error::CommandError, show};
use certs::CertificateKey;
use host::{
    contract::Exit,
    linux::{entropy, input::Care},
};
use secret::Secret;
use serde_json::json;

pub(super) fn run(asked: &Key) -> Result<Exit, CommandError> {
    let key = generated()?.expose_digits();
    match asked.output {
        None => show::print(format!("{}\n", key.as_str()))?,
        Some(output) => show::machine_readable(&json!({"certificateKey": key.as_str()}), output)?,
    }
    Ok(Exit::Done)
}

/// A random key.
pub(crate) fn generated() -> Result<CertificateKey, CommandError> {
    let mut failure = None;
    let key = CertificateKey::generate(|buffer| failure = entropy(buffer).err());
    failure.map_or(Ok(key), |error| Err(error.into()))
}

/// The key that was given, if one was: by a flag, or in a configuration file.
pub(crate) fn given(
    asked: &KeyOption,
    configured: Option<&Secret<String>>,
) -> Result<Option<CertificateKey>, CommandError> {
    let flag = match (&asked.certificate_key, &asked.certificate_key_file) {
        (Some(text), _) => Some(("--certificate-key", parsed("--certificate-key", text)?)),
        (None, Some(name)) => {
            let text = small_file::text(name, Care::Applying)?;
            small_file::warn_if_others_read("--certificate-key-file", name, "the certificate key");
            Some(("--certificate-key-file", parsed("--certificate-key-file", text.trim_end())?))
        }
        (None, None) => None,
    };
    match (flag, configured) {
        (Some((flag, _)), Some(configured)) if !configured.expose().is_empty() => {
            let text = format!("certificateKey is set in --config and {flag} is given: remove one of them");
            Err(CommandError::invalid(text))
        }
        (Some((_, key)), _) => Ok(Some(key)),
        // As kubeadm reads it, an empty one is none.
        (None, configured) => configured
            .filter(|text| !text.expose().is_empty())
            .map(|text| parsed("certificateKey", text.expose()))
            .transpose(),
    }
}

fn parsed(name: &str, text: &str) -> Result<CertificateKey, CommandError> {
    text.parse().map_err(|error| CommandError::invalid(format!("{name} {error}")))
}
