//! Which keys of a token count, which one of them encrypts, and what names each of them for ever.
use super::failures::TokenError;
use super::sessions::TokenSession;
use super::{Pkcs11Identity, Pkcs11Settings};
use crate::{Failure, FailureKind};
use aws_lc_rs::digest::{Context, SHA256};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::types::Date;
use objects::hex;
use std::cmp::Ordering;
use zeroize::Zeroizing;

/// What the token decrypts with a key to tell its material. AES-GCM never enciphers what comes out of it but by a chance of
/// one in 2^96, and only a digest of it is shown. Decryption, since a key that no longer encrypts keeps its version.
const BLOCK: &[u8; 16] = b"machineadm kms 1";
/// Separates the digests of the two rules from each other and from any others.
const OF_MATERIAL: &str = "material";
const OF_ATTRIBUTES: &str = "attributes";
const NO_ECB: &str = "the token refuses CKM_AES_ECB for the key, with which the key id is computed: allow it for the key, or \
    set identity: attributes, which makes another key id";

/// One key of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenKey {
    pub(super) handle: ObjectHandle,
    pub(super) id: Vec<u8>,
}

/// The AES keys that the settings name, the largest CKA_ID first.
pub(super) fn keys(open: &TokenSession, settings: &Pkcs11Settings) -> Result<Vec<TokenKey>, Error> {
    let mut template = vec![Attribute::Class(ObjectClass::SECRET_KEY), Attribute::KeyType(KeyType::AES)];
    template.extend(settings.key_label.as_ref().map(|label| Attribute::Label(label.as_bytes().to_vec())));
    template.extend(settings.key_id.as_ref().map(|id| Attribute::Id(id.clone())));
    let mut keys = Vec::new();
    for handle in open.session.find_objects(&template)? {
        let id = match open.session.get_attributes(handle, &[AttributeType::Id])?.pop() {
            Some(Attribute::Id(id)) => id,
            _ => Vec::new(),
        };
        keys.push(TokenKey { handle, id });
    }
    keys.sort_by(|a, b| by_number(&b.id, &a.id));
    Ok(keys)
}

