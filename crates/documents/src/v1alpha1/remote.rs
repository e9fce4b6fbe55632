//! RemoteConfig: further documents that lie elsewhere.
use super::{API_VERSION, Certificate, duration, trust_bundle::authorities, uri};
use crate::{
    Claim, Rights, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path::item,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5 * 60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Documents that lie elsewhere, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Who fetches them.
    pub provider: String,
    /// Where they are.
    pub uri: Secret<String>,
    /// What their bytes must come to.
    pub sha256: Option<[u8; 32]>,
    /// Whether only sealed documents are taken.
    pub requires_encryption: bool,
    /// The only places from which the passphrases of fetched documents may come, if they are named.
    pub passphrase_uris: Option<Vec<Secret<String>>>,
    /// Who may vouch for those places; empty if nothing particular.
    pub passphrase_authorities: Vec<Certificate>,
    /// What they may name.
    pub rights: Rights,
    /// Who may vouch for their server; empty if nothing particular.
    pub authorities: Vec<Certificate>,
    /// When to give up, retries included.
    pub timeout: Duration,
}

/// Fetches documents from a URI; they replace this document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemoteConfig {
    /// Provider that fetches the documents: `https` or `file` (a file of the machine that runs machineadm).
    pub provider: String,
    /// URI of the documents: `https://storage.example.com/node-7.yaml`, `file:///mnt/seed/node-7.yaml`. Output shows it
    /// without credentials and query.
    #[serde(serialize_with = "secret::exposed")]
    pub uri: Secret<String>,
    /// SHA-256 of the fetched bytes, 64 hexadecimal digits; other bytes are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    pub sha256: Option<String>,
    /// `encrypted`: every fetched document must be an EncryptedConfig, or a RemoteConfig that requires the same. With it,
    /// the owner of the storage cannot replace them by plain commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require: Option<Require>,
    /// Allowed passphrase URIs of the fetched documents, each written as in those documents. Required with
    /// `require: encrypted`, except for local files and descriptors: otherwise the owner of the storage could name a
    /// passphrase of their own.
    #[serde(rename = "passphraseURIs", serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub passphrase_uris: Option<Vec<Secret<String>>>,
    /// CA certificates (PEM) for the https server of those passphrases. When set, no other CA certificates are used. With
    /// `passphraseURIs` or `require: encrypted`, fetched documents cannot name others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passphrase_certificate_authority: Option<String>,
    /// What the fetched documents are allowed to name: local files, inherited descriptors, loopback addresses, link-local
    /// addresses. Default: none of them. Never more than this document itself is allowed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Right>,
    /// CA certificates (PEM) for the https server. When set, no other CA certificates are used. Default: those of the
    /// system and of every TrustBundleConfig before this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
    /// Timeout such as `90s` or `10m`, from 1s to 1h; includes retries and everything that the fetched documents fetch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN), extend("default" = "5m"))]
    pub timeout: Option<String>,
}

/// What can be required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Require {
    /// Only encrypted documents.
    Encrypted,
}

/// What can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Right {
    /// Files of this machine.
    LocalFiles,
    /// Descriptors that machineadm inherited.
    Descriptors,
    /// Addresses of this machine itself.
    Loopback,
    /// Addresses of this link only, where clouds have their metadata.
    LinkLocal,
}

impl Document for RemoteConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "RemoteConfig";
    const SUMMARY: &str = "Fetches documents from a URI; they replace this document.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: RemoteConfig
metadata:
  name: worker
spec:
  provider: https
  uri: https://storage.example.com/machines/worker.yaml
  require: encrypted
  passphraseURIs: [file:///etc/machineadm/passphrase]
  allow: [localFiles]
  timeout: 2m
";
}

