//! The registries of a ContainerdConfig: mirrors in their order, with what verifies them.
use super::{authority::authority_problem, containerd::CERTS_DIR, pem, trust_bundle::authorities};
use crate::{Secret, findings::Findings, path};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The directory of every registry that has none of its own.
const DEFAULT_HOST: &str = "_default";

/// A registry that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// As image names have it; `_default` is every other one.
    pub host: String,
    /// In their order.
    pub mirrors: Vec<Mirror>,
    /// What is asked after the mirrors.
    pub upstream: Upstream,
    /// The file that containerd reads.
    pub hosts_file: String,
}

/// What is asked after the mirrors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// The registry itself.
    Registry,
    /// Nobody.
    Never,
    /// This URL.
    Url(String),
}

/// A mirror that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Its URL.
    pub url: String,
    /// What it is used for.
    pub capabilities: Vec<MirrorCapability>,
    /// PEM.
    pub ca: Option<String>,
    /// PEM of the certificate, and of its key.
    pub client: Option<(String, Secret<String>)>,
    /// By name.
    pub headers: BTreeMap<String, Secret<String>>,
    /// Whether its certificate is not verified.
    pub skip_verify: bool,
    /// Whether no `/v2` is added to the URL's path.
    pub override_path: bool,
}

/// Where images of one registry come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrySpec {
    /// The registry as names of images have it, with its port, such as `docker.io`. `_default` is every registry that is
    /// not listed.
    #[schemars(length(min = 1, max = 260))]
    pub host: String,
    /// Servers that have its images, asked in this order.
    #[schemars(length(min = 1))]
    pub mirrors: Vec<MirrorSpec>,
    /// What is asked when no mirror has an image: `never` for nobody, or a URL. Default: the registry itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
}

/// A server that has the images of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MirrorSpec {
    /// Its URL: `https://` or `http://`, host, port and path, without user and password.
    pub url: String,
    /// What it is used for: `pull` fetches content, `resolve` finds the digest of a tag, `push` uploads. Default: `pull`
    /// and `resolve`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<MirrorCapability>>,
    /// CA certificates that verify it (PEM). When set, the system's CA certificates are not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// Client certificate for it (PEM); needs `clientKey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<String>,
    /// Private key of the client certificate (PEM).
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub client_key: Option<Secret<String>>,
    /// Headers of every request to it, such as `authorization`. The file that has them is readable for root only.
    #[serde(serialize_with = "secret::exposed", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Secret<String>>,
    /// Whether its certificate is not verified. Anyone on the way can then replace images.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_verify: bool,
    /// Whether the path of the URL is the whole path of its API, so that containerd adds no `/v2`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub override_path: bool,
}

/// What a mirror is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MirrorCapability {
    /// Fetching content by its digest.
    Pull,
    /// Finding the digest of a tag.
    Resolve,
    /// Uploading.
    Push,
}

/// The registries of a document.
pub(super) fn registries(specs: Vec<RegistrySpec>, findings: &mut Findings<'_>) -> Vec<Registry> {
    let mut hosts = BTreeSet::new();
    let mut checked = Vec::new();
    for (index, spec) in specs.into_iter().enumerate() {
        let here = path::item("spec.registries", index);
        if !hosts.insert(spec.host.clone()) {
            findings.error(&path::member(&here, "host"), "is the host of an earlier registry");
        }
        checked.push(registry(spec, &here, findings));
    }
    checked
}

fn registry(spec: RegistrySpec, here: &str, findings: &mut Findings<'_>) -> Registry {
    let RegistrySpec { host, mirrors, upstream } = spec;
    if let Some(problem) = host_problem(&host) {
        findings
            .error(&path::member(here, "host"), problem)
            .hint("write it like `docker.io` or `registry.example:5000`");
    }
    let there = path::member(here, "mirrors");
    if mirrors.is_empty() {
        findings.error(&there, "must name at least one mirror");
    }
    let upstream = match upstream {
        None => Upstream::Registry,
        Some(word) if word == "never" => Upstream::Never,
        Some(url) => {
            if let Some(problem) = url_problem(&url) {
                findings.error(&path::member(here, "upstream"), problem).hint("write a URL, or `never`");
            }
            Upstream::Url(url)
        }
    };
    let mut urls = BTreeSet::new();
    for (index, spec) in mirrors.iter().enumerate() {
        // Each is a table of hosts.toml, and containerd does not read a file that has one twice.
        if !urls.insert(spec.url.trim_end_matches('/')) {
            let url = path::member(&path::item(&there, index), "url");
            findings.error(&url, "is the URL of an earlier mirror of this registry");
        }
    }
    let mirrors = mirrors.into_iter().enumerate();
    let mirrors = mirrors.map(|(index, spec)| mirror(spec, &path::item(&there, index), findings)).collect();
    let hosts_file = format!("{CERTS_DIR}/{host}/hosts.toml");
    Registry { host, mirrors, upstream, hosts_file }
}

