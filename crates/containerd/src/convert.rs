//! `registry.mirrors` and `registry.configs`, which exclude hosts.toml and are removed from containerd 2.x, as hosts.toml.
//! <https://github.com/containerd/containerd/blob/main/docs/cri/registry.md>
use crate::{
    Capability, Problem, RegistryFile,
    hosts::{HostsFile, Server, hosts_path},
    layout::Key,
};
use std::collections::BTreeMap;
use toml_edit::{Item, TableLike};

/// How a converted hosts.toml starts.
pub const CONVERTED: &str = "# Converted by machineadm from the registry settings in containerd's config.toml.\n";

/// What a configuration had of registries, by host, as files; and what cannot be one.
pub(crate) fn converted(registry: &Item, key: &Key) -> (BTreeMap<String, RegistryFile>, Vec<Problem>) {
    let mut old = Old { key, problems: Vec::new(), trust: BTreeMap::new() };
    old.refuse(registry);
    let configs = registry.get("configs").and_then(Item::as_table_like);
    for (host, config) in configs.iter().flat_map(|configs| configs.iter()) {
        old.check_host("configs", host);
        let trust = old.trust(host, config);
        old.trust.insert(host.to_owned(), trust);
    }
    let mut files = BTreeMap::new();
    let mirrors = registry.get("mirrors").and_then(Item::as_table_like);
    for (host, mirror) in mirrors.iter().flat_map(|mirrors| mirrors.iter()) {
        if host != "*" {
            old.check_host("mirrors", host);
        }
        let servers = old.endpoints(host, mirror);
        let host = if host == "*" { "_default" } else { host };
        let last = old.itself(host);
        files.insert(host.to_owned(), HostsFile { host, origin: CONVERTED, last, servers }.file());
    }
    for host in old.trust.keys().filter(|host| !host.contains("://")) {
        let last = old.itself(host);
        let file = || HostsFile { host, origin: CONVERTED, last, servers: Vec::new() }.file();
        files.entry(host.clone()).or_insert_with(file);
    }
    (files, old.problems)
}

struct Old<'a> {
    key: &'a Key,
    problems: Vec<Problem>,
    /// TLS settings by host.
    trust: BTreeMap<String, Server>,
}

impl Old<'_> {
    fn problem(&mut self, steps: &[&str], message: &str) {
        self.problems.push(Problem::of_machine(format!("{} {message}", self.key.below(steps))));
    }

    /// A host becomes the name of a directory.
    fn check_host(&mut self, table: &str, host: &str) {
        // `configs` may have a URL, which concerns the endpoint of a mirror.
        let name = host.strip_prefix("https://").or_else(|| host.strip_prefix("http://")).unwrap_or(host);
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        if name.is_empty() || name.starts_with(['.', '_']) || !name.bytes().all(allowed) {
            self.problem(&[table, host], "is not a host, so that it cannot be converted to hosts.toml: correct it");
        }
    }

    /// What hosts.toml has no place for.
    fn refuse(&mut self, registry: &Item) {
        let remedy = "cannot be converted to hosts.toml: remove it, and give the kubelet a credential provider \
                      (--image-credential-provider-config), or set `headers` of a mirror";
        let is_set = |name: &str| {
            let table = registry.get(name).and_then(Item::as_table_like);
            table.is_some_and(|table| !table.is_empty())
        };
        if is_set("auths") {
            self.problem(&["auths"], remedy);
        }
        if is_set("headers") {
            self.problem(&["headers"], "cannot be converted to hosts.toml: remove it, and set `headers` of a mirror");
        }
    }

    /// What `configs` says of a host.
    fn trust(&mut self, host: &str, config: &Item) -> Server {
        let mut server = Server::default();
        let members = config.as_table_like();
        for (name, member) in members.iter().flat_map(|members| members.iter()) {
            match (name, member.as_table_like()) {
                ("tls", Some(tls)) => self.tls(host, tls, &mut server),
                ("auth", Some(auth)) if auth.is_empty() => {}
                ("auth", _) => self.problem(
                    &["configs", host, "auth"],
                    "cannot be converted to hosts.toml: remove it, and give the kubelet a credential provider \
                     (--image-credential-provider-config), or set `headers` of a mirror",
                ),
                _ => self.problem(&["configs", host, name], "cannot be converted to hosts.toml: remove it"),
            }
        }
        server
    }

    fn tls(&mut self, host: &str, tls: &dyn TableLike, server: &mut Server) {
        let text = |name: &str| tls.get(name).and_then(Item::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        server.ca = text("ca_file").into_iter().collect();
        server.skip_verify = tls.get("insecure_skip_verify").and_then(Item::as_bool).unwrap_or_default();
        server.client = text("cert_file").zip(text("key_file"));
        if text("cert_file").is_some() != text("key_file").is_some() {
            self.problem(&["configs", host, "tls"], "needs both cert_file and key_file, or none of them");
        }
        let known = ["ca_file", "cert_file", "key_file", "insecure_skip_verify"];
        for (name, _) in tls.iter().filter(|(name, _)| !known.contains(name)) {
            self.problem(&["configs", host, "tls", name], "cannot be converted to hosts.toml: remove it");
        }
    }

    /// The endpoints of a mirror, in their order.
    fn endpoints(&mut self, host: &str, mirror: &Item) -> Vec<Server> {
        let mut servers = Vec::new();
        let listed = mirror.get("endpoint").and_then(Item::as_array);
        for endpoint in listed.iter().flat_map(|listed| listed.iter()) {
            let url = endpoint.as_str().unwrap_or_default();
            let Some((_, rest)) = url.split_once("://") else {
                let message = "has an endpoint that is not an http or https URL: correct it";
                self.problem(&["mirrors", host], message);
                continue;
            };
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if authority.contains('@') {
                let message = "has an endpoint with a user, which everybody could read in hosts.toml: remove it, and \
                               set `headers` of a mirror";
                self.problem(&["mirrors", host], message);
                continue;
            }
            // containerd does not read a hosts.toml that has a server twice.
            if servers.iter().any(|server: &Server| server.url == url.trim_end_matches('/')) {
                continue;
            }
            let trust = self.trust.get(authority).or_else(|| self.trust.get(url)).cloned().unwrap_or_default();
            servers.push(Server {
                url: url.trim_end_matches('/').to_owned(),
                capabilities: vec![Capability::Pull, Capability::Resolve],
                // containerd adds no `/v2` to the path of an endpoint.
                override_path: !matches!(path, "" | "/"),
                ..trust
            });
        }
        for (name, _) in mirror.as_table_like().iter().flat_map(|table| table.iter()) {
            if name != "endpoint" {
                self.problem(&["mirrors", host, name], "cannot be converted to hosts.toml: remove it");
            }
        }
        servers
    }

    /// The registry itself, where something is known of it.
    fn itself(&self, host: &str) -> Option<Server> {
        let trust = self.trust.get(host)?;
        Some(Server { url: format!("https://{host}"), ..trust.clone() })
    }
}

