//! ContainerdConfig: how containerd gets images and runs containers.
use super::{
    API_VERSION,
    absolute_path::{is_virtual, path_problem},
    containerd_registry::{Registry, RegistrySpec, registries},
    containerd_runtime::{Runtime, RuntimeSpec, is_runtime_name, runtimes},
    proxy::{Proxy, ProxyUrls, environment_file, proxy_drop_in},
};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The service, and the name of its proxy's environment file.
const SERVICE: &str = "containerd";
/// Where containerd's configuration is unless a document says otherwise.
const CONFIG_PATH: &str = "/etc/containerd/config.toml";
/// Where containerd looks for hosts.toml.
pub(super) const CERTS_DIR: &str = "/etc/containerd/certs.d";

/// What containerd shall be; what is `None` or empty stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Containerd {
    /// The file that containerd reads.
    pub config_path: String,
    /// Where images of registries come from.
    pub registries: Vec<Registry>,
    /// Its proxy.
    pub proxy: Option<Proxy>,
    /// The image that holds a pod open.
    pub sandbox_image: Option<String>,
    /// Who manages control groups.
    pub cgroup_driver: Option<CgroupDriver>,
    /// How layers of images are stored.
    pub snapshotter: Option<String>,
    /// OCI runtimes.
    pub runtimes: Vec<Runtime>,
    /// The runtime of pods that name none.
    pub default_runtime: Option<String>,
    /// The directory with images and containers.
    pub data_root: Option<String>,
    /// Further TOML.
    pub extra_config: Option<String>,
}

/// Who manages control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CgroupDriver {
    /// systemd, as the kubelet does by default on a system that systemd runs.
    Systemd,
    /// The runtime itself.
    Cgroupfs,
}

/// How containerd gets images and runs containers. Only the settings that are named here change in its configuration;
/// comments and other settings stay. Before anything is written, `containerd config dump` must show every value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerdConfig {
    /// Where images of registries come from. Each becomes a hosts.toml below /etc/containerd/certs.d, which containerd
    /// reads at every pull. Existing `registry.mirrors` and `registry.configs` of the configuration are converted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registries: Vec<RegistrySpec>,
    /// Proxy of containerd, set in its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ContainerdProxySpec>,
    /// The image that holds a pod open, such as `registry.k8s.io/pause:3.10.2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_image: Option<String>,
    /// Who manages control groups: `systemd` or `cgroupfs`. It must be the kubelet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup_driver: Option<CgroupDriver>,
    /// How layers of images are stored, such as `overlayfs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshotter: Option<String>,
    /// OCI runtimes, besides those that the configuration has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<RuntimeSpec>,
    /// The runtime of pods that name none. Default: that of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_runtime: Option<String>,
    /// The directory with images and containers. It cannot be changed once the old one has images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_root: Option<String>,
    /// Further TOML, in the configuration version of the file, merged last. It must not set what has a field here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_config: Option<String>,
    /// The file that containerd reads, if its unit names another one. Default: `/etc/containerd/config.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_path: Option<String>,
}

/// The proxy of containerd. At least one of `httpProxy` and `httpsProxy`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["httpProxy"]}, {"required": ["httpsProxy"]}]))]
pub struct ContainerdProxySpec {
    /// URL of the proxy for http: `http://`, `https://` or `socks5://`, with user, password, host and port.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub http_proxy: Option<Secret<String>>,
    /// URL of the proxy for https.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub https_proxy: Option<Secret<String>>,
    /// Destinations without the proxy: hosts, domains (`.example.com`), addresses, networks (`10.0.0.0/8`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<Vec<String>>,
}

impl Document for ContainerdConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ContainerdConfig";
    const SUMMARY: &str = "containerd: registry mirrors, proxy, runtimes, cgroup driver and more.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ContainerdConfig
metadata:
  name: runtime
