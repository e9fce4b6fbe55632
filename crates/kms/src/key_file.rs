//! The file of the backend `file`: AES-256 keys, the first of which encrypts.
//!
//! ```yaml
//! keys:
//! - name: "2026-11"
//!   secret: BASE64 OF 32 RANDOM BYTES
//! - name: "2026-08"
//!   secret: ...
//! ```
use crate::{Failure, FailureKind};
use base64::{Engine, prelude::BASE64_STANDARD};
use objects::yaml;
use rustix::fs::{Mode, OFlags, fstat, open};
use secret::Secret;
use serde_json::{Map, Value};
use std::{fs::File, io::Read, os::fd::OwnedFd, path::Path};
use zeroize::{Zeroize, Zeroizing};

/// Bits of a mode that let others than the owner read or write.
const OTHERS: u32 = 0o077;

/// One key of the file.
pub(crate) struct FileKey {
    pub(crate) name: String,
    pub(crate) secret: Secret<[u8; 32]>,
}

/// Reads the file: a regular file of ours that nobody else may read. The first key is the one that encrypts.
pub(crate) fn read(path: &Path) -> Result<Vec<FileKey>, Failure> {
    let shown = path.display();
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = open(path, flags, Mode::empty()).map_err(|errno| {
        let kind = match errno {
            rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR => FailureKind::Missing,
            rustix::io::Errno::ACCESS | rustix::io::Errno::PERM => FailureKind::AccessDenied,
            rustix::io::Errno::LOOP => FailureKind::AccessDenied,
            _ => FailureKind::Unreachable,
        };
        Failure::new(kind, format!("cannot open the key file {shown}: {errno}"))
    })?;
    refuse_loose_file(&file, path)?;
    let mut text = Zeroizing::new(String::new());
    let limit = objects::SMALL_FILE_LIMIT as u64;
    File::from(file).take(limit + 1).read_to_string(&mut text).map_err(|error| {
        Failure::new(FailureKind::Unreachable, format!("cannot read the key file {shown}: {error}"))
    })?;
    if text.len() as u64 > limit {
        return Err(invalid(path, "larger than 1 MiB"));
    }
    parse(&text).map_err(|problem| invalid(path, &problem))
}

fn refuse_loose_file(file: &OwnedFd, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let found = fstat(file).map_err(|errno| {
        Failure::new(FailureKind::Unreachable, format!("cannot look at the key file {shown}: {errno}"))
    })?;
    let owner = rustix::process::geteuid().as_raw();
    let denied = |message: String| Err(Failure::new(FailureKind::AccessDenied, message));
    if rustix::fs::FileType::from_raw_mode(found.st_mode) != rustix::fs::FileType::RegularFile {
        return denied(format!("the key file {shown} is not a regular file"));
    }
    if found.st_uid != owner && found.st_uid != 0 {
        return denied(format!(
            "the key file {shown} belongs to user {}: it must be root's or {owner}'s",
            found.st_uid
        ));
    }
    if found.st_mode & OTHERS != 0 {
        let mode = found.st_mode & 0o7777;
        return denied(format!("the key file {shown} has mode {mode:04o}: other users may read or write it; use 0600"));
    }
    Ok(())
}

fn invalid(path: &Path, problem: &str) -> Failure {
    let message = format!("the key file {} is not valid: {problem}", path.display());
    Failure::new(FailureKind::Missing, message)
}

/// The keys of a text. Errors never quote it.
fn parse(text: &str) -> Result<Vec<FileKey>, String> {
    let mut tree = yaml::parse(text).map_err(|error| format!("line {}: not valid YAML", error.line))?;
    if !tree.repeated.is_empty() || tree.goes_on {
        return Err("a field is repeated, or a second document follows".to_owned());
    }
    let Value::Object(root) = &mut tree.value else { return Err("must have the field keys".to_owned()) };
    if root.len() != 1 {
        return Err("must have the field keys and no other".to_owned());
    }
    let Some(Value::Array(list)) = root.get_mut("keys") else { return Err("keys must be a list".to_owned()) };
    let keys: Vec<FileKey> = list
        .iter_mut()
        .enumerate()
        .map(|(at, entry)| key(entry).map_err(|problem| format!("keys[{at}]: {problem}")))
        .collect::<Result<_, _>>()?;
    if keys.is_empty() {
        return Err("keys must have at least one key".to_owned());
    }
    let is_double = |at: usize| keys[..at].iter().any(|earlier| earlier.secret == keys[at].secret);
    match (0..keys.len()).find(|at| is_double(*at)) {
        Some(at) => Err(format!("keys[{at}]: the same secret stands twice")),
        None => Ok(keys),
    }
}

fn key(entry: &mut Value) -> Result<FileKey, String> {
    let Value::Object(fields) = entry else { return Err("must have name and secret".to_owned()) };
    let name = take(fields, "name")?;
    let encoded = Zeroizing::new(take(fields, "secret")?);
    if !fields.is_empty() {
        return Err("must have name and secret and nothing else".to_owned());
    }
    if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
        return Err("name must have 1 to 64 printable characters".to_owned());
    }
    let decoded = Zeroizing::new(BASE64_STANDARD.decode(encoded.trim()).map_err(|_| "secret must be base64")?);
    let mut bytes: [u8; 32] = decoded.as_slice().try_into().map_err(|_| "secret must be 32 bytes in base64")?;
    let secret = Secret::new(bytes);
    bytes.zeroize();
    Ok(FileKey { name, secret })
}

fn take(fields: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("{name} must be a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(text).err().unwrap()
    }

    #[test]
    fn a_key_file_that_is_not_valid_is_refused_without_quoting_it() {
        let secret = BASE64_STANDARD.encode([7; 32]);
        let short = BASE64_STANDARD.encode([7; 16]);
        assert_eq!(parse(&format!("keys: [{{name: a, secret: {secret}}}]")).unwrap().len(), 1);
        assert_eq!(problem("keys: []"), "keys must have at least one key");
        assert_eq!(
            problem(&format!("keys: [{{name: a, secret: {short}}}]")),
            "keys[0]: secret must be 32 bytes in base64"
        );
        let twice = format!("keys: [{{name: a, secret: {secret}}}, {{name: b, secret: {secret}}}]");
        assert_eq!(problem(&twice), "keys[1]: the same secret stands twice");
        let more = format!("keys: [{{name: a, secret: {secret}, other: x}}]");
        assert_eq!(problem(&more), "keys[0]: must have name and secret and nothing else");
        for name in ["''", "'a\tb'", &"x".repeat(65)] {
            let found = problem(&format!("keys: [{{name: {name}, secret: {secret}}}]"));
            assert_eq!(found, "keys[0]: name must have 1 to 64 printable characters");
        }
        for text in ["", "[", "keys: x", "a: 1", &format!("keys: [{secret}]"), &format!("{secret}: 1"), &secret] {
            let found = problem(text);
            assert!(!found.contains(&secret[..8]), "{found}");
        }
    }
}
