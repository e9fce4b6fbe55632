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
        let mut all = Self { read: directories_of(path), ..Self::of_health(configuration.health.as_ref()) };
        for key in &configuration.keys {
            let Self { read, write, has_module } = Self::of_key(key);
            all.has_module |= has_module;
            all.read.extend(read);
            all.write.extend(write);
        }
        all
    }

    /// What livez, readyz and metrics need.
    pub(crate) fn of_health(address: Option<&HealthAddress>) -> Self {
        let write = match address {
            Some(HealthAddress::Unix(socket)) => vec![parent(socket)],
            Some(HealthAddress::Tcp(_)) | None => Vec::new(),
        };
        Self { write, ..Self::default() }
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
                    let ca = settings.ca_file.iter().flat_map(|file| directories_of(file));
                    return ca.chain([path.clone()]).collect();
                }
                AwsCredentials::WebIdentity { token_file, ca_file, .. } => {
                    std::iter::once(token_file).chain(ca_file).collect()
                }
            };
            files.into_iter().chain(&settings.ca_file).collect()
        }
    };
    files.into_iter().flat_map(|file| directories_of(file)).collect()
}

/// The directory of a file that is read; where the file is a link that leads out of it, also that of what it leads to.
pub(crate) fn directories_of(file: &Path) -> Vec<PathBuf> {
    let named = parent(file);
    let real = named.canonicalize().unwrap_or_else(|_| named.clone());
    let leads_to = file.canonicalize().ok().map(|found| above_versions(&parent(&found)));
    let leads_out = leads_to.filter(|found| !found.starts_with(&real));
    std::iter::once(named).chain(leads_out).collect()
}

/// The kubelet replaces a mounted Secret by turning a link from one directory `..TIME` to another: what is above them stays.
fn above_versions(directory: &Path) -> PathBuf {
    let above: PathBuf = directory.iter().take_while(|name| !name.as_encoded_bytes().starts_with(b"..")).collect();
    // Never the root, below which everything is.
    if above.parent().is_some() { above } else { directory.to_owned() }
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
    fn what_a_link_leads_to_is_read_too() {
        let [here, there] = [(); 2].map(|()| tempfile::TempDir::new().unwrap());
        let real = there.path().canonicalize().unwrap();
        std::fs::write(real.join("token"), "t").unwrap();
        std::os::unix::fs::symlink(real.join("token"), here.path().join("token")).unwrap();
        std::os::unix::fs::symlink(here.path().join("plain"), here.path().join("within")).unwrap();
        assert_eq!(directories_of(&here.path().join("token")), [here.path().to_owned(), real]);
        for name in ["plain", "within", "absent"] {
            assert_eq!(directories_of(&here.path().join(name)), [here.path().to_owned()], "{name}");
        }
    }

    #[test]
    fn a_mounted_secret_is_one_directory_however_it_is_reached() {
        let [here, there] = [(); 2].map(|()| tempfile::TempDir::new().unwrap());
        let (here, there) = (here.path().canonicalize().unwrap(), there.path().canonicalize().unwrap());
        let turn = |version: &str| {
            std::fs::create_dir(there.join(version)).unwrap();
            std::fs::write(there.join(version).join("token"), version).unwrap();
            std::os::unix::fs::symlink(version, there.join("new")).unwrap();
            std::fs::rename(there.join("new"), there.join("..data")).unwrap();
        };
        turn("..1");
        std::os::unix::fs::symlink("..data/token", there.join("token")).unwrap();
        // As /var/run leads to /run, and as a link to a file of the Secret.
        std::os::unix::fs::symlink(&there, here.join("run")).unwrap();
        std::os::unix::fs::symlink(there.join("token"), here.join("token")).unwrap();
        for version in ["..2", "..3"] {
            assert_eq!(directories_of(&there.join("token")), std::slice::from_ref(&there));
            assert_eq!(directories_of(&here.join("run/token")), [here.join("run")]);
            assert_eq!(directories_of(&here.join("token")), [here.clone(), there.clone()]);
            turn(version);
        }
        assert_eq!(above_versions(Path::new("/..1")), Path::new("/..1"));
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
