//! JoinConfig: this machine joins a cluster, as a worker or as a control plane node.
use super::{
    API_VERSION, component_members, duration,
    image_pull::ImagePull,
    init::{Members, containerd_socket, node_name_problem, runtime_socket_problem},
    join_control_plane::{CertificateKeySource, ControlPlaneSpec, JoinControlPlane},
    join_discovery::{DiscoverySpec, JoinDiscovery, TokenSource, discovery_of, nowhere, token_of},
    kubernetes_version::{Verdict, judge, minor},
    labels::{label_problem, taint_problem},
    node_addresses,
    node_timeouts::{JoinTimeouts, NodeTimeouts},
    preflight_check::PreflightCheck,
};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use discovery::method::Source;
use objects::component_fields::Component;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::{collections::BTreeMap, time::Duration};

/// A cluster that this machine joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Major, minor and patch, with the leading `v`; that of the machine's kubeadm if absent.
    pub kubernetes_version: Option<String>,
    /// How the cluster is found and verified.
    pub discovery: JoinDiscovery,
    /// How long the cluster may take to answer.
    pub timeout: Duration,
    /// The token that requests the node's certificate, if it is not the one of discovery.
    pub tls_bootstrap_token: Option<TokenSource>,
    /// What makes it a control plane node; a worker if absent.
    pub control_plane: Option<JoinControlPlane>,
    /// The node's name; the host's if absent.
    pub node_name: Option<String>,
    /// Labels of the node.
    pub labels: BTreeMap<String, String>,
    /// Taints of the node.
    pub taints: Vec<NodeTaint>,
    /// The node's addresses, one of each family at most; the kubelet's choice if there are none.
    pub node_addresses: Vec<String>,
    /// The container runtime's socket, as a path.
    pub runtime_socket: String,
    /// Preflight checks that may fail.
    pub tolerated_checks: Vec<PreflightCheck>,
    /// When images are pulled.
    pub image_pull: ImagePull,
    /// Members of the kubelet's configuration that are this node's alone.
    pub kubelet: Members,
    /// How long kubeadm waits.
    pub timeouts: NodeTimeouts,
}

impl Join {
    /// The token that requests the node's certificate; `check` sees to it that there is one.
    pub const fn node_token(&self) -> Option<&TokenSource> {
        match (&self.tls_bootstrap_token, &self.discovery) {
            (Some(token), _) => Some(token),
            (None, JoinDiscovery::Token { token, .. }) => Some(token),
            (None, JoinDiscovery::File { .. }) => None,
        }
    }
}

/// Joins a cluster as a worker, or with `controlPlane` as a control plane node, with the machine's kubeadm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JoinConfig {
    /// Kubernetes version, such as `v1.36.4`. The machine's kubeadm must have the same minor version. Default: the
    /// version of the machine's kubeadm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
    /// How the cluster is found and verified: `token` or `file`.
    pub discovery: DiscoverySpec,
    /// Bootstrap token that requests the certificate of the node. Default: the token of `discovery`. Required with
    /// `discovery.file`.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub tls_bootstrap_token: Option<Secret<String>>,
    /// File with that token, which only root can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_bootstrap_token_file: Option<String>,
    /// Makes the machine a control plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlaneSpec>,
    /// Name of the node. Default: the host name. Values that only the machine knows: `'{{ ds.meta_data.local_hostname }}'`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// Addresses of the node, one of each family at most, such as `'{{ machine.address }}'`. Default: the kubelet chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_addresses: Vec<String>,
    /// Labels of the node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Taints of the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<NodeTaint>,
    /// Socket of the container runtime.
    #[serde(default = "containerd_socket")]
    pub runtime_socket: String,
    /// Preflight checks that may fail, such as `swap`; `all` is every one. What they find is reported, and does not stop
    /// the run. kubeadm ignores its own checks of the same things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerated_checks: Vec<PreflightCheck>,
    /// When images are pulled. With `Never`, the container runtime must have them before.
    #[serde(default, skip_serializing_if = "ImagePull::is_default")]
    pub image_pull: ImagePull,
    /// Fields of KubeletConfiguration for this node, beside those of the cluster. Requires Kubernetes 1.25 or newer.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kubelet: Members,
    /// How long kubeadm waits for the parts of the node.
    #[serde(default, skip_serializing_if = "JoinTimeouts::is_default")]
    pub timeouts: JoinTimeouts,
}