impl Check for RemoteConfig {
    type Checked = Box<Remote>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Remote> {
        let Self {
            provider,
            uri,
            sha256,
            require,
            passphrase_uris,
            passphrase_certificate_authority,
            allow,
            certificate_authority,
            timeout,
        } = self;
        uri::check(&provider, uri.expose(), "spec.uri", findings);
        let sha256 = sha256.map(|text| {
            let digest = objects::hex::decode::<32>(&text);
            if digest.is_none() {
                findings.error("spec.sha256", "must be 64 hexadecimal digits");
            }
            digest
        });
        check_passphrase_uris(passphrase_uris.as_deref(), findings);
        let timeout = match timeout.as_deref().map(duration::parse) {
            None => Some(DEFAULT_TIMEOUT),
            Some(given) => given.ok().filter(|timeout| (SHORTEST..=LONGEST).contains(timeout)),
        };
        if timeout.is_none() {
            findings.error("spec.timeout", "must be a duration from 1s to 1h, such as `90s` or `10m`");
        }
        Box::new(Remote {
            authorities: authorities("spec.certificateAuthority", certificate_authority.as_deref(), findings),
            passphrase_authorities: authorities(
                "spec.passphraseCertificateAuthority",
                passphrase_certificate_authority.as_deref(),
                findings,
            ),
            provider,
            uri,
            sha256: sha256.flatten(),
            requires_encryption: matches!(require, Some(Require::Encrypted)),
            passphrase_uris,
            rights: rights(&allow),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        })
    }
}

impl Body for Remote {
    fn secrets(&self) -> Vec<&[u8]> {
        let uris = self.passphrase_uris.iter().flatten().chain([&self.uri]);
        uris.flat_map(|uri| uri::uri_secrets(uri.expose())).map(str::as_bytes).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        Vec::new()
    }
}

fn check_passphrase_uris(uris: Option<&[Secret<String>]>, findings: &mut Findings<'_>) {
    if uris.is_some_and(<[_]>::is_empty) {
        findings.error("spec.passphraseURIs", "must contain at least one URI");
    }
    for (index, uri) in uris.into_iter().flatten().enumerate() {
        if let Some(problem) = uri::uri_problem(uri.expose()) {
            findings.error(&item("spec.passphraseURIs", index), problem);
        }
    }
}

fn rights(allowed: &[Right]) -> Rights {
    Rights {
        local_files: allowed.contains(&Right::LocalFiles),
        descriptors: allowed.contains(&Right::Descriptors),
        loopback: allowed.contains(&Right::Loopback),
        link_local: allowed.contains(&Right::LinkLocal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{found, problems, spec, with_spec},
    };

    fn remote(yaml: &str) -> Remote {
        let AnyDocument::Remote(remote) = spec("RemoteConfig", yaml) else { panic!() };
        *remote
    }

    #[test]
    fn what_is_not_said_is_not_allowed() {
        let remote = remote("{provider: file, uri: 'file:///a'}");
        assert_eq!((remote.rights, remote.requires_encryption, remote.sha256), (Rights::NONE, false, None));
        assert_eq!(remote.timeout, Duration::from_secs(300));
    }

    #[test]
    fn every_member_is_decoded() {
        let digest = "0AfF".repeat(16);
        let yaml = format!(
            "{{provider: https, uri: 'https://a/b', sha256: '{digest}', require: encrypted, timeout: 1h,
              allow: [localFiles, descriptors, loopback, linkLocal], passphraseURIs: ['fd:3']}}"
        );
        let remote = remote(&yaml);
        assert_eq!(remote.sha256, Some([0x0a, 0xff].repeat(16).try_into().unwrap()));
        assert_eq!((remote.rights, remote.requires_encryption), (Rights::ALL, true));
        assert_eq!(remote.passphrase_uris.unwrap()[0].expose(), "fd:3");
    }

    #[test]
    fn provider_and_uri_are_required() {
        let found = |spec: &str| found(&with_spec("RemoteConfig", spec));
        assert_eq!(found("{uri: 'file:///a'}"), ["spec.provider: required, but missing"]);
        assert_eq!(found("{provider: file}"), ["spec.uri: required, but missing"]);
        let both = ["spec.provider: required, but missing", "spec.uri: required, but missing"];
        assert_eq!(found("{timeout: 1m}"), both);
        assert_eq!(found("{provider: file, uri: 'file:///a'}"), [""; 0]);
    }

    #[test]
    fn every_bad_member_is_listed() {
        let yaml = "{provider: Https, uri: a, sha256: 'x', timeout: 2h, passphraseURIs: ['']}";
        let expected =
            ["provider", "uri", "sha256", "timeout", "passphraseURIs[0]"].map(|field| format!("spec.{field}"));
        assert_eq!(problems("RemoteConfig", yaml), expected);
        let words = "{provider: file, uri: 'file:///a', require: plain, allow: [everything]}";
        assert_eq!(problems("RemoteConfig", words), ["spec.require", "spec.allow[0]"]);
    }
}
