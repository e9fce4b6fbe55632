//! ProxyConfig: how services reach the outside.
use super::{API_VERSION, DEFAULT_NAME, network::Network, proxy_url::url_problem};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proxy variables for services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The environment file's name without its ending.
    pub name: String,
    /// Names and values, upper and lower case forms, in order; a URL may hold a password.
    pub variables: Vec<(String, Secret<String>)>,
    /// Units, without `.service`.
    pub services: Vec<String>,
    /// Whether kubeadm gets the variables too.
    pub kubeadm: bool,
}

/// The proxy that services use, given to them in their environment. At least one of `httpProxy` and `httpsProxy`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["httpProxy"]}, {"required": ["httpsProxy"]}]))]
pub struct ProxyConfig {
    /// URL of the proxy for http: `http://`, `https://` or `socks5://`, with user, password, host and port.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub http_proxy: Option<Secret<String>>,
    /// URL of the proxy for https.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub https_proxy: Option<Secret<String>>,
    /// Destinations without the proxy: hosts, domains (`.example.com`), addresses, networks (`10.0.0.0/8`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<Vec<String>>,
    /// Services that use the proxy, such as `containerd` and `kubelet`; they are restarted when it changes.
    #[schemars(length(min = 1))]
    pub services: Vec<String>,
    /// Whether kubeadm uses the proxy too. On a control plane node kubeadm copies these variables, with a password in
    /// them, into the manifests of the static pods. The cluster's own addresses are reached without the proxy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kubeadm: bool,
}

impl Document for ProxyConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ProxyConfig";
    const SUMMARY: &str = "HTTP proxy of services, set in their environment.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ProxyConfig
metadata:
  name: egress
spec:
  httpProxy: http://proxy.example.com:3128
  httpsProxy: http://proxy.example.com:3128
  noProxy:
  - localhost
  - .example.com
  - 10.0.0.0/8
  services:
  - containerd
  - kubelet
";
}

impl Check for ProxyConfig {
    type Checked = Proxy;

    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> Proxy {
        let Self { http_proxy, https_proxy, no_proxy, services, kubeadm } = self;
        let variables = ProxyUrls { http_proxy, https_proxy, no_proxy }.variables("spec", findings);
        if services.is_empty() {
            findings.error("spec.services", "must name at least one service");
        }
        let services: Vec<_> =
            services.iter().enumerate().map(|(index, unit)| service(index, unit, findings)).collect();
        Proxy { name: name.unwrap_or(DEFAULT_NAME).to_owned(), variables, services, kubeadm }
    }
}

/// The proxy of a document: URLs, and destinations without it.
pub(super) struct ProxyUrls {
    pub(super) http_proxy: Option<Secret<String>>,
    pub(super) https_proxy: Option<Secret<String>>,
    pub(super) no_proxy: Option<Vec<String>>,
}

impl ProxyUrls {
    /// Checks the fields below `here`, and gives the variables of the environment.
    pub(super) fn variables(self, here: &str, findings: &mut Findings<'_>) -> Vec<(String, Secret<String>)> {
        let Self { http_proxy, https_proxy, no_proxy } = self;
        if http_proxy.is_none() && https_proxy.is_none() {
            findings.error(here, "requires `httpProxy` or `httpsProxy`");
        }
        for (name, url) in [("httpProxy", &http_proxy), ("httpsProxy", &https_proxy)] {
            if let Some(problem) = url.as_ref().and_then(|url| url_problem(url.expose())) {
                findings.error(&path::member(here, name), problem);
            }
        }
        let exceptions = path::member(here, "noProxy");
        for (index, entry) in no_proxy.iter().flatten().enumerate() {
            if !is_exception(entry) {
                findings
                    .error(&path::item(&exceptions, index), "must be a host, a domain, an address or a network")
                    .hint("write one per item, without scheme, commas or spaces");
            }
        }
        let no_proxy = no_proxy.filter(|entries| !entries.is_empty()).map(|entries| Secret::new(entries.join(",")));
        let variables = [("HTTP_PROXY", http_proxy), ("HTTPS_PROXY", https_proxy), ("NO_PROXY", no_proxy)];
        let variables = variables.into_iter().filter_map(|(name, value)| Some((name, value?)));
        variables.flat_map(both_cases).collect()
    }
}

