//! The directories that a configuration needs: where its keys read credentials, and where they create sockets.
use crate::configuration::{Backend, Configuration, HealthAddress, KeySettings};
use kms::{AwsCredentials, VaultAuth};
use std::path::{Path, PathBuf};

/// Directories, by what is done in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Directories {
    /// Files in them are read.
    pub(crate) read: Vec<PathBuf>,
    /// Sockets and their locks are created in them.
    pub(crate) write: Vec<PathBuf>,
    /// Whether a PKCS#11 module is loaded, which opens files, devices and sockets that only it knows.
    pub(crate) has_module: bool,
}

impl Directories {
    /// All that a configuration and its file need.
    pub(crate) fn of(path: &Path, configuration: &Configuration) -> Self {
        let mut all = Self { read: vec![parent(path)], ..Self::default() };
        if let Some(HealthAddress::Unix(socket)) = &configuration.health {
            all.write.push(parent(socket));
        }
        for key in &configuration.keys {
            let Self { read, write, has_module } = Self::of_key(key);
            all.has_module |= has_module;
            all.read.extend(read);
            all.write.extend(write);
        }
        all
    }

    /// What one key needs.
    pub(crate) fn of_key(key: &KeySettings) -> Self {
        let has_module = matches!(key.backend, Backend::Pkcs11(_));
        Self { read: read_by(&key.backend), write: vec![parent(&key.socket)], has_module }
    }

    /// The first directory of `wanted` that is in none of these.
    pub(crate) fn lacks<'a>(&self, wanted: &'a Self) -> Option<&'a Path> {
        let is_in = |path: &PathBuf, all: &[PathBuf]| all.iter().any(|own| path.starts_with(own));
        let read = wanted.read.iter().find(|path| !is_in(path, &self.read) && !is_in(path, &self.write));
        read.or_else(|| wanted.write.iter().find(|path| !is_in(path, &self.write))).map(PathBuf::as_path)
    }
}

fn read_by(backend: &Backend) -> Vec<PathBuf> {
    let files: Vec<&PathBuf> = match backend {
        Backend::File { path } => vec![path],
        Backend::Pkcs11(settings) => vec![&settings.module, &settings.pin_file],
        Backend::Vault(settings) => {
            let files = match &settings.auth {
                VaultAuth::Token { file } => vec![file],
                VaultAuth::AppRole { mount: _, role_id_file, secret_id_file } => vec![role_id_file, secret_id_file],
                VaultAuth::Certificate { mount: _, role: _, certificate_file, key_file } => {
                    vec![certificate_file, key_file]
                }
            };
            files.into_iter().chain(&settings.ca_file).collect()
        }
        Backend::Aws(settings) => {
            let files = match &settings.credentials {
                AwsCredentials::Environment | AwsCredentials::InstanceMetadata { .. } => Vec::new(),
                AwsCredentials::SharedFile { path, profile: _ } => vec![path],
                AwsCredentials::Directory { path } => {
                    let ca = settings.ca_file.iter().map(|file| parent(file));
                    return ca.chain([path.clone()]).collect();
                }
                AwsCredentials::WebIdentity { token_file, ca_file, .. } => {
                    std::iter::once(token_file).chain(ca_file).collect()
                }
            };
            files.into_iter().chain(&settings.ca_file).collect()
        }
    };
    files.into_iter().map(|file| parent(file)).collect()
}

fn parent(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.parent().unwrap_or(&absolute).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(keys: &str) -> Configuration {
        let head = "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\n";
        Configuration::parse(&format!("{head}keys: [{keys}]\n")).unwrap()
    }

    #[test]
    fn a_key_elsewhere_is_noticed_and_one_in_the_same_directories_is_not() {
        let arn = "arn:aws:kms:us-west-2:111122223333:key/k";
        let aws = format!(
            "{{name: b, socket: /run/k/b, aws: {{keyArn: '{arn}', caFile: /e/ca/x, credentials: {{directory: {{path: /s/aws}}}}}}}}"
        );
        let all = Directories::of(
            Path::new("/e/kms.yaml"),
            &parsed(&format!("{{name: a, socket: /run/k/a, file: {{path: /e/k/a}}}}, {aws}")),
        );
        let want = ["/e", "/e/k", "/e/ca", "/s/aws"].map(PathBuf::from);
        assert_eq!((all.read.as_slice(), all.write.len()), (&want[..], 2));
        let key = |text: &str| Directories::of_key(&parsed(text).keys[0]);
        let same = key("{name: c, socket: /run/k/c, file: {path: /e/new/c}}");
        assert_eq!(all.lacks(&same), None);
        let elsewhere = key("{name: c, socket: /run/k/c, file: {path: /srv/c}}");
        assert_eq!(all.lacks(&elsewhere), Some(Path::new("/srv")));
        let socket = key("{name: c, socket: /run/other/c, file: {path: /e/c}}");
        assert_eq!(all.lacks(&socket), Some(Path::new("/run/other")));
    }
}
