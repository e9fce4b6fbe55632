//! A Decrypt that kube-apiserver passes on from etcd: the ciphertext and the annotations, which anybody who can write to
//! etcd has made. Each part has its length in two bytes before it: version, epoch, key id, ciphertext.
use crate::{Seen, Target};
use kms::{AwsCredentials, AwsKms, AwsSettings, FileKeys, KeyArn, KeyService, Sealed};
use machineadm_kms_plugin::{EPOCH_ANNOTATION, VERSION_ANNOTATION, named_version};
use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;

pub(super) const TARGET: Target = Target {
    name: "kms-decrypt",
    inputs: 10_000,
    seeds,
    words: &[
        "unversioned",
        "0",
        "18446744073709551615",
        "file:",
        "aws:",
        "vault:v1:",
        "1",
        "00000000000000000000000000000000",
    ],
    read: target,
};

const TEXT: &[u8] = b"a seed of thirty-two bytes, or so";
const EPOCH: u64 = 3;

/// Keys in a file, what they encrypted, and a key of AWS that nothing is asked of.
struct World {
    _directory: TempDir,
    keys: FileKeys,
    sealed: Sealed,
    aws: AwsKms,
}

static WORLD: LazyLock<World> = LazyLock::new(|| world().unwrap_or_else(|error| panic!("{error}")));

fn world() -> Result<World, Box<dyn std::error::Error>> {
    let directory = TempDir::new()?;
    let path = directory.path().join("keys.yaml");
    // 32 bytes of 0x07.
    std::fs::write(&path, "keys: [{name: a, secret: BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=}]\n")?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    let keys = FileKeys::new(&path);
    let id = keys.current()?.id(EPOCH);
    let sealed = keys.encrypt(TEXT, id.as_str().as_bytes())?;
    let aws = AwsKms::new(AwsSettings {
        key: KeyArn::parse("arn:aws:kms:us-west-2:111122223333:key/k").ok_or("not an ARN")?,
        region: "us-west-2".to_owned(),
        endpoint: "https://127.0.0.1:9".to_owned(),
        ca_file: None,
        encryption_context: BTreeMap::new(),
        credentials: AwsCredentials::Directory { path: directory.path().join("none") },
        timeout: Duration::from_millis(1),
    });
    Ok(World { _directory: directory, keys, sealed, aws })
}

fn seeds() -> Vec<Vec<u8>> {
    let Sealed { ciphertext, version } = &WORLD.sealed;
    let id = version.id(EPOCH);
    let parts: [&[u8]; 4] = [version.version.as_bytes(), b"3", id.as_str().as_bytes(), ciphertext];
    let part = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap_or_default().to_be_bytes(), bytes].concat();
    vec![
        parts.iter().flat_map(|bytes| part(bytes)).collect(),
        [part(b""), part(b""), part(b"aws:x"), part(b"1x")].concat(),
    ]
}

/// It is refused, or it is exactly what was encrypted.
fn target(input: &[u8]) -> Seen {
    let mut rest = input;
    let mut next = || {
        let (length, after) =
            rest.split_first_chunk().map_or((0, &[][..]), |(length, after)| (u16::from_be_bytes(*length), after));
        let (part, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        part.to_vec()
    };
    let (version, epoch, id, ciphertext) = (next(), next(), next(), next());
    let annotations: HashMap<String, Vec<u8>> = [(VERSION_ANNOTATION, version), (EPOCH_ANNOTATION, epoch)]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let id = String::from_utf8_lossy(&id).into_owned();
    let World { keys, sealed, aws, .. } = &*WORLD;
    match named_version(&ciphertext, &annotations) {
        Err(failure) => Seen::new(failure.to_string()),
        Ok(None) => Seen::new(keys.decrypt_of_other_plugin(&ciphertext, &id).is_none()),
        Ok(Some((version, epoch))) => {
            let of_aws =
                aws.named(&version).map(|named| named.id(epoch).as_str() == id).map_err(|failure| failure.kind);
            let named = keys.named(&version).map(|named| named.id(epoch).as_str() == id);
            let opened = match named {
                Ok(true) => keys.decrypt(&ciphertext, &version, id.as_bytes()).map_err(|failure| failure.kind),
                Ok(false) => Err(kms::FailureKind::InvalidRequest),
                Err(failure) => Err(failure.kind),
            };
            if let Ok(text) = &opened {
                let is_ours =
                    (version.as_str(), epoch, &ciphertext) == (&sealed.version.version, EPOCH, &sealed.ciphertext);
                assert!(is_ours && **text == TEXT, "something else was decrypted");
            }
            Seen::new((opened.is_ok(), opened.err(), of_aws))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_seed_is_decrypted_so_that_the_strict_half_is_reached() {
        let seeds = seeds();
        let (good, mut bad) = (&seeds[0], seeds[0].clone());
        // The last byte is of a random tag: any value that is written there may be its own.
        *bad.last_mut().unwrap() ^= 1;
        assert_ne!(target(good), target(&bad));
        let nothing: Option<kms::FailureKind> = None;
        let of_aws: Result<bool, kms::FailureKind> = Err(kms::FailureKind::InvalidRequest);
        assert_eq!(target(good), Seen::new((true, nothing, of_aws)));
    }
}
