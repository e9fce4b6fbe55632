//! EncryptionConfiguration, as far as a mistake in it would keep the API server from starting: providers, keys and sockets.
use super::{
    absolute_path::path_problem,
    api_server_texts::{self, ENCRYPTION},
    contents::from_base64,
    control_plane_files::{mount_problem, parent},
};
use crate::{Secret, findings::Findings};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What was read.
#[derive(Default)]
pub(super) struct EncryptionConfiguration {
    /// The keys.
    pub(super) secrets: Vec<Secret<String>>,
    /// Directories with the sockets of KMS plugins.
    pub(super) socket_directories: BTreeSet<String>,
}

const HERE: &str = "spec.encryption.configuration";
const AES: [usize; 3] = [16, 24, 32];
const SECRETBOX: [usize; 1] = [32];

/// Reads a text and reports every problem. No value of it is quoted.
pub(super) fn read(text: &str, findings: &mut Findings<'_>) -> EncryptionConfiguration {
    let mut read = EncryptionConfiguration::default();
    let Some(tree) = api_server_texts::tree(&ENCRYPTION, text, findings) else { return read };
    let resources = tree.value["resources"].as_array().map_or(&[][..], Vec::as_slice);
    if resources.is_empty() {
        findings.error(HERE, "resources must have at least one entry");
    }
    for (index, entry) in resources.iter().enumerate() {
        let at = format!("resources[{index}]");
        for member in ["resources", "providers"] {
            if entry[member].as_array().is_none_or(Vec::is_empty) {
                findings.error(HERE, format!("{at}.{member} must have at least one entry"));
            }
        }
        for (index, provider) in entry["providers"].as_array().into_iter().flatten().enumerate() {
            read.provider(&format!("{at}.providers[{index}]"), provider, findings);
        }
    }
    read
}

impl EncryptionConfiguration {
    fn provider(&mut self, at: &str, provider: &Value, findings: &mut Findings<'_>) {
        let none = Map::new();
        let members = provider.as_object().unwrap_or(&none);
        let mut members = members.iter();
        let (Some((name, value)), None) = (members.next(), members.next()) else {
            findings.error(HERE, format!("{at} must be exactly one of aescbc, aesgcm, identity, kms, secretbox"));
            return;
        };
        match name.as_str() {
            "identity" => {}
            "aescbc" | "aesgcm" => self.keys(&format!("{at}.{name}"), value, &AES, findings),
            "secretbox" => self.keys(&format!("{at}.secretbox"), value, &SECRETBOX, findings),
            "kms" => self.socket(&format!("{at}.kms"), value, findings),
            _ => _ = findings.error(HERE, format!("{at} must be one of aescbc, aesgcm, identity, kms, secretbox")),
        }
    }

    fn keys(&mut self, at: &str, provider: &Value, sizes: &[usize], findings: &mut Findings<'_>) {
        let keys = provider["keys"].as_array().map_or(&[][..], Vec::as_slice);
        if keys.is_empty() {
            findings.error(HERE, format!("{at}.keys must have at least one key"));
        }
        for (index, key) in keys.iter().enumerate() {
            if key["name"].as_str().is_none_or(str::is_empty) {
                findings.error(HERE, format!("{at}.keys[{index}].name is required, but missing"));
            }
            let secret = key["secret"].as_str().unwrap_or_default();
            self.secrets.push(Secret::new(secret.to_owned()));
            let is_fit = from_base64(secret).is_ok_and(|key| sizes.contains(&key.len()));
            if !is_fit {
                let sizes = if sizes.len() == 1 { "32" } else { "16, 24 or 32" };
                findings
                    .error(HERE, format!("{at}.keys[{index}].secret must be base64 of {sizes} bytes"))
                    .hint("create one: head -c 32 /dev/urandom | base64");
            }
        }
    }

    fn socket(&mut self, at: &str, provider: &Value, findings: &mut Findings<'_>) {
        if provider["name"].as_str().is_none_or(str::is_empty) {
            findings.error(HERE, format!("{at}.name is required, but missing"));
        }
        let endpoint = provider["endpoint"].as_str().unwrap_or_default();
        let Some(path) = endpoint.strip_prefix("unix://").filter(|path| path_problem(path).is_none()) else {
            findings.error(HERE, format!("{at}.endpoint must be `unix://` and an absolute path"));
            return;
        };
        let directory = parent(path);
        match mount_problem(directory) {
            Some(problem) => _ = findings.error(HERE, format!("{at}.endpoint {problem}")),
            None => _ = self.socket_directories.insert(directory.to_owned()),
        }
    }
}
