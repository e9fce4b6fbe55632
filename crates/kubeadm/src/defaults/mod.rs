//! What kubeadm does unless told otherwise, as far as it does not depend on the machine. Conversion never writes these
//! down: what a user left unset stays unset. They are for people who want to see them, and for comparing.
mod example;

pub use example::{ExampleOf, example};

use crate::{
    hub::{
        BootstrapToken, ClusterConfiguration, Documents, InitConfiguration, JoinConfiguration, LocalEtcd,
        NodeRegistration, ResetConfiguration, Timeouts, UpgradeConfiguration,
    },
    scalar::Duration,
    target::Target,
    v1beta3::later::{ALGORITHM, CA_VALIDITY, CERTIFICATE_VALIDITY, PULL_POLICY, TIMEOUTS},
    version::{ApiVersion, KubernetesVersion},
};

const CERTIFICATES_DIR: &str = objects::kubernetes_paths::PKI;
const API_SERVER_PORT: i32 = 6443;

/// Writes down what the target's kubeadm would do with what is unset.
pub fn fill(documents: &mut Documents, target: &Target) {
    let Documents { cluster, init, join, reset, upgrade, cluster_status: _ } = documents;
    if let Some(init) = init {
        fill_init(init, target);
    }
    if let Some(cluster) = cluster {
        let waits = init.as_ref().and_then(|init| init.timeouts.as_ref()?.control_plane_component_health_check);
        fill_cluster(cluster, target);
        let waiting = &mut cluster.api_server.timeout_for_control_plane;
        if target.api() < ApiVersion::V1Beta4 && waits.is_none() {
            waiting.get_or_insert(TIMEOUTS.control_plane_component_health_check.unwrap_or_default());
        }
    }
    if let Some(join) = join {
        fill_join(join, target);
    }
    if let Some(reset) = reset {
        fill_reset(reset);
    }
    if let Some(upgrade) = upgrade {
        fill_upgrade(upgrade, target);
    }
}

fn fill_cluster(cluster: &mut ClusterConfiguration, target: &Target) {
    set(&mut cluster.certificates_dir, CERTIFICATES_DIR);
    set(&mut cluster.cluster_name, "kubernetes");
    set(&mut cluster.image_repository, image_repository(target.kubernetes()));
    set(&mut cluster.networking.service_subnet, "10.96.0.0/12");
    set(&mut cluster.networking.dns_domain, "cluster.local");
    if cluster.etcd.external.is_none() {
        cluster.etcd.local.get_or_insert_with(LocalEtcd::default);
    }
    if let Some(local) = &mut cluster.etcd.local {
        set(&mut local.data_dir, "/var/lib/etcd");
    }
    if target.api() <= ApiVersion::V1Beta2 {
        set(&mut cluster.dns.kind, "CoreDNS");
    }
    if target.api() >= ApiVersion::V1Beta4 {
        set(&mut cluster.encryption_algorithm, ALGORITHM);
        cluster.certificate_validity_period.get_or_insert(CERTIFICATE_VALIDITY);
        cluster.ca_certificate_validity_period.get_or_insert(CA_VALIDITY);
    }
    if let Some(external) = cluster.etcd.external.as_mut().filter(|_| target.minor() >= 35)
        && external.http_endpoints.is_empty()
    {
        external.http_endpoints.clone_from(&external.endpoints);
    }
}

/// Where images come from: the registry moved in the middle of three minors.
fn image_repository(version: KubernetesVersion) -> &'static str {
    let first_patch = match version.effective_minor() {
        ..22 => u32::MAX,
        22 => 17,
        23 => 15,
        24 => 9,
        25.. => 0,
    };
    if version.patch >= first_patch { "registry.k8s.io" } else { "k8s.gcr.io" }
}

fn fill_init(init: &mut InitConfiguration, target: &Target) {
    if init.bootstrap_tokens.is_empty() {
        init.bootstrap_tokens.push(BootstrapToken::default());
    }
    for token in &mut init.bootstrap_tokens {
        token.ttl.get_or_insert(Duration::hours(24));
        set_list(&mut token.usages, &["signing", "authentication"]);
        set_list(&mut token.groups, &["system:bootstrappers:kubeadm:default-node-token"]);
    }
    init.local_api_endpoint.bind_port.get_or_insert(API_SERVER_PORT);
    fill_node(&mut init.node_registration, target);
    if target.api() >= ApiVersion::V1Beta4 {
        fill_timeouts(&mut init.timeouts);
    }
}