/// Why a converted file cannot be written: another one is there.
pub(crate) fn exists_already(host: &str, key: &Key) -> Problem {
    Problem::of_machine(format!(
        "{key} has settings for {host}, which belong into {}, and that file exists: containerd ignores one of them. \
         Remove one, or name {host} in spec.registries, which replaces both",
        hosts_path(host)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml_edit::DocumentMut;

    fn of(text: &str) -> (BTreeMap<String, RegistryFile>, Vec<String>) {
        let document: DocumentMut = text.parse().unwrap();
        let (files, problems) = converted(document.as_item(), &Key::of(&["registry"]));
        (files, problems.into_iter().map(|problem| problem.to_string()).collect())
    }

    #[test]
    fn mirrors_and_tls_become_hosts() {
        let (files, problems) = of("[mirrors.'docker.io']
endpoint = ['https://mirror:5000', 'http://other/v2/hub/', 'https://mirror:5000/']
[mirrors.'*']
endpoint = ['https://all']
[configs.'mirror:5000'.tls]
ca_file = '/etc/ca.pem'
cert_file = '/etc/c.pem'
key_file = '/etc/k.pem'
[configs.'own:443'.tls]
insecure_skip_verify = true
");
        assert_eq!(problems, [""; 0]);
        let text = |host: &str| files[host].contents.expose().strip_prefix(CONVERTED).unwrap().to_owned();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["_default", "docker.io", "mirror:5000", "own:443"]);
        assert_eq!(
            text("docker.io"),
            "
[host.\"https://mirror:5000\"]
capabilities = [\"pull\", \"resolve\"]
ca = \"/etc/ca.pem\"
client = [[\"/etc/c.pem\", \"/etc/k.pem\"]]

[host.\"http://other/v2/hub\"]
capabilities = [\"pull\", \"resolve\"]
override_path = true
"
        );
        let own =
            "server = \"https://own:443\"\nskip_verify = true\n\n[host.\"https://own:443\"]\nskip_verify = true\n";
        assert_eq!(text("own:443"), own);
        assert!(text("_default").contains("https://all"));
    }

    #[test]
    fn credentials_and_unknown_members_are_refused_all_at_once() {
        let (_, problems) = of("[auths.'https://a']
auth = 'x'
[headers]
a = ['b']
[configs.a.auth]
username = 'u'
password = 'hidden'
[configs.b.tls]
cert_file = '/c'
odd = 1
[mirrors.c]
endpoint = ['mirror:5000']
rewrite = 1
[mirrors.d]
endpoint = ['https://u:hidden@mirror']
");
        assert_eq!(problems.len(), 8, "{problems:#?}");
        for (problem, start) in problems.iter().zip([
            "registry.auths cannot",
            "registry.headers cannot",
            "registry.configs.a.auth cannot",
            "registry.configs.b.tls needs both",
            "registry.configs.b.tls.odd cannot",
            "registry.mirrors.c has an endpoint",
            "registry.mirrors.c.rewrite cannot",
            "registry.mirrors.d has an endpoint with a user",
        ]) {
            assert!(problem.starts_with(start), "{problem}");
            assert!(!problem.contains("hidden"));
        }
    }

    #[test]
    fn a_name_that_is_no_host_becomes_no_directory() {
        let (_, problems) = of("[configs.'../../x'.tls]\n[mirrors.'a/b']\nendpoint = []\n[mirrors.'..']\n");
        assert!(
            problems.iter().all(|problem| problem.contains("is not a host")) && problems.len() == 3,
            "{problems:?}"
        );
    }
}
