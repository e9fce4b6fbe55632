//! What an InitConfig says of the cluster as a whole: its names, directories, gates and programs.
use super::{
    absolute_path::path_problem,
    control_plane::{ApiServer, ControlPlaneProgram, EtcdMember, check_directory},
    init::InitConfig,
};
use crate::{Claim, Claimed, findings::Findings, metadata::is_subdomain, path};
use std::collections::BTreeMap;

/// Settings of the cluster and of its control plane on this machine; what is not set is kubeadm's to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterSettings {
    /// The DNS domain of services.
    pub dns_domain: Option<String>,
    /// The port of the API server.
    pub api_server_port: Option<u16>,
    /// Where certificates and keys are.
    pub certificates_directory: Option<String>,
    /// The registry of Kubernetes' own images.
    pub image_repository: Option<String>,
    /// The cluster's name.
    pub cluster_name: Option<String>,
    /// kubeadm's feature gates.
    pub feature_gates: BTreeMap<String, bool>,
    /// The API server.
    pub api_server: ApiServer,
    /// The controller manager.
    pub controller_manager: ControlPlaneProgram,
    /// The scheduler.
    pub scheduler: ControlPlaneProgram,
    /// The etcd member.
    pub etcd: EtcdMember,
    /// The directory of patches.
    pub patches: Option<String>,
}

/// Where kubeadm puts certificates unless it is told otherwise.
const CERTIFICATES: &str = objects::kubernetes_paths::PKI;
/// Where etcd has its data unless it is told otherwise.
const ETCD_DATA: &str = "/var/lib/etcd";
/// The port of an API server unless it is told otherwise.
const API_SERVER_PORT: u16 = 6443;
/// The feature gate of kubeadm with which the control plane does not run as root.
const ROOTLESS: &str = "RootlessControlPlane";

impl ClusterSettings {
    /// Checks and takes what a document says.
    pub(super) fn of(config: &InitConfig, findings: &mut Findings<'_>) -> Self {
        if config.dns_domain.as_deref().is_some_and(|domain| !is_subdomain(domain)) {
            findings.error("spec.dnsDomain", "must be a DNS domain, such as `cluster.local`");
        }
        if config.api_server_port == Some(0) {
            findings.error("spec.apiServerPort", "must be a port from 1 to 65535");
        }
        check_directory("spec.certificatesDirectory", config.certificates_directory.as_deref(), findings);
        if config.image_repository.as_deref().is_some_and(|repository| !is_repository(repository)) {
            let message = "must be a registry and a path, such as `registry.example.com/kubernetes`, without scheme";
            findings.error("spec.imageRepository", message);
        }
        if config.cluster_name.as_deref().is_some_and(|name| !is_cluster_name(name)) {
            findings.error("spec.clusterName", "must be letters, digits, `-`, `_` and `.`, at most 253 characters");
        }
        for name in config.feature_gates.keys().filter(|name| !is_gate(name)) {
            findings.error(&path::member("spec.featureGates", name), "must be the name of a feature gate of kubeadm");
        }
        config.api_server.check("spec.apiServer", findings);
        config.controller_manager.check("spec.controllerManager", findings);
        config.scheduler.check("spec.scheduler", findings);
        config.etcd.check("spec.etcd", findings);
        if let Some(problem) = config.patches.as_deref().and_then(path_problem) {
            findings.error("spec.patches", problem);
        }
        Self {
            dns_domain: config.dns_domain.clone(),
            api_server_port: config.api_server_port,
            certificates_directory: config.certificates_directory.clone(),
            image_repository: config.image_repository.clone(),
            cluster_name: config.cluster_name.clone(),
            feature_gates: config.feature_gates.clone(),
            api_server: config.api_server.clone(),
            controller_manager: config.controller_manager.clone(),
            scheduler: config.scheduler.clone(),
            etcd: config.etcd.clone(),
            patches: config.patches.clone(),
        }
    }

    /// What they say of the API server.
    pub(super) fn claims(&self) -> impl Iterator<Item = Claim<'_>> {
        let ApiServer { arguments, volumes, .. } = &self.api_server;
        let arguments = arguments
            .keys()
            .map(|name| Claim::new(path::member("spec.apiServer.arguments", name), Claimed::ApiServerArgument(name)));
        let volumes = volumes.iter().enumerate().map(|(index, volume)| {
            let claimed = Claimed::ApiServerVolume { name: &volume.name, path: &volume.mount_path };
            Claim::new(path::item("spec.apiServer.volumes", index), claimed)
        });
        let is_rootless = self.feature_gates.get(ROOTLESS) == Some(&true);
        let rootless =
            is_rootless.then(|| Claim::new(path::member("spec.featureGates", ROOTLESS), Claimed::RootlessControlPlane));
        arguments.chain(volumes).chain(rootless)
    }

    /// Where certificates and keys are.
    pub fn certificates(&self) -> &str {
        self.certificates_directory.as_deref().unwrap_or(CERTIFICATES)
    }

    /// Where etcd has its data.
    pub fn etcd_data(&self) -> &str {
        self.etcd.data_directory.as_deref().unwrap_or(ETCD_DATA)
    }

    /// The port of the API server.
    pub fn port(&self) -> u16 {
        self.api_server_port.unwrap_or(API_SERVER_PORT)
    }
}

fn is_repository(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:/".contains(&byte));
    !text.is_empty() && is_plain && !text.contains("//") && !text.starts_with('/') && !text.ends_with('/')
}

fn is_cluster_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=253).contains(&text.len()) && text.bytes().all(is_plain)
}

fn is_gate(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::problems;

    #[test]
    fn every_setting_is_judged() {
        let spec = "\
kubernetesVersion: v1.36.4
dnsDomain: Cluster.local
apiServerPort: 0
certificatesDirectory: pki
imageRepository: https://registry.example.com
clusterName: 'a b'
featureGates: {'A-b': true}
apiServer: {certSANs: ['https://a']}
controllerManager: {arguments: {'-a': b}}
scheduler: {volumes: [{name: A, hostPath: /a, mountPath: /a}]}
etcd: {dataDirectory: /}
patches: patches";
        let wanted = [
            "spec.dnsDomain",
            "spec.apiServerPort",
            "spec.certificatesDirectory",
            "spec.imageRepository",
            "spec.clusterName",
            "spec.featureGates.A-b",
            "spec.apiServer.certSANs[0]",
            "spec.controllerManager.arguments.-a",
            "spec.scheduler.volumes[0].name",
            "spec.etcd.dataDirectory",
            "spec.patches",
        ];
        assert_eq!(problems("InitConfig", spec), wanted);
    }

    #[test]
    fn what_is_not_set_is_where_kubeadm_puts_it() {
        let settings = ClusterSettings::default();
        let found = (settings.certificates(), settings.etcd_data(), settings.port());
        assert_eq!(found, ("/etc/kubernetes/pki", "/var/lib/etcd", 6443));
    }

    #[test]
    fn repositories_as_people_write_them() {
        for good in ["registry.k8s.io", "registry.example.com:5000/a/b", "localhost/x"] {
            assert!(is_repository(good), "{good}");
        }
        for bad in ["", "https://a", "/a", "a/", "a b", "a@b"] {
            assert!(!is_repository(bad), "{bad}");
        }
    }
}
