//! InitConfig: this machine creates a new cluster.
use super::{
    API_VERSION,
    cluster_settings::ClusterSettings,
    component_members,
    control_plane::{ApiServer, ControlPlaneProgram, EtcdMember},
    control_plane_address::{is_endpoint, is_reachable},
    image_pull::ImagePull,
    init_token::{InitToken, InitTokenSpec},
    instance_value::{has_instance_values, instance_value_problem},
    join::NodeTaint,
    kubernetes_version::{Verdict, judge, minor},
    labels::{label_problem, taint_problem},
    node_addresses,
    node_timeouts::{InitTimeouts, NodeTimeouts},
    preflight_check::PreflightCheck,
    subnets::{check_overlap, networks},
};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use core::net::IpAddr;
use objects::component_fields::Component;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Members of a configuration that machineadm passes on as they are.
pub type Members = Map<String, Value>;

/// A new cluster, created by this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// Major, minor and patch, with the leading `v`.
    pub kubernetes_version: String,
    /// Where the cluster is reached, host and port.
    pub control_plane_endpoint: Option<String>,
    /// Where this machine's API server is reached.
    pub advertise_address: Option<IpAddr>,
    /// The node's name; the host's if absent.
    pub node_name: Option<String>,
    /// The node's addresses, one of each family at most; the kubelet's choice if there are none.
    pub node_addresses: Vec<String>,
    /// The container runtime's socket, as a path.
    pub runtime_socket: String,
    /// Networks of pods, one or two.
    pub pod_subnets: Vec<String>,
    /// Networks of services, one or two.
    pub service_subnets: Vec<String>,
    /// Preflight checks that may fail.
    pub tolerated_checks: Vec<PreflightCheck>,
    /// When images are pulled.
    pub image_pull: ImagePull,
    /// Members of the kubelet's configuration.
    pub kubelet: Members,
    /// Members of kube-proxy's configuration.
    pub kube_proxy: Members,
    /// What encrypts the certificates for further control plane nodes, as hexadecimal digits.
    pub certificate_key: Option<Secret<String>>,
    /// The token that the cluster gets, where it is not kubeadm's to choose.
    pub bootstrap_token: Option<InitToken>,
    /// What the cluster is created without.
    pub without: Vec<ClusterPart>,
    /// Labels of the node.
    pub labels: BTreeMap<String, String>,
    /// Taints of the node; that of control plane nodes if absent.
    pub taints: Option<Vec<NodeTaint>>,
    /// Settings of the cluster and of its control plane.
    pub settings: ClusterSettings,
    /// How long kubeadm waits.
    pub timeouts: NodeTimeouts,
}

impl Init {
    /// Whether the cluster is created without a part.
    pub fn is_without(&self, part: ClusterPart) -> bool {
        self.without.contains(&part)
    }
}

/// A new cluster, created by this machine with kubeadm, in the API version that the installed kubeadm prefers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitConfig {
    /// Kubernetes version, such as `v1.36.4`. The machine's kubeadm must have the same minor version.
    pub kubernetes_version: String,
    /// Endpoint of the cluster as `host:port`: a load balancer, or this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<String>,
    /// IP address of this machine's API server for other machines. Default: the address of the default route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertise_address: Option<String>,
    /// Name of the node. Default: the host name. Values that only the machine knows: `'{{ ds.meta_data.local_hostname }}'`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// Addresses of the node, one of each family at most, such as `'{{ machine.address }}'`. Default: the kubelet chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_addresses: Vec<String>,
    /// Socket of the container runtime.
    #[serde(default = "containerd_socket")]
    pub runtime_socket: String,
    /// Networks of pods, such as `10.244.0.0/16`; one of each family for dual stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pod_subnets: Vec<String>,
    /// Networks of services; they must not overlap `podSubnets`. Default: `10.96.0.0/12`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service_subnets: Vec<String>,
    /// Preflight checks that may fail, such as `swap`; `all` is every one. What they find is reported, and does not stop
    /// the run. kubeadm ignores its own checks of the same things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerated_checks: Vec<PreflightCheck>,
    /// When images are pulled. With `Never`, the container runtime must have them before.
    #[serde(default, skip_serializing_if = "ImagePull::is_default")]
    pub image_pull: ImagePull,
    /// Fields of KubeletConfiguration, passed on unchanged. They are checked against the fields of `kubernetesVersion`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kubelet: Members,
    /// Fields of KubeProxyConfiguration, passed on unchanged. They are checked against the fields of
    /// `kubernetesVersion`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kube_proxy: Members,
    /// Certificate key, 64 hexadecimal digits from `machineadm certs key`. When set, the certificates that further
    /// control plane nodes need are encrypted with it and uploaded once, for two hours; mode post uploads them again once
    /// the cluster has deleted them. Anyone who has the key and reads the Secret `kubeadm-certs` in that time gets the
    /// private keys of the cluster.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub certificate_key: Option<Secret<String>>,
    /// Bootstrap token that the cluster is created with. Default: a random token that expires after 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_token: Option<InitTokenSpec>,
    /// What the cluster is created without: `coreDNS`, `kubeProxy`, `bootstrapToken`. Without `bootstrapToken`, machines
    /// can join after `machineadm token create`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<ClusterPart>,
    /// How long kubeadm waits for the parts of the node.
    #[serde(default, skip_serializing_if = "InitTimeouts::is_default")]
    pub timeouts: InitTimeouts,
    /// Labels of the node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Taints of the node; an empty list is none. Default: `node-role.kubernetes.io/control-plane`, which keeps pods of
    /// users away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taints: Option<Vec<NodeTaint>>,
    /// DNS domain of services. Default: `cluster.local`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_domain: Option<String>,
    /// Name of the cluster. Default: `kubernetes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<String>,
    /// Port of this machine's API server. Default: 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server_port: Option<u16>,
    /// Directory of certificates and keys; those that it has are used. Default: `/etc/kubernetes/pki`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificates_directory: Option<String>,
    /// Registry of the images of Kubernetes. Default: `registry.k8s.io`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_repository: Option<String>,
    /// Feature gates of kubeadm.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub feature_gates: BTreeMap<String, bool>,
    /// Settings of the API server.
    #[serde(default, skip_serializing_if = "ApiServer::is_default")]
    pub api_server: ApiServer,
    /// Settings of the controller manager.
    #[serde(default, skip_serializing_if = "ControlPlaneProgram::is_default")]
    pub controller_manager: ControlPlaneProgram,
    /// Settings of the scheduler.
    #[serde(default, skip_serializing_if = "ControlPlaneProgram::is_default")]
    pub scheduler: ControlPlaneProgram,
    /// Settings of the etcd member on this machine.
    #[serde(default, skip_serializing_if = "EtcdMember::is_default")]
    pub etcd: EtcdMember,
    /// Directory on this machine with kubeadm's patches of static pods, such as `kube-apiserver+merge.yaml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<String>,
}

