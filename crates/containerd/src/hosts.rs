//! hosts.toml: where containerd finds the images of a registry, with the certificates beside it.
//! <https://github.com/containerd/containerd/blob/main/docs/hosts.md>
use crate::{Capability, Mirror, Registry, Upstream};
use secret::Secret;
use std::fmt::Write;
use toml_edit::{Array, Value};

/// Where containerd looks for the directory of a registry.
pub const CERTS_DIR: &str = "/etc/containerd/certs.d";

/// What a file of a document says first.
const WRITTEN: &str = "# Written by machineadm from ContainerdConfig.\n";
/// A file that everybody may read.
const PUBLIC: u32 = 0o644;
/// A file that only root may read: keys, and headers, which often hold credentials.
const PRIVATE: u32 = 0o600;

/// A file below [`CERTS_DIR`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryFile {
    /// Absolute path.
    pub path: String,
    /// All of it.
    pub contents: Secret<String>,
    /// Permission bits.
    pub mode: u32,
}

/// One server of a hosts.toml.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) capabilities: Vec<Capability>,
    /// Paths of files.
    pub(crate) ca: Vec<String>,
    pub(crate) client: Option<(String, String)>,
    pub(crate) headers: Vec<(String, Secret<String>)>,
    pub(crate) skip_verify: bool,
    pub(crate) override_path: bool,
}

/// The hosts.toml of a registry.
pub(crate) struct HostsFile<'a> {
    pub(crate) host: &'a str,
    /// The first line.
    pub(crate) origin: &'a str,
    /// What is tried last; without it, the registry itself.
    pub(crate) last: Option<Server>,
    /// Tried in this order.
    pub(crate) servers: Vec<Server>,
}

/// All files of a registry; hosts.toml is the last, so that what it names is there before it.
pub(crate) fn registry_files(registry: &Registry) -> Vec<RegistryFile> {
    let Registry { host, mirrors, upstream } = registry;
    let mut files = Vec::new();
    let mirrors = mirrors.iter().enumerate();
    let servers: Vec<Server> = mirrors.map(|(index, mirror)| server(host, index + 1, mirror, &mut files)).collect();
    let last = match upstream {
        Upstream::Registry => None,
        // What is `server` is asked last, and nobody after it.
        Upstream::Never => servers.last().cloned(),
        Upstream::Url(url) => Some(Server { url: url.clone(), ..Server::default() }),
    };
    files.push(HostsFile { host, origin: WRITTEN, last, servers }.file());
    files
}

/// Writes the certificates of a mirror beside its hosts.toml.
fn server(host: &str, number: usize, mirror: &Mirror, files: &mut Vec<RegistryFile>) -> Server {
    let Mirror { url, capabilities, ca, client, headers, skip_verify, override_path } = mirror;
    let mut beside = |name: &str, contents: Secret<String>, mode: u32| {
        let path = format!("{CERTS_DIR}/{host}/mirror-{number}-{name}");
        files.push(RegistryFile { path: path.clone(), contents, mode });
        path
    };
    let ca = ca.iter().map(|ca| beside("ca.pem", Secret::new(ca.clone()), PUBLIC)).collect();
    let client = client.as_ref().map(|client| {
        let certificate = beside("client.pem", Secret::new(client.certificate.clone()), PUBLIC);
        (certificate, beside("client.key", client.key.clone(), PRIVATE))
    });
    Server {
        url: url.clone(),
        capabilities: capabilities.clone(),
        ca,
        client,
        headers: headers.clone(),
        skip_verify: *skip_verify,
        override_path: *override_path,
    }
}

impl HostsFile<'_> {
    pub(crate) fn file(&self) -> RegistryFile {
        let mut text = self.origin.to_owned();
        if let Some(last) = &self.last {
            _ = writeln!(text, "server = {}", Value::from(last.url.as_str()));
            last.write(&mut text, "header");
        }
        // containerd 1.6 does not read a file without a table `host`, and then asks the registry itself.
        let listed = if self.servers.is_empty() { self.last.as_slice() } else { &self.servers };
        for server in listed {
            let table = format!("host.{}", Value::from(server.url.as_str()));
            _ = writeln!(text, "\n[{table}]");
            server.write(&mut text, &format!("{table}.header"));
        }
        let has_headers = self.last.iter().chain(&self.servers).any(|server| !server.headers.is_empty());
        let mode = if has_headers { PRIVATE } else { PUBLIC };
        RegistryFile { path: hosts_path(self.host), contents: Secret::new(text), mode }
    }
}

