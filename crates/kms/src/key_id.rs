//! The id of a key: public, the same for every instance, and never the same for other key material or another epoch.
use aws_lc_rs::digest::{Context, SHA256};
use objects::hex;
use std::fmt;

/// Separates these digests from any others.
const DOMAIN: &[u8] = b"machineadm kms key id v1";

/// Key material: which service and key, and which version of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyVersion {
    /// The kind of service, the first part of the id.
    pub provider: &'static str,
    /// The service and the key in it, independent of the address by which an instance reaches it.
    pub key: String,
    /// The version, as the service names it and in a form that a re-created key can't repeat. It is stored in clear.
    pub version: String,
}

impl KeyVersion {
    /// The id under an epoch.
    pub fn id(&self, epoch: u64) -> KeyId {
        let mut digest = Context::new(&SHA256);
        digest.update(DOMAIN);
        for part in [self.provider.as_bytes(), self.key.as_bytes(), self.version.as_bytes(), &epoch.to_be_bytes()] {
            // With its length, so that no two lists of parts have one digest.
            digest.update(&(part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        KeyId(format!("{}:{}", self.provider, hex::encode(digest.finish().as_ref())))
    }
}

/// What kube-apiserver stores beside each object, logs, and compares with what Status reports.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyId(String);

impl KeyId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn version(key: &str, version: &str) -> KeyVersion {
        KeyVersion { provider: "test", key: key.to_owned(), version: version.to_owned() }
    }

    #[test]
    fn an_id_is_the_provider_and_a_digest_that_stays_the_same() {
        let id = version("mount/key", "3").id(7);
        // Computed with Python's hashlib from the description above.
        let digest = "fd5bda936eddaf9a33e22162b310e3111fb9aa9b7f605152cd7df88587652bb7";
        assert_eq!(id.as_str(), format!("test:{digest}"));
    }

    #[test]
    fn every_part_of_an_identity_makes_another_id() {
        let versions = [version("a", "bc"), version("ab", "c"), version("a", "b"), version("", "abc")];
        let ids: BTreeSet<String> =
            versions.iter().flat_map(|of| [of.id(0), of.id(1)]).map(|id| id.as_str().to_owned()).collect();
        assert_eq!(ids.len(), 8);
    }
}