/// What kubeadm gives a new cluster unless it is told not to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ClusterPart {
    /// The DNS server.
    #[serde(rename = "coreDNS")]
    CoreDns,
    /// The service proxy; a network plugin replaces it.
    KubeProxy,
    /// A token for machines that join, valid for a day.
    BootstrapToken,
}

impl Default for InitConfig {
    fn default() -> Self {
        Self {
            kubernetes_version: String::new(),
            control_plane_endpoint: None,
            advertise_address: None,
            node_name: None,
            node_addresses: Vec::new(),
            runtime_socket: containerd_socket(),
            pod_subnets: Vec::new(),
            service_subnets: Vec::new(),
            tolerated_checks: Vec::new(),
            image_pull: ImagePull::default(),
            kubelet: Members::new(),
            kube_proxy: Members::new(),
            certificate_key: None,
            bootstrap_token: None,
            without: Vec::new(),
            timeouts: InitTimeouts::default(),
            labels: BTreeMap::new(),
            taints: None,
            dns_domain: None,
            cluster_name: None,
            api_server_port: None,
            certificates_directory: None,
            image_repository: None,
            feature_gates: BTreeMap::new(),
            api_server: ApiServer::default(),
            controller_manager: ControlPlaneProgram::default(),
            scheduler: ControlPlaneProgram::default(),
            etcd: EtcdMember::default(),
            patches: None,
        }
    }
}

/// The socket of containerd.
pub(super) fn containerd_socket() -> String {
    "/run/containerd/containerd.sock".into()
}

impl Document for InitConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "InitConfig";
    const SUMMARY: &str = "Creates a cluster with this machine as its first control plane node.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
metadata:
  name: first
spec:
  kubernetesVersion: v1.36.4
  controlPlaneEndpoint: api.example.com:6443
  podSubnets: [10.244.0.0/16]
  kubelet:
    maxPods: 110
";
}