fn mirror(spec: MirrorSpec, here: &str, findings: &mut Findings<'_>) -> Mirror {
    let MirrorSpec { url, capabilities, ca, client_certificate, client_key, headers, skip_verify, override_path } =
        spec;
    let field = |name: &str| path::member(here, name);
    if let Some(problem) = url_problem(&url) {
        findings.error(&field("url"), problem);
    }
    let is_plain = url.starts_with("http://");
    for (name, is_set) in [("ca", ca.is_some()), ("clientKey", client_key.is_some()), ("skipVerify", skip_verify)] {
        if is_plain && is_set {
            findings.error(&field(name), "has no effect on an `http://` mirror: remove it, or use `https://`");
        }
    }
    if skip_verify && ca.is_some() {
        findings.error(&field("skipVerify"), "excludes `ca`: remove one of them");
    }
    authorities(&field("ca"), ca.as_deref(), findings);
    let client = client(client_certificate, client_key, here, findings);
    if capabilities.as_ref().is_some_and(Vec::is_empty) {
        findings.error(&field("capabilities"), "must name at least one capability");
    }
    for (name, value) in &headers {
        let here = path::member(&field("headers"), name);
        if let Some(problem) = header_problem(name, value.expose()) {
            findings.error(&here, problem);
        }
    }
    let usual = || vec![MirrorCapability::Pull, MirrorCapability::Resolve];
    let capabilities = capabilities.unwrap_or_else(usual);
    Mirror { url, capabilities, ca, client, headers, skip_verify, override_path }
}

fn client(
    certificate: Option<String>,
    key: Option<Secret<String>>,
    here: &str,
    findings: &mut Findings<'_>,
) -> Option<(String, Secret<String>)> {
    let field = |name: &str| path::member(here, name);
    if let Some(certificate) = &certificate {
        let (found, problems) = pem::certificates(certificate);
        if found.is_empty() && problems.is_empty() {
            findings.error(&field("clientCertificate"), "contains no certificate");
        }
        for problem in problems {
            findings.error(&field("clientCertificate"), problem.to_string());
        }
    }
    if let Some(key) = &key {
        let blocks: Vec<_> = objects::pem::blocks(key.expose().as_bytes()).collect();
        let is_key = |block: &objects::pem::Block<'_>| block.label.ends_with("PRIVATE KEY") && block.der().is_ok();
        let is_usable = matches!(&blocks[..], [block] if is_key(block) && !block.is_encrypted());
        if !is_usable {
            findings.error(&field("clientKey"), "must be one private key in PEM that is not encrypted");
        }
    }
    match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (Some(_), None) => {
            findings.error(&field("clientCertificate"), "needs `clientKey`");
            None
        }
        (None, Some(_)) => {
            findings.error(&field("clientKey"), "needs `clientCertificate`");
            None
        }
        (None, None) => None,
    }
}

fn host_problem(host: &str) -> Option<&'static str> {
    if host == DEFAULT_HOST {
        return None;
    }
    if host.contains(['/', '@']) {
        return Some("must be a host without scheme, path and user");
    }
    // It becomes the name of a directory.
    if host.starts_with('.') || host.starts_with('_') {
        return Some("must be a host, or `_default`");
    }
    authority_problem(host)
}

fn url_problem(url: &str) -> Option<&'static str> {
    if !url.chars().all(|letter| letter.is_ascii_graphic() && !"\"\\".contains(letter)) {
        return Some("must be printable ASCII without white space, quotes and `\\`");
    }
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return Some("must start with `https://` or `http://`");
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Some("must not hold a user or password: set `headers`");
    }
    if path.contains(['?', '#']) {
        return Some("must have neither query nor fragment");
    }
    authority_problem(authority)
}

fn header_problem(name: &str, value: &str) -> Option<&'static str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some("must be the name of an HTTP header");
    }
    let is_shown = value.chars().all(|letter| letter.is_ascii_graphic() || letter == ' ');
    (!is_shown || value.is_empty()).then_some("must be one line of printable ASCII")
}

#[cfg(test)]
mod tests {
    use super::{header_problem, host_problem, url_problem};
    use crate::{
        AnyDocument,
        testing::{found, problems, spec, with_spec},
        v1alpha1::{MirrorCapability, Upstream},
    };