fn fill_join(join: &mut JoinConfiguration, target: &Target) {
    set(&mut join.ca_cert_path, objects::kubernetes_paths::CA_CERTIFICATE);
    if let Some(control_plane) = &mut join.control_plane {
        control_plane.local_api_endpoint.bind_port.get_or_insert(API_SERVER_PORT);
    }
    let discovery = &mut join.discovery;
    if let Some(file) = &mut discovery.file
        && let Some(path) = file.kube_config_path.as_ref().and_then(|path| path.strip_prefix("file://"))
    {
        file.kube_config_path = Some(path.to_owned());
    }
    if discovery.tls_bootstrap_token.is_none()
        && let Some(by_token) = &discovery.bootstrap_token
    {
        discovery.tls_bootstrap_token.clone_from(&by_token.token);
    }
    fill_node(&mut join.node_registration, target);
    if target.api() >= ApiVersion::V1Beta4 {
        fill_timeouts(&mut join.timeouts);
    } else {
        join.timeouts.get_or_insert_with(Timeouts::default).discovery =
            join.timeouts.as_ref().and_then(|timeouts| timeouts.discovery).or(TIMEOUTS.discovery);
    }
}

fn fill_node(node: &mut NodeRegistration, target: &Target) {
    if target.api() >= ApiVersion::V1Beta3 {
        set(&mut node.image_pull_policy, PULL_POLICY);
    }
    if target.api() >= ApiVersion::V1Beta4 {
        node.image_pull_serial.get_or_insert(true);
    }
}

fn fill_reset(reset: &mut ResetConfiguration) {
    set(&mut reset.certificates_dir, CERTIFICATES_DIR);
    fill_timeouts(&mut reset.timeouts);
}

fn fill_upgrade(upgrade: &mut UpgradeConfiguration, target: &Target) {
    let UpgradeConfiguration { apply, diff: _, node, plan, timeouts } = upgrade;
    for option in [
        &mut apply.certificate_renewal,
        &mut apply.etcd_upgrade,
        &mut apply.image_pull_serial,
        &mut node.certificate_renewal,
        &mut node.etcd_upgrade,
        &mut node.image_pull_serial,
    ] {
        option.get_or_insert(true);
    }
    set(&mut apply.image_pull_policy, PULL_POLICY);
    set(&mut node.image_pull_policy, PULL_POLICY);
    if target.minor() >= 33 {
        plan.etcd_upgrade.get_or_insert(true);
    }
    fill_timeouts(timeouts);
}

fn fill_timeouts(timeouts: &mut Option<Timeouts>) {
    let timeouts = timeouts.get_or_insert_with(Timeouts::default);
    let Timeouts {
        control_plane_component_health_check,
        kubelet_health_check,
        kubernetes_api_call,
        etcd_api_call,
        tls_bootstrap,
        discovery,
        upgrade_manifests,
    } = timeouts;
    for (time, usual) in [
        (control_plane_component_health_check, TIMEOUTS.control_plane_component_health_check),
        (kubelet_health_check, TIMEOUTS.kubelet_health_check),
        (kubernetes_api_call, TIMEOUTS.kubernetes_api_call),
        (etcd_api_call, TIMEOUTS.etcd_api_call),
        (tls_bootstrap, TIMEOUTS.tls_bootstrap),
        (discovery, TIMEOUTS.discovery),
        (upgrade_manifests, TIMEOUTS.upgrade_manifests),
    ] {
        *time = time.or(usual);
    }
}

fn set(field: &mut Option<String>, value: &str) {
    if field.as_ref().is_none_or(String::is_empty) {
        *field = Some(value.to_owned());
    }
}

fn set_list(field: &mut Vec<String>, values: &[&str]) {
    if field.is_empty() {
        *field = values.iter().map(|value| (*value).to_owned()).collect();
    }
}