/// Orders ids as numbers, whatever zeros stand before them.
pub(super) fn by_number(a: &[u8], b: &[u8]) -> Ordering {
    let digits = |id: &[u8]| id.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<u8>>();
    let (a, b) = (digits(a), digits(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

/// The version of a key, by the rule of the settings and by no other: a token that allows or refuses CKM_AES_ECB from now
/// on must not look like one whose key was rotated.
pub(super) fn version(open: &TokenSession, key: &TokenKey, identity: Pkcs11Identity) -> Result<String, TokenError> {
    match identity {
        Pkcs11Identity::Attributes => Ok(attributes(open, key)?),
        Pkcs11Identity::Material => {
            material(open, key)?.ok_or_else(|| TokenError::Known(Failure::new(FailureKind::AccessDenied, NO_ECB)))
        }
    }
}

/// Whether a key is the one that a version names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// It is.
    Yes,
    /// It is not: its material is another.
    No,
    /// The token does not let that be computed, or attributes were changed since. Only the key that encrypted decrypts.
    Unknown,
}

/// Compares a key with a version, by the version's rule.
pub(super) fn compare(open: &TokenSession, key: &TokenKey, version: &str) -> Result<Match, Error> {
    if rule(version) == Some(OF_ATTRIBUTES) {
        return Ok(if attributes(open, key)? == version { Match::Yes } else { Match::Unknown });
    }
    Ok(match material(open, key)? {
        Some(own) if own == version => Match::Yes,
        Some(_) => Match::No,
        None => Match::Unknown,
    })
}

/// A digest of one block that the token decrypts; nothing where it refuses that for the key.
fn material(open: &TokenSession, key: &TokenKey) -> Result<Option<String>, Error> {
    match open.session.decrypt(&Mechanism::AesEcb, key.handle, BLOCK) {
        Ok(block) => Ok(Some(digest(OF_MATERIAL, &[Zeroizing::new(block).as_slice()]))),
        Err(Error::Pkcs11(
            RvError::MechanismInvalid
            | RvError::KeyFunctionNotPermitted
            | RvError::FunctionRejected
            | RvError::ActionProhibited
            | RvError::FunctionNotSupported,
            _,
        )) => Ok(None),
        Err(error) => Err(error),
    }
}

/// CKA_UNIQUE_ID, which no token uses twice; where it has none, all that a key created again would hardly share.
fn attributes(open: &TokenSession, key: &TokenKey) -> Result<String, Error> {
    let wanted = [AttributeType::UniqueId, AttributeType::Label, AttributeType::CheckValue, AttributeType::StartDate];
    let (mut unique, mut others) = (Vec::new(), vec![key.id.clone()]);
    for attribute in open.session.get_attributes(key.handle, &wanted)? {
        match attribute {
            Attribute::UniqueId(value) => unique = value,
            Attribute::Label(value) | Attribute::CheckValue(value) => others.push(value),
            Attribute::StartDate(date) => others.push(written(&date)),
            _ => {}
        }
    }
    let parts = if unique.is_empty() { others } else { vec![unique] };
    let parts: Vec<&[u8]> = [open.serial.as_bytes()].into_iter().chain(parts.iter().map(Vec::as_slice)).collect();
    Ok(digest(OF_ATTRIBUTES, &parts))
}

/// A date as the standard writes it, YYYYMMDD: what a library shows of it may be another text in its next version, and with
/// it the key id.
fn written(date: &Date) -> Vec<u8> {
    [&date.year[..], &date.month, &date.day].concat()
}

/// The rule and a digest of the parts, each with its length.
fn digest(rule: &str, parts: &[&[u8]]) -> String {
    let mut digest = Context::new(&SHA256);
    digest.update(format!("machineadm kms pkcs11 key version v1 {rule}").as_bytes());
    for part in parts {
        digest.update(&(part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    format!("{rule}:{}", hex::encode(&digest.finish().as_ref()[..16]))
}

/// Whether a text can be a version.
pub(super) fn is_version(text: &str) -> bool {
    rule(text).is_some()
}

/// The rule of a version.
fn rule(version: &str) -> Option<&'static str> {
    let (rule, digest) = version.split_once(':')?;
    [OF_MATERIAL, OF_ATTRIBUTES].into_iter().find(|own| *own == rule && hex::encodes(digest, 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_as_numbers() {
        let ordered: &[&[u8]] = &[b"", b"\x01", b"\x02", b"\x0a", b"\xff", b"\x01\x00", b"\x02\x00", b"20261101"];
        for (at, id) in ordered.iter().enumerate() {
            for (other, than) in ordered.iter().enumerate() {
                assert_eq!(by_number(id, than), at.cmp(&other), "{id:?} {than:?}");
            }
        }
        assert_eq!(by_number(b"\x00\x00\x05", b"\x05"), Ordering::Equal);
    }

    #[test]
    fn a_date_is_written_as_the_standard_does() {
        let date = Date::new_from_str_slice("2026", "11", "01").unwrap();
        assert_eq!(written(&date), b"20261101");
    }

    #[test]
    fn a_version_names_its_rule_and_nothing_else_is_one() {
        let (material, attributes) = (digest(OF_MATERIAL, &[b"a", b"b"]), digest(OF_ATTRIBUTES, &[b"a", b"b"]));
        assert_ne!(material.split_once(':').unwrap().1, attributes.split_once(':').unwrap().1);
        assert_ne!(digest(OF_MATERIAL, &[b"ab"]), digest(OF_MATERIAL, &[b"a", b"b"]));
        assert!(is_version(&material) && is_version(&attributes));
        for text in ["", "material", "material:", "material:00", &material[..40], &material.to_uppercase()] {
            assert!(!is_version(text), "{text}");
        }
    }
}