/// A taint of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeTaint {
    /// Key, such as `example.com/dedicated`.
    pub key: String,
    /// Value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Effect.
    pub effect: TaintEffect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TaintEffect {
    /// They are not scheduled.
    NoSchedule,
    /// They are scheduled if no other node fits.
    PreferNoSchedule,
    /// They are evicted.
    NoExecute,
}

impl TaintEffect {
    /// As Kubernetes writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

impl Default for JoinConfig {
    fn default() -> Self {
        Self {
            kubernetes_version: None,
            discovery: DiscoverySpec::default(),
            tls_bootstrap_token: None,
            tls_bootstrap_token_file: None,
            control_plane: None,
            node_name: None,
            node_addresses: Vec::new(),
            labels: BTreeMap::new(),
            taints: Vec::new(),
            runtime_socket: containerd_socket(),
            tolerated_checks: Vec::new(),
            image_pull: ImagePull::default(),
            kubelet: Members::new(),
            timeouts: JoinTimeouts::default(),
        }
    }
}

impl Document for JoinConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "JoinConfig";
    const SUMMARY: &str = "Joins this machine to a cluster, as a worker or a control plane node.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
metadata:
  name: worker
spec:
  discovery:
    token:
      endpoints: [api.example.com:6443]
      token: abcdef.0123456789abcdef
      caPins: ['sha256:9f3a5a2e0c1c0b5b2e2f9e5d6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7']
  labels: {example.com/rack: r7}
";
}