spec:
  registries:
  - host: docker.io
    mirrors:
    - url: https://mirror.example.com
      ca: |
        -----BEGIN CERTIFICATE-----
        MIIBSDCB+6ADAgECAhRl4yyeXCRIxE13bSQLFUYJuCpbjTAFBgMrZXAwGjEYMBYG
        A1UEAwwPRXhhbXBsZSBSb290IENBMB4XDTI2MTExNTIyMTcwNVoXDTM2MTExMjIy
        MTcwNVowGjEYMBYGA1UEAwwPRXhhbXBsZSBSb290IENBMCowBQYDK2VwAyEAQi2d
        nzPoc3Q5FSH+7j1Cnn+aNvT97hAPwjea/rOlnfKjUzBRMB0GA1UdDgQWBBR+DjcJ
        l6jnyq21gGfhOu1PnJvfQDAfBgNVHSMEGDAWgBR+DjcJl6jnyq21gGfhOu1PnJvf
        QDAPBgNVHRMBAf8EBTADAQH/MAUGAytlcANBAPFLxZKGRw0TxOZ5mgbPx7+dPaQ4
        m28sZ5mTj9gyuF0RjbZwouIE++9022EDeygTKKvafShNx7kwY3xNQPuOKw4=
        -----END CERTIFICATE-----
      headers:
        authorization: Basic bWFjaGluZTpleGFtcGxl
    upstream: never
  sandboxImage: registry.k8s.io/pause:3.10.2
  cgroupDriver: systemd
";
}

impl Check for ContainerdConfig {
    type Checked = Box<Containerd>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Containerd> {
        if self == (Self { config_path: self.config_path.clone(), ..Self::default() }) {
            findings.error("spec", "sets nothing");
        }
        let Self {
            registries: registry_specs,
            proxy,
            sandbox_image,
            cgroup_driver,
            snapshotter,
            runtimes: runtime_specs,
            default_runtime,
            data_root,
            extra_config,
            config_path,
        } = self;
        for (here, path) in [("spec.dataRoot", &data_root), ("spec.configPath", &config_path)] {
            check_path(here, path.as_deref(), findings);
        }
        if sandbox_image.as_deref().is_some_and(|image| !is_image(image)) {
            findings.error("spec.sandboxImage", "must be the name of an image, such as `registry.k8s.io/pause:3.10.2`");
        }
        if snapshotter.as_deref().is_some_and(|name| !is_plugin_name(name)) {
            findings.error("spec.snapshotter", "must be the name of a snapshotter, such as `overlayfs`");
        }
        if default_runtime.as_deref().is_some_and(|name| !is_runtime_name(name)) {
            findings.error("spec.defaultRuntime", "must be the name of a runtime, such as `runc`");
        }
        if let Some(text) = &extra_config {
            check_toml("spec.extraConfig", text, findings);
        }
        Box::new(Containerd {
            config_path: config_path.unwrap_or_else(|| CONFIG_PATH.to_owned()),
            registries: registries(registry_specs, findings),
            proxy: proxy.map(|proxy| checked_proxy(proxy, findings)),
            sandbox_image,
            cgroup_driver,
            snapshotter,
            runtimes: runtimes(runtime_specs, findings),
            default_runtime,
            data_root,
            extra_config,
        })
    }
}

fn checked_proxy(proxy: ContainerdProxySpec, findings: &mut Findings<'_>) -> Proxy {
    let ContainerdProxySpec { http_proxy, https_proxy, no_proxy } = proxy;
    let variables = ProxyUrls { http_proxy, https_proxy, no_proxy }.variables("spec.proxy", findings);
    Proxy { name: SERVICE.to_owned(), variables, services: vec![SERVICE.to_owned()], kubeadm: false }
}

impl Body for Box<Containerd> {
    fn secrets(&self) -> Vec<&[u8]> {
        let mirrors = self.registries.iter().flat_map(|registry| &registry.mirrors);
        let of_mirrors = mirrors.flat_map(|mirror| {
            let key = mirror.client.iter().map(|(_, key)| key.expose().as_bytes());
            key.chain(mirror.headers.values().map(|value| value.expose().as_bytes()))
        });
        let of_proxy = self.proxy.iter().flat_map(Body::secrets);
        of_mirrors.chain(of_proxy).collect()
    }

