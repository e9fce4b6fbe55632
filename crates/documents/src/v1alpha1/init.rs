//! InitConfig: this machine begins a new cluster.
use super::API_VERSION;
use crate::{
    Claim, Claimed,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use core::net::IpAddr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Members of a configuration that machineadm passes on as they are.
pub type Members = Map<String, Value>;

/// A new cluster, begun by this machine.
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
    /// The container runtime's socket, as a path.
    pub runtime_socket: String,
    /// Networks of pods, one or two.
    pub pod_subnets: Vec<String>,
    /// Networks of services, one or two.
    pub service_subnets: Vec<String>,
    /// kubeadm's checks that may fail.
    pub ignored_checks: Vec<String>,
    /// Members of the kubelet's configuration.
    pub kubelet: Members,
    /// Members of kube-proxy's configuration.
    pub kube_proxy: Members,
}

/// A new cluster, begun by this machine. Which API of kubeadm's this becomes is not your concern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitConfig {
    /// The version of Kubernetes, such as `v1.36.4`; the machine's kubeadm must be of the same minor version.
    pub kubernetes_version: String,
    /// Where the cluster is reached, as `host:port`: a load balancer, or this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<String>,
    /// The address on which this machine's API server is reached; that of the default route if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertise_address: Option<String>,
    /// The node's name; the host's name if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// The container runtime's socket.
    #[serde(default = "containerd_socket")]
    pub runtime_socket: String,
    /// Networks of pods, such as `10.244.0.0/16`; a second one for dual stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pod_subnets: Vec<String>,
    /// Networks of services; `10.96.0.0/12` if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service_subnets: Vec<String>,
    /// Checks of kubeadm's that may fail, such as `SystemVerification`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_checks: Vec<String>,
    /// Members of KubeletConfiguration, passed on as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kubelet: Members,
    /// Members of KubeProxyConfiguration, passed on as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kube_proxy: Members,
}

impl Default for InitConfig {
    fn default() -> Self {
        Self {
            kubernetes_version: String::new(),
            control_plane_endpoint: None,
            advertise_address: None,
            node_name: None,
            runtime_socket: containerd_socket(),
            pod_subnets: Vec::new(),
            service_subnets: Vec::new(),
            ignored_checks: Vec::new(),
            kubelet: Members::new(),
            kube_proxy: Members::new(),
        }
    }
}

fn containerd_socket() -> String {
    "/run/containerd/containerd.sock".into()
}

impl Document for InitConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "InitConfig";
    const SUMMARY: &str = "A new cluster that this machine begins, as its first control plane.";
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

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Option<Box<Init>> {
        let Self { kubernetes_version, advertise_address, runtime_socket, pod_subnets, service_subnets, .. } = &self;
        if !is_version(kubernetes_version) {
            findings.error("spec.kubernetesVersion", "must be a whole version, such as `v1.36.4`");
        }
        if self.control_plane_endpoint.as_deref().is_some_and(|endpoint| !is_endpoint(endpoint)) {
            findings.error("spec.controlPlaneEndpoint", "must be `host:port`, without scheme or path");
        }
        let address = advertise_address.as_ref().map(|text| text.parse::<IpAddr>());
        if let Some(Err(_)) = address {
            findings.error("spec.advertiseAddress", "must be an IP address");
        }
        if self.node_name.as_deref().is_some_and(|name| !crate::metadata::is_subdomain(name)) {
            findings.error("spec.nodeName", "must be lower-case letters, digits, `-` and `.`, at most 253 characters");
        }
        if !runtime_socket.starts_with('/') {
            findings.error("spec.runtimeSocket", "must be an absolute path, without `unix://`");
        }
        for (here, subnets) in [("spec.podSubnets", pod_subnets), ("spec.serviceSubnets", service_subnets)] {
            check_subnets(here, subnets, findings);
        }
        for (here, members) in [("spec.kubelet", &self.kubelet), ("spec.kubeProxy", &self.kube_proxy)] {
            for name in ["apiVersion", "kind"].iter().filter(|name| members.contains_key(**name)) {
                findings.error(&path::member(here, name), "is machineadm's to write; leave it out");
            }
        }
        Some(Box::new(Init {
            kubernetes_version: format!("v{}", kubernetes_version.trim_start_matches('v')),
            control_plane_endpoint: self.control_plane_endpoint,
            advertise_address: address.and_then(Result::ok),
            node_name: self.node_name,
            runtime_socket: self.runtime_socket,
            pod_subnets: self.pod_subnets,
            service_subnets: self.service_subnets,
            ignored_checks: self.ignored_checks,
            kubelet: self.kubelet,
            kube_proxy: self.kube_proxy,
        }))
    }
}

impl Body for Init {
    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        vec![Claim::new("spec", Claimed::Node)]
    }
}

fn check_subnets(here: &str, subnets: &[String], findings: &mut Findings<'_>) {
    if subnets.len() > 2 {
        findings.error(here, "must be at most two networks, one of each family");
    }
    for (index, subnet) in subnets.iter().enumerate() {
        if !is_network(subnet) {
            findings.error(&path::item(here, index), "must be a network, such as `10.244.0.0/16`");
        }
    }
}

fn is_version(text: &str) -> bool {
    let (numbers, _) = text.split_once(['-', '+']).unwrap_or((text, ""));
    let numbers: Vec<&str> = numbers.trim_start_matches('v').split('.').collect();
    numbers.len() == 3 && numbers[0] == "1" && numbers.iter().all(|number| number.parse::<u16>().is_ok())
}

fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host_is_fine =
        !host.is_empty() && !host.contains(['/', '@', ' ']) && (host.starts_with('[') || !host.contains(':'));
    host_is_fine && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_network(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let longest = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::problems;

    #[test]
    fn every_member_is_judged() {
        let spec = "\
kubernetesVersion: '1.36'
controlPlaneEndpoint: https://x
advertiseAddress: here
nodeName: A_B
runtimeSocket: unix:///x
podSubnets: [10.0.0.0/33, x]
kubelet: {kind: X}";
        let wanted = [
            "spec.kubernetesVersion",
            "spec.controlPlaneEndpoint",
            "spec.advertiseAddress",
            "spec.nodeName",
            "spec.runtimeSocket",
            "spec.podSubnets[0]",
            "spec.podSubnets[1]",
            "spec.kubelet.kind",
        ];
        assert_eq!(problems("InitConfig", spec), wanted);
    }

    #[test]
    fn versions_and_endpoints_as_people_write_them() {
        for good in ["v1.36.4", "1.36.4", "v1.37.0-rc.1", "1.31.0+build"] {
            assert!(is_version(good), "{good}");
        }
        for bad in ["v1.36", "stable-1", "2.0.0", "v1.36.x", ""] {
            assert!(!is_version(bad), "{bad}");
        }
        for good in ["10.0.0.10:6443", "api.example.com:6443", "[fd00::1]:6443"] {
            assert!(is_endpoint(good), "{good}");
        }
        for bad in ["10.0.0.10", "https://x:6443", "fd00::1:6443", ":6443", "x:0", "x:70000"] {
            assert!(!is_endpoint(bad), "{bad}");
        }
    }
}
