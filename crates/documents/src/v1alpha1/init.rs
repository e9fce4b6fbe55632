//! InitConfig: this machine creates a new cluster.
use super::{
    API_VERSION, component_members,
    image_pull::ImagePull,
    instance_value::{has_instance_values, instance_value_problem},
    kubernetes_version::{Verdict, judge, minor},
    network::Network,
    node_addresses,
    node_timeouts::{InitTimeouts, NodeTimeouts},
    preflight_check::PreflightCheck,
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
    /// What the cluster is created without.
    pub without: Vec<ClusterPart>,
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
    /// control plane nodes need are encrypted with it and uploaded once, for two hours. Anyone who has the key and reads
    /// the Secret `kubeadm-certs` in that time gets the private keys of the cluster.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub certificate_key: Option<Secret<String>>,
    /// What the cluster is created without: `coreDNS`, `kubeProxy`, `bootstrapToken`. Without `bootstrapToken`, machines
    /// can join after `machineadm token create`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<ClusterPart>,
    /// How long kubeadm waits for the parts of the node.
    #[serde(default, skip_serializing_if = "InitTimeouts::is_default")]
    pub timeouts: InitTimeouts,
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
            without: Vec::new(),
            timeouts: InitTimeouts::default(),
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

/// What kubeadm takes if there are no networks of services.
const SERVICE_SUBNET: &str = "10.96.0.0/12";

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
            without: self.without,
            timeouts,
        })
    }
}

impl Body for Init {
    fn secrets(&self) -> Vec<&[u8]> {
        self.certificate_key.iter().map(|key| key.expose().as_bytes()).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        vec![Claim::new("spec", Claimed::Node)]
    }
}

/// The networks of a list, each with its path; those that are invalid are reported and left out.
fn networks(here: &str, subnets: &[String], findings: &mut Findings<'_>) -> Vec<(String, Network)> {
    let mut networks: Vec<(String, Network)> = Vec::new();
    for (index, subnet) in subnets.iter().enumerate() {
        let here = path::item(here, index);
        match subnet.parse::<Network>() {
            Err(_) => _ = findings.error(&here, "must be a network, such as `10.244.0.0/16`"),
            Ok(network) if networks.iter().any(|(_, earlier)| earlier.is_same_family(&network)) => {
                findings.error(&here, "must be at most one network of each family, IPv4 and IPv6");
            }
            Ok(network) => networks.push((here, network)),
        }
    }
    networks
}

/// An address that a pod and a service both have is reached by neither.
fn check_overlap(pods: &[(String, Network)], services: &[(String, Network)], findings: &mut Findings<'_>) {
    let default = SERVICE_SUBNET.parse::<Network>();
    for (here, pod) in pods {
        if services.is_empty() && default.is_ok_and(|services| services.overlaps(pod)) {
            let message = format!("overlaps {SERVICE_SUBNET}, the default of `serviceSubnets`");
            findings.error(here, message).hint("set `serviceSubnets` as well, or use another network");
        }
        for (there, _) in services.iter().filter(|(_, service)| service.overlaps(pod)) {
            findings.error(there, format!("overlaps {here}")).hint("use networks that have no address in common");
        }
    }
}

/// Whether other machines can reach an address; kubeadm replaces some of the others by one of its own choice.
pub(super) fn is_reachable(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(address.is_loopback() || address.is_unspecified() || address.is_multicast() || is_link_local)
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

fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host_is_fine =
        !host.is_empty() && !host.contains(['/', '@', ' ']) && (host.starts_with('[') || !host.contains(':'));
    host_is_fine && port.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{found, problems, with_spec};

    #[test]
    fn every_member_is_judged() {
        let spec = "\
kubernetesVersion: '1.36'
controlPlaneEndpoint: https://x
advertiseAddress: here
nodeName: A_B
runtimeSocket: unix:///x
podSubnets: [10.0.0.0/33, x]
kubelet: {kind: X}
certificateKey: e6a2eb85";
        let wanted = [
            "spec.kubernetesVersion",
            "spec.controlPlaneEndpoint",
            "spec.advertiseAddress",
            "spec.nodeName",
            "spec.runtimeSocket",
            "spec.podSubnets[0]",
            "spec.podSubnets[1]",
            "spec.kubelet.kind",
            "spec.certificateKey",
        ];
        assert_eq!(problems("InitConfig", spec), wanted);
    }

    #[test]
    fn endpoints_as_people_write_them() {
        for good in ["10.0.0.10:6443", "api.example.com:6443", "[fd00::1]:6443"] {
            assert!(is_endpoint(good), "{good}");
        }
        for bad in ["10.0.0.10", "https://x:6443", "fd00::1:6443", ":6443", "x:0", "x:70000"] {
            assert!(!is_endpoint(bad), "{bad}");
        }
    }

    fn problems_with(member: &str) -> Vec<String> {
        found(&with_spec("InitConfig", &format!("{{kubernetesVersion: v1.36.4, {member}}}")))
    }

    #[test]
    fn an_advertise_address_that_no_other_machine_reaches_is_refused() {
        let message = "spec.advertiseAddress: must be an address at which other machines reach this one";
        for address in
            ["127.0.0.1", "::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "169.254.0.7", "fe80::1", "::ffff:127.0.0.1"]
        {
            assert_eq!(problems_with(&format!("advertiseAddress: '{address}'")), [message], "{address}");
        }
        assert_eq!(problems_with("advertiseAddress: 10.0.0.10"), [""; 0]);
        assert_eq!(problems_with("advertiseAddress: 'fd00::10'"), [""; 0]);
    }

    #[test]
    fn pod_and_service_subnets_that_overlap_are_refused() {
        let both = "podSubnets: [10.0.0.0/8, 'fd00::/56'], serviceSubnets: [10.96.0.0/16, 'fd00::/112']";
        let expected = [
            "spec.serviceSubnets[0]: overlaps spec.podSubnets[0]",
            "spec.serviceSubnets[1]: overlaps spec.podSubnets[1]",
        ];
        assert_eq!(problems_with(both), expected);
        let default = "spec.podSubnets[0]: overlaps 10.96.0.0/12, the default of `serviceSubnets`";
        assert_eq!(problems_with("podSubnets: [10.100.0.0/16]"), [default]);
        assert_eq!(problems_with("podSubnets: [10.100.0.0/16], serviceSubnets: [172.16.0.0/16]"), [""; 0]);
    }

    #[test]
    fn two_subnets_of_one_family_are_refused() {
        let message = "spec.podSubnets[1]: must be at most one network of each family, IPv4 and IPv6";
        assert_eq!(problems_with("podSubnets: [10.244.0.0/16, 10.245.0.0/16]"), [message]);
        assert_eq!(problems_with("podSubnets: [10.244.0.0/16, 'fd00::/56']"), [""; 0]);
    }
}