    fn confidential(&self) -> Vec<&[u8]> {
        self.extra_config.iter().map(|text| text.as_bytes()).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let mut claims = vec![
            Claim::new("kind", Claimed::ContainerRuntime),
            Claim::new("kind", Claimed::Preparation("the container runtime")),
            Claim::new("spec.configPath", Claimed::Program { path: self.config_path.clone() }),
        ];
        for (index, registry) in self.registries.iter().enumerate() {
            let here = path::member(&path::item("spec.registries", index), "host");
            claims.push(Claim::new(here, Claimed::Program { path: registry.hosts_file.clone() }));
        }
        if let Some(Proxy { name, .. }) = &self.proxy {
            let file =
                Claimed::Output { what: "environment file", name: Some(name), path: Some(environment_file(name)) };
            let service = Claimed::ServiceProxy { service: SERVICE, path: proxy_drop_in(SERVICE) };
            claims.extend([Claim::new("spec.proxy", file), Claim::new("spec.proxy", service)]);
        }
        claims
    }
}

fn check_path(here: &str, path: Option<&str>, findings: &mut Findings<'_>) {
    let Some(path) = path else { return };
    if let Some(problem) = path_problem(path) {
        findings.error(here, problem);
    } else if is_virtual(path) {
        findings.error(here, "is in a file system of the kernel: use another path");
    }
}

fn is_image(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed) && !name.starts_with(['/', ':', '@', '-', '.'])
}

fn is_plugin_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// The parser's own words quote the text, which may have come encrypted: only the line is named.
fn check_toml(here: &str, text: &str, findings: &mut Findings<'_>) {
    let Err(error) = text.parse::<toml_edit::DocumentMut>() else { return };
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    findings.error(here, format!("is not TOML: see line {line} of the text"));
}

#[cfg(test)]
mod tests {
    use crate::{
        AnyDocument,
        testing::{document, found, problems, spec},
    };

    #[test]
    fn a_document_says_only_what_it_names() {
        let AnyDocument::Containerd(containerd) = spec("ContainerdConfig", "cgroupDriver: systemd") else { panic!() };
        assert_eq!(containerd.config_path, "/etc/containerd/config.toml");
        assert!(containerd.registries.is_empty() && containerd.proxy.is_none() && containerd.sandbox_image.is_none());
        assert_eq!(problems("ContainerdConfig", "configPath: /etc/x.toml"), ["spec"]);
    }

    #[test]
    fn every_invalid_member_is_listed() {
        let yaml = "dataRoot: data
configPath: /proc/x
sandboxImage: a b
snapshotter: ''
defaultRuntime: Run C
extraConfig: |
  a = 1
  b =
proxy: {noProxy: [a]}";
        let mut found = problems("ContainerdConfig", yaml);
        found.sort();
        let expected = [
            "spec.configPath",
            "spec.dataRoot",
            "spec.defaultRuntime",
            "spec.extraConfig",
            "spec.proxy",
            "spec.sandboxImage",
            "spec.snapshotter",
        ];
        assert_eq!(found, expected);
        let line = found_in("extraConfig: \"a = 1\\nb =\\n\"");
        assert_eq!(line, ["spec.extraConfig: is not TOML: see line 2 of the text"]);
    }

    fn found_in(spec: &str) -> Vec<String> {
        found(&document("ContainerdConfig", &format!("spec: {{{spec}}}")))
    }

    #[test]
    fn containerd_is_configured_once_and_its_files_have_one_owner() {
        let containerd = |spec: &str| document("ContainerdConfig", &format!("spec: {{{spec}}}"));
        let mirror = "registries: [{host: docker.io, mirrors: [{url: 'https://a'}]}]";
        let twice = found(&[containerd(mirror), containerd("snapshotter: native, configPath: /etc/c.toml")].concat());
        let message = "containerd is already configured by document 1: a machine has at most one ContainerdConfig";
        assert_eq!(twice, [format!("kind: {message}")]);
        let file = |path: &str| document("FilesConfig", &format!("spec: {{files: [{{path: {path}, content: x}}]}}"));
        let hosts = "/etc/containerd/certs.d/docker.io/hosts.toml";
        let both = found(&[file(hosts), containerd(mirror)].concat());
        assert_eq!(both, [format!("spec.registries[0].host: {hosts} is also set by document 1")]);
        let both = found(&[containerd(mirror), file("/etc/containerd/config.toml")].concat());
        assert_eq!(both, ["spec.files[0].path: this file is also set by document 1"]);
        let proxy = document("ProxyConfig", "spec: {httpProxy: 'http://p', services: [containerd]}");
        let both = found(&[proxy, containerd("proxy: {httpProxy: 'http://p'}")].concat());
        assert_eq!(both, ["spec.proxy: already has a proxy from document 1"]);
    }
}