impl Body for Proxy {
    fn secrets(&self) -> Vec<&[u8]> {
        let values = self.variables.iter().map(|(_, value)| value.expose().as_str());
        let urls = values.filter(|value| value.contains("://"));
        urls.flat_map(|url| std::iter::once(url).chain(password(url))).map(str::as_bytes).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let path = Some(environment_file(&self.name));
        let file = Claimed::Output { what: "environment file", name: Some(&self.name), path };
        let whole =
            [Claim::new("metadata.name", file), Claim::new("kind", Claimed::Preparation("a proxy for services"))];
        let service = |(index, service): (usize, &'a String)| {
            let what = Claimed::ServiceProxy { service, path: proxy_drop_in(service) };
            Claim::new(path::item("spec.services", index), what)
        };
        whole.into_iter().chain(self.services.iter().enumerate().map(service)).collect()
    }
}

/// Where the files with proxy variables are.
pub(super) const PROXY_DIR: &str = "/etc/machineadm/proxy";
/// Where units are extended.
pub(super) const UNIT_DIR: &str = "/etc/systemd/system";
const PROXY_DROP_IN: &str = ".service.d/90-machineadm-proxy.conf";

/// The file with the variables of a proxy.
pub fn environment_file(name: &str) -> String {
    format!("{PROXY_DIR}/{name}.env")
}

/// The drop-in that points a service to its proxy's variables.
pub fn proxy_drop_in(service: &str) -> String {
    format!("{UNIT_DIR}/{service}{PROXY_DROP_IN}")
}

/// Whether a path can be the drop-in of a service.
pub(super) fn is_proxy_drop_in(path: &str) -> bool {
    let service = path.strip_prefix(UNIT_DIR).and_then(|rest| rest.strip_suffix(PROXY_DROP_IN));
    service.is_some_and(|service| service.starts_with('/') && !service[1..].contains('/'))
}

fn password(url: &str) -> Option<&str> {
    let (userinfo, _) = url.split_once("://")?.1.rsplit_once('@')?;
    Some(userinfo.split_once(':')?.1)
}

/// Programs disagree about the case of these variables, so that they get both.
fn both_cases((name, value): (&str, Secret<String>)) -> [(String, Secret<String>); 2] {
    [(name.to_owned(), value.clone()), (name.to_lowercase(), value)]
}

fn service(index: usize, unit: &str, findings: &mut Findings<'_>) -> String {
    let here = path::item("spec.services", index);
    let name = unit.strip_suffix(".service").unwrap_or(unit);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b":_.\\@-".contains(&byte);
    if name.is_empty() || name.len() > 200 || name.starts_with(['.', '-']) || !name.bytes().all(allowed) {
        findings.error(&here, "invalid service name").hint("write it without a path, such as `containerd`");
    } else if let Some((_, "socket" | "timer" | "target" | "mount" | "path" | "slice" | "scope")) =
        name.rsplit_once('.')
    {
        findings.error(&here, "is not a service unit: only services have an environment");
    }
    name.to_owned()
}

fn is_exception(entry: &str) -> bool {
    if entry.contains('/') {
        return entry.parse::<Network>().is_ok();
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:*[]".contains(&byte);
    !entry.is_empty() && entry.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::is_exception;
    use crate::{
        AnyDocument,
        testing::{problems, spec},
    };

    #[test]
    fn variables_come_in_both_cases_and_services_without_ending() {
        let yaml = "{httpProxy: 'http://p:1', noProxy: [a, 10.0.0.0/8], services: [kubelet.service, getty@tty1]}";
        let AnyDocument::Proxy(proxy) = spec("ProxyConfig", yaml) else { panic!() };
        let shown: Vec<_> =
            proxy.variables.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect();
        let expected = [
            ("HTTP_PROXY", "http://p:1"),
            ("http_proxy", "http://p:1"),
            ("NO_PROXY", "a,10.0.0.0/8"),
            ("no_proxy", "a,10.0.0.0/8"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            (proxy.name.as_str(), proxy.services),
            ("machineadm", vec!["kubelet".to_owned(), "getty@tty1".to_owned()])
        );
    }

    #[test]
    fn every_bad_member_is_listed() {
        let yaml = "{httpsProxy: 'p:1', noProxy: ['a,b', 10.0.0.0/33], services: [/usr/lib/x.service, docker.socket]}";
        let expected =
            ["spec.httpsProxy", "spec.noProxy[0]", "spec.noProxy[1]", "spec.services[0]", "spec.services[1]"];
        assert_eq!(problems("ProxyConfig", yaml), expected);
    }

    #[test]
    fn a_proxy_without_url_or_services_is_an_error() {
        assert_eq!(problems("ProxyConfig", "{services: []}"), ["spec", "spec.services"]);
    }

    #[test]
    fn exceptions_are_hosts_domains_and_networks() {
        assert!(
            ["localhost", ".svc", "*.example.com", "::1", "fd00::/8", "10.1.2.3:80", "*"].into_iter().all(is_exception)
        );
        assert!(!["", "a b", "http://a", "a/8", "10.0.0.0/x", "a\n"].into_iter().any(is_exception));
    }
}