    #[test]
    fn mirrors_keep_their_order_and_have_usual_capabilities() {
        let yaml = "registries:
- host: docker.io
  mirrors: [{url: 'https://b', capabilities: [push]}, {url: 'http://a:5000/v2/x', overridePath: true}]
- {host: '_default', mirrors: [{url: 'https://c'}], upstream: never}
- {host: 'r.example:5000', mirrors: [{url: 'https://c'}], upstream: 'https://u.example'}";
        let AnyDocument::Containerd(containerd) = spec("ContainerdConfig", yaml) else { panic!() };
        let [docker, every, ported] = &containerd.registries[..] else { panic!() };
        let urls: Vec<&str> = docker.mirrors.iter().map(|mirror| mirror.url.as_str()).collect();
        assert_eq!(urls, ["https://b", "http://a:5000/v2/x"]);
        assert_eq!(docker.mirrors[0].capabilities, [MirrorCapability::Push]);
        assert_eq!(docker.mirrors[1].capabilities, [MirrorCapability::Pull, MirrorCapability::Resolve]);
        assert_eq!((&docker.upstream, &every.upstream), (&Upstream::Registry, &Upstream::Never));
        assert_eq!(ported.upstream, Upstream::Url("https://u.example".into()));
        assert_eq!(ported.hosts_file, "/etc/containerd/certs.d/r.example:5000/hosts.toml");
    }

    #[test]
    fn every_invalid_member_of_a_registry_is_listed() {
        let yaml = "registries:
- {host: 'https://a', mirrors: [], upstream: sometimes}
- host: b
  mirrors:
  - {url: 'https://user:hidden@c', ca: none, skipVerify: true, capabilities: []}
  - {url: 'http://c', clientKey: hidden, headers: {'a b': x, c: \"hidden\\n\"}}
- {host: b, mirrors: [{url: 'https://d', clientCertificate: x}]}";
        let paths = problems("ContainerdConfig", yaml);
        let [mirror, plain] = ["spec.registries[1].mirrors[0]", "spec.registries[1].mirrors[1]"];
        let expected = [
            "spec.registries[0].host".to_owned(),
            "spec.registries[0].mirrors".to_owned(),
            "spec.registries[0].upstream".to_owned(),
            format!("{mirror}.url"),
            format!("{mirror}.skipVerify"),
            format!("{mirror}.ca"),
            format!("{mirror}.capabilities"),
            format!("{plain}.clientKey"),
            format!("{plain}.clientKey"),
            format!("{plain}.clientKey"),
            format!("{plain}.headers[a b]"),
            format!("{plain}.headers.c"),
            "spec.registries[2].host".to_owned(),
            "spec.registries[2].mirrors[0].clientCertificate".to_owned(),
            "spec.registries[2].mirrors[0].clientCertificate".to_owned(),
        ];
        let sorted = |mut paths: Vec<String>| {
            paths.sort();
            paths
        };
        assert_eq!(sorted(paths), sorted(expected.to_vec()));
        assert!(!found(&with_spec("ContainerdConfig", yaml)).concat().contains("hidden"));
    }

    #[test]
    fn a_registry_has_each_mirror_once() {
        let yaml = "registries:
- {host: a, mirrors: [{url: 'https://b'}, {url: 'https://c'}, {url: 'https://b/'}]}
- {host: d, mirrors: [{url: 'https://b'}]}";
        assert_eq!(problems("ContainerdConfig", yaml), ["spec.registries[0].mirrors[2].url"]);
    }

    #[test]
    fn a_client_certificate_comes_with_its_key() {
        let certificate = include_str!("../../tests/vectors/certificates/leaf.pem");
        let key = objects::pem::encode("PRIVATE KEY", &[0x30, 0]);
        let mirror = format!("{{url: 'https://m', clientCertificate: {certificate:?}, clientKey: {key:?}}}");
        let yaml = format!("registries: [{{host: a, mirrors: [{mirror}]}}]");
        let AnyDocument::Containerd(containerd) = spec("ContainerdConfig", &yaml) else { panic!() };
        assert!(containerd.registries[0].mirrors[0].client.is_some());
    }

    #[test]
    fn hosts_urls_and_headers_have_one_meaning() {
        for host in ["docker.io", "a:5000", "[::1]:5000", "_default", "10.0.0.1"] {
            assert_eq!(host_problem(host), None, "{host}");
        }
        for host in ["", "a/b", "..", "u@a", "_other", "http://a", "a:0"] {
            assert!(host_problem(host).is_some(), "{host}");
        }
        assert!(["https://a", "http://a:1/v2/b"].into_iter().all(|url| url_problem(url).is_none()));
        assert!(
            ["a", "ftp://a", "https://", "https://a?b", "https://u@a", "https://a\"b"]
                .iter()
                .all(|url| url_problem(url).is_some())
        );
        assert!(header_problem("x-a", "b c").is_none() && header_problem("x", "").is_some());
    }
}
