//! Keys in a file of this machine, for tests and single machines.
//!
//! It protects what leaves the machine without the file: backups and disks of etcd. It does not protect from anybody who
//! can read files of root on the machine, and nothing notices when the file is copied.
use crate::key_file::{self, FileKey};
use crate::{Failure, FailureKind, KeyService, KeyVersion, Sealed};
use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use objects::hex;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The first part of its ids.
const PROVIDER: &str = "file";
/// What the version of a key is the HMAC of, so that the public version tells nothing of the key.
const VERSION_LABEL: &[u8] = b"machineadm kms file key version v1";
const NONCE: usize = 12;

/// The backend `file`: reads its file for each call, so that it has no state of its own.
#[derive(Debug)]
pub struct FileKeys {
    path: PathBuf,
}

impl FileKeys {
    /// The keys in this file.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    fn keys(&self) -> Result<Vec<FileKey>, Failure> {
        key_file::read(&self.path)
    }

    fn find(&self, version: &str) -> Result<FileKey, Failure> {
        let found = self.keys()?.into_iter().find(|key| fingerprint(key) == version);
        found.ok_or_else(|| {
            let message = format!(
                "the key file {} has no key of version {}: put the old key back, below the current one",
                self.path.display(),
                objects::printable(version, 80)
            );
            Failure::new(FailureKind::Missing, message)
        })
    }
}

impl KeyService for FileKeys {
    fn current(&self) -> Result<KeyVersion, Failure> {
        Ok(version(&current(self.keys()?)))
    }

    fn encrypt(&self, plaintext: &[u8], context: &[u8]) -> Result<Sealed, Failure> {
        let key = current(self.keys()?);
        let mut sealed = plaintext.to_vec();
        let nonce = cipher(&key)?
            .seal_in_place_append_tag(Aad::from(context), &mut sealed)
            .map_err(|_| Failure::invalid("the plaintext can't be encrypted"))?;
        let ciphertext = [&nonce.as_ref()[..], &sealed].concat();
        Ok(Sealed { ciphertext, version: version(&key) })
    }

    fn decrypt(&self, ciphertext: &[u8], version: &str, context: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let key = self.find(version)?;
        let damaged = || {
            let message = format!("the ciphertext is damaged, or was not encrypted by key {}", key.name);
            Failure::invalid(message)
        };
        let (nonce, sealed) = ciphertext.split_at_checked(NONCE).ok_or_else(damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| damaged())?;
        let mut plaintext = Zeroizing::new(sealed.to_vec());
        let length =
            cipher(&key)?.open_in_place(nonce, Aad::from(context), &mut plaintext).map_err(|_| damaged())?.len();
        plaintext.truncate(length);
        Ok(plaintext)
    }

    fn named(&self, wanted: &str) -> Result<KeyVersion, Failure> {
        self.find(wanted).map(|key| version(&key))
    }
}

/// The key that encrypts; the reader has refused a file without one.
fn current(mut keys: Vec<FileKey>) -> FileKey {
    keys.swap_remove(0)
}

fn cipher(key: &FileKey) -> Result<RandomizedNonceKey, Failure> {
    RandomizedNonceKey::new(&AES_256_GCM, key.secret.expose()).map_err(|_| Failure::invalid("not an AES-256 key"))
}

/// The material alone names the key: the same file has the same ids wherever it is and whatever its keys are called.
fn version(key: &FileKey) -> KeyVersion {
    KeyVersion { provider: PROVIDER, key: String::new(), version: fingerprint(key) }
}

fn fingerprint(key: &FileKey) -> String {
    let material = hmac::Key::new(hmac::HMAC_SHA256, key.secret.expose());
    hex::encode(&hmac::sign(&material, VERSION_LABEL).as_ref()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, prelude::BASE64_STANDARD};
    use std::{fs, os::unix::fs::PermissionsExt};
    use tempfile::TempDir;

    fn write(path: &Path, keys: &[u8]) {
        let entry = |byte: &u8| format!("- {{name: k{byte}, secret: {}}}\n", BASE64_STANDARD.encode([*byte; 32]));
        fs::write(path, format!("keys:\n{}", keys.iter().map(entry).collect::<String>())).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn keys_of(list: &[u8]) -> (TempDir, FileKeys) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("keys.yaml");
        write(&path, list);
        (directory, FileKeys::new(&path))
    }

    #[test]
    fn what_is_encrypted_is_decrypted_after_a_rotation_and_only_in_its_context() {
        let (_directory, keys) = keys_of(&[1]);
        let sealed = keys.encrypt(b"seed", b"id").unwrap();
        assert_eq!(sealed.version, keys.current().unwrap());
        write(&keys.path, &[2, 1]);
        assert_ne!(sealed.version, keys.current().unwrap());
        let version = &sealed.version.version;
        assert_eq!(*keys.decrypt(&sealed.ciphertext, version, b"id").unwrap(), b"seed");
        let other = keys.decrypt(&sealed.ciphertext, version, b"another").unwrap_err();
        assert_eq!(other.kind, FailureKind::InvalidRequest);
        let current = keys.current().unwrap().version;
        let pinned = keys.decrypt(&sealed.ciphertext, &current, b"id").unwrap_err();
        assert_eq!(pinned.kind, FailureKind::InvalidRequest);
        write(&keys.path, &[2]);
        assert_eq!(keys.decrypt(&sealed.ciphertext, version, b"id").unwrap_err().kind, FailureKind::Missing);
    }

    #[test]
    fn damaged_ciphertexts_of_every_length_are_refused() {
        let (_directory, keys) = keys_of(&[1]);
        let sealed = keys.encrypt(&[5; 32], b"id").unwrap();
        let version = &sealed.version.version;
        for length in 0..sealed.ciphertext.len() {
            let mut damaged = sealed.ciphertext.clone();
            damaged[length] ^= 1;
            for wrong in [&damaged[..], &sealed.ciphertext[..length]] {
                assert_eq!(keys.decrypt(wrong, version, b"id").unwrap_err().kind, FailureKind::InvalidRequest);
            }
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_and_so_is_a_link() {
        let (directory, keys) = keys_of(&[1]);
        fs::set_permissions(&keys.path, fs::Permissions::from_mode(0o640)).unwrap();
        let failure = keys.current().unwrap_err();
        assert_eq!(failure.kind, FailureKind::AccessDenied);
        assert!(failure.message.ends_with("has mode 0640: other users may read or write it; use 0600"), "{failure}");
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&keys.path, &link).unwrap();
        assert_eq!(FileKeys::new(&link).current().unwrap_err().kind, FailureKind::AccessDenied);
        fs::remove_file(&keys.path).unwrap();
        assert_eq!(keys.current().unwrap_err().kind, FailureKind::Missing);
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        testbed::needs!(Root);
        let (_directory, keys) = keys_of(&[1]);
        std::os::unix::fs::chown(&keys.path, Some(65534), None).unwrap();
        let failure = keys.current().unwrap_err();
        assert_eq!(failure.kind, FailureKind::AccessDenied);
        assert!(failure.message.ends_with("belongs to user 65534: it must be root's or 0's"), "{failure}");
    }

    #[test]
    fn the_id_follows_the_material_and_not_the_path_or_the_name() {
        let ((_a, here), (_b, there)) = (keys_of(&[1]), keys_of(&[1]));
        assert_eq!(here.current().unwrap(), there.current().unwrap());
        let text = fs::read_to_string(&there.path).unwrap().replace("k1", "renamed");
        fs::write(&there.path, text).unwrap();
        assert_eq!(here.current().unwrap().id(0), there.current().unwrap().id(0));
    }
}