impl Check for InitConfig {
    type Checked = Box<Init>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Init> {
        let Self { kubernetes_version, advertise_address, runtime_socket, pod_subnets, service_subnets, .. } = &self;
        match judge(kubernetes_version) {
            Verdict::Supported => {}
            Verdict::Untested(message) => _ = findings.warning("spec.kubernetesVersion", message),
            Verdict::Refused(message) => _ = findings.error("spec.kubernetesVersion", message),
        }
        if self.control_plane_endpoint.as_deref().is_some_and(|endpoint| !is_endpoint(endpoint)) {
            findings.error("spec.controlPlaneEndpoint", "must be `host:port`, without scheme or path");
        }
        let address = advertise_address.as_ref().map(|text| text.parse::<IpAddr>());
        match address {
            Some(Err(_)) => _ = findings.error("spec.advertiseAddress", "must be an IP address"),
            Some(Ok(address)) if !is_reachable(address) => findings
                .error("spec.advertiseAddress", "must be an address at which other machines reach this one")
                .hint("leave it out for the address of the default route"),
            _ => {}
        }
        if let Some(problem) = self.node_name.as_deref().and_then(node_name_problem) {
            findings.error("spec.nodeName", problem);
        }
        node_addresses::check(&self.node_addresses, findings);
        if let Some(problem) = runtime_socket_problem(runtime_socket) {
            findings.error("spec.runtimeSocket", problem);
        }
        if self.certificate_key.as_ref().is_some_and(|key| !is_certificate_key(key.expose())) {
            findings
                .error("spec.certificateKey", "must be 64 hexadecimal digits")
                .hint("create one with `machineadm certs key`");
        }
        let pods = networks("spec.podSubnets", pod_subnets, findings);
        let services = networks("spec.serviceSubnets", service_subnets, findings);
        check_overlap(&pods, &services, findings);
        if self.without.contains(&ClusterPart::KubeProxy) && !self.kube_proxy.is_empty() {
            findings.error("spec.kubeProxy", "has no effect: the cluster is created without kube-proxy (`without`)");
        }
        let bootstrap_token = self.bootstrap_token.as_ref().map(|token| token.read(findings));
        if self.without.contains(&ClusterPart::BootstrapToken) && bootstrap_token.is_some() {
            let message = "has no effect: the cluster is created without a bootstrap token (`without`)";
            findings.error("spec.bootstrapToken", message);
        }
        self.check_marks(findings);
        let settings = ClusterSettings::of(&self, findings);
        let timeouts = self.timeouts.read(findings);
        let minor = minor(kubernetes_version);
        component_members::check(Component::Kubelet, &self.kubelet, minor, findings);
        component_members::check(Component::KubeProxy, &self.kube_proxy, minor, findings);
        Box::new(Init {
            kubernetes_version: format!("v{}", kubernetes_version.trim_start_matches('v')),
            control_plane_endpoint: self.control_plane_endpoint,
            advertise_address: address.and_then(Result::ok),
            node_name: self.node_name,
            node_addresses: self.node_addresses,
            runtime_socket: self.runtime_socket,
            pod_subnets: self.pod_subnets,
            service_subnets: self.service_subnets,
            tolerated_checks: self.tolerated_checks,
            image_pull: self.image_pull,
            kubelet: self.kubelet,
            kube_proxy: self.kube_proxy,
            certificate_key: self.certificate_key,
            bootstrap_token,
            without: self.without,
            labels: self.labels,
            taints: self.taints,
            settings,
            timeouts,
        })
    }
}

impl InitConfig {
    /// Labels and taints of the node.
    fn check_marks(&self, findings: &mut Findings<'_>) {
        for (key, value) in &self.labels {
            if let Some(problem) = label_problem(key, value) {
                findings.error(&path::member("spec.labels", key), problem);
            }
        }
        for (index, taint) in self.taints.iter().flatten().enumerate() {
            if let Some(problem) = taint_problem(&taint.key, &taint.value) {
                findings.error(&path::item("spec.taints", index), problem);
            }
        }
    }
}

impl Body for Init {
    /// Of the token its secret half: its id is public.
    fn secrets(&self) -> Vec<&[u8]> {
        let key = self.certificate_key.iter().map(|key| key.expose().as_bytes());
        let token = self.bootstrap_token.as_ref().and_then(|token| token.token.as_ref());
        key.chain(token.map(|token| token.secret.expose().as_bytes())).collect()
    }

    /// Also the directories of its own, which nothing may write once the control plane uses them.
    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let ClusterSettings { certificates_directory, etcd, .. } = &self.settings;
        let directories =
            [("spec.certificatesDirectory", certificates_directory), ("spec.etcd.dataDirectory", &etcd.data_directory)];
        let used = directories
            .into_iter()
            .filter_map(|(here, directory)| Some(Claim::new(here, Claimed::ControlPlanePath(directory.as_deref()?))));
        let version = minor(&self.kubernetes_version)
            .map(|minor| Claim::new("spec.kubernetesVersion", Claimed::Kubernetes(minor)));
        let node = std::iter::once(Claim::new("spec", Claimed::Node));
        node.chain(used).chain(version).chain(self.settings.claims()).collect()
    }
}

/// Why a text cannot be the name of a node.
pub fn node_name_problem(name: &str) -> Option<&'static str> {
    if has_instance_values(name) {
        return instance_value_problem(name);
    }
    let is_name = crate::metadata::is_subdomain(name);
    (!is_name).then_some("must be lower-case letters, digits, `-` and `.`, at most 253 characters")
}

/// Why a text cannot be the path of a socket.
pub(super) fn runtime_socket_problem(path: &str) -> Option<&'static str> {
    (!path.starts_with('/')).then_some("must be an absolute path, without `unix://`")
}

pub(super) fn is_certificate_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