/// The hosts.toml of a registry.
pub(crate) fn hosts_path(host: &str) -> String {
    format!("{CERTS_DIR}/{host}/hosts.toml")
}

impl Server {
    fn write(&self, text: &mut String, header_table: &str) {
        let Self { url: _, capabilities, ca, client, headers, skip_verify, override_path } = self;
        let mut line = |name: &str, value: Value| _ = writeln!(text, "{name} = {value}");
        if !capabilities.is_empty() {
            line("capabilities", capabilities.iter().map(|capability| capability.word()).collect::<Array>().into());
        }
        match &ca[..] {
            [] => {}
            [one] => line("ca", one.as_str().into()),
            some => line("ca", some.iter().map(String::as_str).collect::<Array>().into()),
        }
        if let Some((certificate, key)) = client {
            let pair: Array = [certificate.as_str(), key.as_str()].into_iter().collect();
            line("client", Array::from_iter([Value::from(pair)]).into());
        }
        if *skip_verify {
            line("skip_verify", true.into());
        }
        if *override_path {
            line("override_path", true.into());
        }
        if !headers.is_empty() {
            _ = writeln!(text, "\n[{header_table}]");
        }
        for (name, value) in headers {
            _ = writeln!(text, "{} = {}", Value::from(name.as_str()), Value::from(value.expose().as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientCertificate;

    fn mirror(url: &str) -> Mirror {
        Mirror {
            url: url.to_owned(),
            capabilities: vec![Capability::Pull, Capability::Resolve],
            ca: None,
            client: None,
            headers: Vec::new(),
            skip_verify: false,
            override_path: false,
        }
    }

    fn hosts(registry: &Registry) -> (String, u32) {
        let files = registry_files(registry);
        let last = files.last().unwrap();
        assert_eq!(last.path, "/etc/containerd/certs.d/docker.io/hosts.toml");
        (last.contents.expose().clone(), last.mode)
    }

    #[test]
    fn mirrors_stand_in_their_order_and_what_is_named_is_written_first() {
        let first = Mirror { ca: Some("CA".into()), override_path: true, ..mirror("https://b/v2/x") };
        let client = ClientCertificate { certificate: "C".into(), key: Secret::new("K".into()) };
        let second = Mirror { client: Some(client), skip_verify: true, ..mirror("https://a:5000") };
        let upstream = Upstream::Url("https://registry-1.docker.io".into());
        let registry = Registry { host: "docker.io".into(), mirrors: vec![first, second], upstream };
        let files: Vec<_> = registry_files(&registry).into_iter().map(|file| (file.path, file.mode)).collect();
        let at = |name: &str, mode: u32| (format!("{CERTS_DIR}/docker.io/{name}"), mode);
        let pem = [at("mirror-1-ca.pem", 0o644), at("mirror-2-client.pem", 0o644), at("mirror-2-client.key", 0o600)];
        assert_eq!(files[..3], pem);
        assert_eq!(
            hosts(&registry).0,
            "# Written by machineadm from ContainerdConfig.
server = \"https://registry-1.docker.io\"

[host.\"https://b/v2/x\"]
capabilities = [\"pull\", \"resolve\"]
ca = \"/etc/containerd/certs.d/docker.io/mirror-1-ca.pem\"
override_path = true

[host.\"https://a:5000\"]
capabilities = [\"pull\", \"resolve\"]
client = [[\"/etc/containerd/certs.d/docker.io/mirror-2-client.pem\", \"/etc/containerd/certs.d/docker.io/mirror-2-client.key\"]]
skip_verify = true
"
        );
    }

    #[test]
    fn without_upstream_the_last_mirror_is_the_server_and_headers_make_the_file_private() {
        let headers = vec![("authorization".to_owned(), Secret::new("Basic \"x\"".to_owned()))];
        let last = Mirror { headers, ..mirror("https://b") };
        let registry =
            Registry { host: "docker.io".into(), mirrors: vec![mirror("https://a"), last], upstream: Upstream::Never };
        let (text, mode) = hosts(&registry);
        assert_eq!(mode, 0o600);
        let document: toml_edit::DocumentMut = text.parse().unwrap();
        assert_eq!(document["server"].as_str(), Some("https://b"));
        assert_eq!(document["header"]["authorization"].as_str(), Some("Basic \"x\""));
        let others: Vec<&str> = document["host"].as_table().unwrap().iter().map(|(name, _)| name).collect();
        assert_eq!(others, ["https://a", "https://b"], "each is listed: containerd 1.6 wants at least one");
    }
}