const TIMEOUT: Duration = Duration::from_secs(5 * 60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// kubeadm applies patches to the kubelet's configuration from this minor version on.
const FIRST_KUBELET_PATCHES: u32 = 25;

impl Check for JoinConfig {
    type Checked = Box<Join>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Join> {
        let version = self.kubernetes_version.as_deref();
        match version.map(judge) {
            None | Some(Verdict::Supported) => {}
            Some(Verdict::Untested(message)) => _ = findings.warning("spec.kubernetesVersion", message),
            Some(Verdict::Refused(message)) => _ = findings.error("spec.kubernetesVersion", message),
        }
        let timeout = match self.discovery.timeout.as_deref().map(duration::parse) {
            None => Some(TIMEOUT),
            Some(given) => given.ok().filter(|timeout| (SHORTEST..=LONGEST).contains(timeout)),
        };
        if timeout.is_none() {
            findings.error("spec.discovery.timeout", "must be a duration from 1s to 24h, such as `90s` or `10m`");
        }
        let discovery = discovery_of(self.discovery, findings);
        let names = ["spec.tlsBootstrapToken", "spec.tlsBootstrapTokenFile"];
        let tls_bootstrap_token = token_of(names, self.tls_bootstrap_token, self.tls_bootstrap_token_file, findings);
        if matches!(discovery, Some(JoinDiscovery::File { .. })) && tls_bootstrap_token.is_none() {
            findings
                .error("spec", "requires `tlsBootstrapToken` or `tlsBootstrapTokenFile` with `discovery.file`")
                .hint("a kubeconfig for discovery has no credentials");
        }
        if let Some(problem) = self.node_name.as_deref().and_then(node_name_problem) {
            findings.error("spec.nodeName", problem);
        }
        if let Some(problem) = runtime_socket_problem(&self.runtime_socket) {
            findings.error("spec.runtimeSocket", problem);
        }
        for (key, value) in &self.labels {
            if let Some(problem) = label_problem(key, value) {
                findings.error(&path::member("spec.labels", key), problem);
            }
        }
        for (index, taint) in self.taints.iter().enumerate() {
            if let Some(problem) = taint_problem(&taint.key, &taint.value) {
                findings.error(&path::item("spec.taints", index), problem);
            }
        }
        let timeouts = self.timeouts.read(findings);
        if self.control_plane.is_none() {
            self.timeouts.refuse_control_plane(findings);
        }
        if self.control_plane.as_ref().is_some_and(|spec| spec.patches.is_some()) && !self.kubelet.is_empty() {
            findings
                .error("spec.kubelet", "must be empty with `controlPlane.patches`")
                .hint("put these fields into the patch `kubeletconfiguration` of that directory");
        }
        let control_plane = self.control_plane.map(|spec| spec.read(findings));
        let minor = version.and_then(minor);
        if minor.is_some_and(|minor| minor < FIRST_KUBELET_PATCHES) && !self.kubelet.is_empty() {
            findings.error("spec.kubelet", "requires Kubernetes 1.25 or newer");
        }
        node_addresses::check(&self.node_addresses, findings);
        component_members::check(Component::Kubelet, &self.kubelet, minor, findings);
        Box::new(Join {
            kubernetes_version: version.map(|version| format!("v{}", version.trim_start_matches('v'))),
            discovery: discovery.unwrap_or_else(nowhere),
            timeout: timeout.unwrap_or(TIMEOUT),
            tls_bootstrap_token,
            control_plane,
            node_name: self.node_name,
            node_addresses: self.node_addresses,
            labels: self.labels,
            taints: self.taints,
            runtime_socket: self.runtime_socket,
            tolerated_checks: self.tolerated_checks,
            image_pull: self.image_pull,
            kubelet: self.kubelet,
            timeouts,
        })
    }
}

impl Body for Join {
    /// The certificate key, each token's secret half alone, and the location of a kubeconfig, whose query may be a password.
    fn secrets(&self) -> Vec<&[u8]> {
        let discovery = match &self.discovery {
            JoinDiscovery::Token { token, .. } => Some(token),
            JoinDiscovery::File { .. } => None,
        };
        let tokens = discovery.into_iter().chain(&self.tls_bootstrap_token);
        let given = tokens.filter_map(|token| match token {
            TokenSource::Given(token) => Some(token.secret.expose().as_bytes()),
            TokenSource::File(_) => None,
        });
        let location = match &self.discovery {
            JoinDiscovery::File { source: Source::Url(url), .. } => Some(url.as_bytes()),
            _ => None,
        };
        let key = match self.control_plane.as_ref().and_then(|wanted| wanted.certificate_key.as_ref()) {
            Some(CertificateKeySource::Given(key)) => Some(key.expose().as_bytes()),
            _ => None,
        };
        given.chain(location).chain(key).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let version = self.kubernetes_version.as_deref().and_then(minor);
        let version = version.map(|minor| Claim::new("spec.kubernetesVersion", Claimed::Kubernetes(minor)));
        let worker = self.control_plane.is_none().then(|| Claim::new("spec", Claimed::Worker));
        std::iter::once(Claim::new("spec", Claimed::Node)).chain(version).chain(worker).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{found, problems, read_text, with_spec},
    };

    const TOKEN: &str = "{endpoints: [10.0.0.10:6443], token: abcdef.0123456789abcdef, unsafeWithoutCAPins: true}";

    #[test]
    fn every_member_is_judged() {
        let spec = "\
kubernetesVersion: '1.36'
discovery:
  token: {endpoints: ['http://x', 'a:b:c'], token: abc, caPins: [md5:00]}
  timeout: 0s
nodeName: A_B
labels: {kubernetes.io/role: x, a b: c}
taints: [{key: '/', effect: NoSchedule}]
runtimeSocket: unix:///x
kubelet: {kind: X}";
        let wanted = [
            "spec.kubernetesVersion",
            "spec.discovery.timeout",
            "spec.discovery.token.endpoints[0]",
            "spec.discovery.token.endpoints[1]",
            "spec.discovery.token.caPins[0]",
            "spec.discovery.token.token",
            "spec.nodeName",
            "spec.runtimeSocket",
            "spec.labels[a b]",
            "spec.labels[kubernetes.io/role]",
            "spec.taints[0]",
            "spec.kubelet.kind",
        ];
        let mut found = problems("JoinConfig", spec);
        let mut expected = wanted.map(str::to_owned).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    fn problems_with(discovery: &str, rest: &str) -> Vec<String> {
        found(&with_spec("JoinConfig", &format!("{{discovery: {discovery}{rest}}}")))
    }

    #[test]
    fn one_way_of_discovery_is_needed_and_no_second_one() {
        let both = "spec.discovery: `token` and `file` are both set: keep the one that this machine can trust";
        assert_eq!(problems_with(&format!("{{token: {TOKEN}, file: {{location: /a}}}}"), ""), [both]);
        assert_eq!(problems_with("{}", ""), ["spec.discovery: requires `token` or `file`"]);
        assert_eq!(problems_with(&format!("{{token: {TOKEN}}}"), ""), [""; 0]);
    }

    #[test]
    fn a_token_without_a_pin_and_without_a_waiver_is_refused() {
        let found = problems_with("{token: {endpoints: [a:1], token: abcdef.0123456789abcdef}}", "");
        let message = "requires `caPins`: anyone else who has the token can pose as the cluster";
        assert_eq!(found, [format!("spec.discovery.token: {message}")]);
    }

    #[test]
    fn a_kubeconfig_needs_a_token_beside_it() {
        let file = "{file: {location: /etc/cluster.yaml}}";
        let missing = "spec: requires `tlsBootstrapToken` or `tlsBootstrapTokenFile` with `discovery.file`";
        assert_eq!(problems_with(file, ""), [missing]);
        assert_eq!(problems_with(file, ", tlsBootstrapToken: abcdef.0123456789abcdef"), [""; 0]);
        assert_eq!(problems_with(file, ", tlsBootstrapTokenFile: /etc/token"), [""; 0]);
        for location in ["-", "cluster.yaml", "http://a/b"] {
            let text = format!("{{file: {{location: '{location}'}}}}");
            let found = problems_with(&text, ", tlsBootstrapTokenFile: /etc/token");
            assert!(found.len() == 1 && found[0].starts_with("spec.discovery.file.location: "), "{found:?}");
        }
    }

    #[test]
    fn a_token_is_given_or_in_a_file() {
        let both = "{endpoints: [a:1], token: abcdef.0123456789abcdef, tokenFile: /t, unsafeWithoutCAPins: true}";
        let found = problems_with(&format!("{{token: {both}}}"), "");
        assert!(found.len() == 1 && found[0].contains("are both set"), "{found:?}");
        let none = "{endpoints: [a:1], unsafeWithoutCAPins: true}";
        let missing = "spec.discovery.token: requires `token` or `tokenFile`";
        assert_eq!(problems_with(&format!("{{token: {none}}}"), ""), [missing]);
    }

    #[test]
    fn kubelet_members_need_a_kubeadm_that_applies_them() {
        let found =
            problems_with(&format!("{{token: {TOKEN}}}"), ", kubernetesVersion: v1.24.17, kubelet: {maxPods: 9}");
        assert_eq!(found, ["spec.kubelet: requires Kubernetes 1.25 or newer"]);
    }

    #[test]
    fn the_token_of_discovery_requests_the_certificate_unless_there_is_another() {
        let join = |rest: &str| {
            let text = with_spec("JoinConfig", &format!("{{discovery: {{token: {TOKEN}}}{rest}}}"));
            let mut read = read_text(&text);
            let AnyDocument::Join(join) = read.documents.remove(0).body else { panic!("{text}") };
            let Some(TokenSource::Given(token)) = join.node_token().cloned() else { panic!("{text}") };
            token.id.to_string()
        };
        assert_eq!(join(""), "abcdef");
        assert_eq!(join(", tlsBootstrapToken: 111111.0123456789abcdef"), "111111");
    }
}
