//! Between the hub and v1beta4: the same fields, but for three old words.
use super::*;
use crate::{
    aside::{Aside, Since},
    hub,
    shape::mirror,
    spoke::Spoke,
};

/// The last minor whose kubeadm honoured `useHyperKubeImage`.
pub(crate) const HYPERKUBE_UNTIL: u32 = 21;
/// The last minor whose kubeadm deployed kube-dns.
pub(crate) const KUBE_DNS_UNTIL: u32 = 20;

impl<A: Default + PartialEq + Spoke<hub::Arg>> Spoke<hub::ClusterConfiguration> for ClusterConfiguration<A> {
    fn from_hub(hub: &hub::ClusterConfiguration, aside: &mut Aside) -> Self {
        let hub::ClusterConfiguration {
            etcd,
            networking,
            kubernetes_version,
            control_plane_endpoint,
            api_server,
            controller_manager,
            scheduler,
            dns,
            proxy,
            certificates_dir,
            image_repository,
            feature_gates,
            cluster_name,
            encryption_algorithm,
            certificate_validity_period,
            ca_certificate_validity_period,
            use_hyper_kube_image,
        } = hub;
        aside.drop_old("use_hyper_kube_image", use_hyper_kube_image.as_ref(), &false, HYPERKUBE_UNTIL);
        Self {
            etcd: aside.within("etcd", |aside| Spoke::from_hub(etcd, aside)),
            networking: Spoke::from_hub(networking, aside),
            kubernetes_version: kubernetes_version.clone(),
            control_plane_endpoint: control_plane_endpoint.clone(),
            api_server: aside.within("api_server", |aside| Spoke::from_hub(api_server, aside)),
            controller_manager: aside.within("controller_manager", |aside| Spoke::from_hub(controller_manager, aside)),
            scheduler: aside.within("scheduler", |aside| Spoke::from_hub(scheduler, aside)),
            dns: aside.within("dns", |aside| Spoke::from_hub(dns, aside)),
            proxy: Spoke::from_hub(proxy, aside),
            certificates_dir: certificates_dir.clone(),
            image_repository: image_repository.clone(),
            feature_gates: feature_gates.clone(),
            cluster_name: cluster_name.clone(),
            encryption_algorithm: encryption_algorithm.clone(),
            certificate_validity_period: *certificate_validity_period,
            ca_certificate_validity_period: *ca_certificate_validity_period,
        }
    }

    fn to_hub(&self) -> hub::ClusterConfiguration {
        let Self {
            etcd,
            networking,
            kubernetes_version,
            control_plane_endpoint,
            api_server,
            controller_manager,
            scheduler,
            dns,
            proxy,
            certificates_dir,
            image_repository,
            feature_gates,
            cluster_name,
            encryption_algorithm,
            certificate_validity_period,
            ca_certificate_validity_period,
        } = self;
        hub::ClusterConfiguration {
            etcd: etcd.to_hub(),
            networking: networking.to_hub(),
            kubernetes_version: kubernetes_version.clone(),
            control_plane_endpoint: control_plane_endpoint.clone(),
            api_server: api_server.to_hub(),
            controller_manager: controller_manager.to_hub(),
            scheduler: scheduler.to_hub(),
            dns: dns.to_hub(),
            proxy: proxy.to_hub(),
            certificates_dir: certificates_dir.clone(),
            image_repository: image_repository.clone(),
            feature_gates: feature_gates.clone(),
            cluster_name: cluster_name.clone(),
            encryption_algorithm: encryption_algorithm.clone(),
            certificate_validity_period: *certificate_validity_period,
            ca_certificate_validity_period: *ca_certificate_validity_period,
            use_hyper_kube_image: None,
        }
    }
}

impl<A: Default + PartialEq + Spoke<hub::Arg>> Spoke<hub::ApiServer> for ApiServer<A> {
    fn from_hub(hub: &hub::ApiServer, aside: &mut Aside) -> Self {
        let hub::ApiServer { extra_args, extra_volumes, extra_envs, cert_sans, timeout_for_control_plane } = hub;
        if let Some(timeout) = timeout_for_control_plane {
            aside.within("timeout_for_control_plane", |aside| {
                aside.lose_because(timeout, "v1beta4 sets it per node, in timeouts.controlPlaneComponentHealthCheck");
            });
        }
        Self {
            extra_args: aside.within("extra_args", |aside| Spoke::from_hub(extra_args, aside)),
            extra_volumes: Spoke::from_hub(extra_volumes, aside),
            extra_envs: Spoke::from_hub(extra_envs, aside),
            cert_sans: cert_sans.clone(),
        }
    }

    fn to_hub(&self) -> hub::ApiServer {
        let Self { extra_args, extra_volumes, extra_envs, cert_sans } = self;
        hub::ApiServer {
            extra_args: extra_args.to_hub(),
            extra_volumes: extra_volumes.to_hub(),
            extra_envs: extra_envs.to_hub(),
            cert_sans: cert_sans.clone(),
            timeout_for_control_plane: None,
        }
    }
}

impl Spoke<hub::Dns> for Dns {
    fn from_hub(hub: &hub::Dns, aside: &mut Aside) -> Self {
        let hub::Dns { kind, image_repository, image_tag, disabled } = hub;
        aside.drop_old("type", kind.as_deref(), "CoreDNS", KUBE_DNS_UNTIL);
        Self { image_repository: image_repository.clone(), image_tag: image_tag.clone(), disabled: *disabled }
    }

    fn to_hub(&self) -> hub::Dns {
        let Self { image_repository, image_tag, disabled } = self;
        let (image_repository, image_tag) = (image_repository.clone(), image_tag.clone());
        hub::Dns { kind: None, image_repository, image_tag, disabled: *disabled }
    }
}

impl Spoke<hub::Arg> for Arg {
    fn from_hub(hub: &hub::Arg, aside: &mut Aside) -> Self {
        let hub::Arg { name, value, merge_method } = hub;
        lose_merge_method(name, merge_method.as_deref(), aside);
        Self { name: name.clone(), value: value.clone() }
    }

    fn to_hub(&self) -> hub::Arg {
        let Self { name, value } = self;
        hub::Arg { name: name.clone(), value: value.clone(), merge_method: None }
    }
}

/// Only v1 can add to kubeadm's own value of an argument.
pub(crate) fn lose_merge_method(name: &str, merge_method: Option<&str>, aside: &mut Aside) {
    if let Some(method) = merge_method {
        aside.item(name, |aside| aside.within("merge_method", |aside| aside.lose(method, Since::V1)));
    }
}

mirror! {
    ControlPlaneComponent<A> { extra_args, extra_volumes, extra_envs }
    Etcd<A> { local, external }
    LocalEtcd<A> {
        image_repository, image_tag, data_dir, extra_args, extra_envs, server_cert_sans, peer_cert_sans,
    }
    ExternalEtcd { endpoints, http_endpoints, ca_file, cert_file, key_file }
    Proxy { disabled }
    EnvVar { name, value, value_from }
    EnvVarSource { field_ref, resource_field_ref, config_map_key_ref, secret_key_ref, file_key_ref }
    ObjectFieldSelector { api_version, field_path }
    ResourceFieldSelector { container_name, resource, divisor }
    ConfigMapKeySelector { name, key, optional }
    SecretKeySelector { name, key, optional }
    FileKeySelector { volume_name, path, key, optional }
    InitConfiguration<A> {
        bootstrap_tokens, dry_run, node_registration, local_api_endpoint, certificate_key, skip_phases, patches,
        timeouts,
    }
    JoinConfiguration<A> {
        dry_run, node_registration, ca_cert_path, discovery, control_plane, skip_phases, patches, timeouts,
    }
    Discovery { bootstrap_token, file, tls_bootstrap_token }
    NodeRegistration<A> {
        name, cri_socket, taints, kubelet_extra_args, ignore_preflight_errors, image_pull_policy, image_pull_serial,
    }
    Timeouts {
        control_plane_component_health_check, kubelet_health_check, kubernetes_api_call, etcd_api_call, tls_bootstrap,
        discovery, upgrade_manifests,
    }
    ResetConfiguration {
        cleanup_tmp_dir, certificates_dir, cri_socket, dry_run, force, ignore_preflight_errors, skip_phases,
        unmount_flags, timeouts,
    }
    UpgradeConfiguration { apply, diff, node, plan, timeouts }
    UpgradeApply {
        kubernetes_version, allow_experimental_upgrades, allow_rc_upgrades, certificate_renewal, dry_run, etcd_upgrade,
        force_upgrade, ignore_preflight_errors, patches, print_config, skip_phases, image_pull_policy,
        image_pull_serial,
    }
    UpgradeDiff { kubernetes_version, context_lines }
    UpgradeNode {
        certificate_renewal, dry_run, etcd_upgrade, ignore_preflight_errors, skip_phases, patches, image_pull_policy,
        image_pull_serial,
    }
    UpgradePlan {
        kubernetes_version, allow_experimental_upgrades, allow_rc_upgrades, dry_run, etcd_upgrade,
        ignore_preflight_errors, print_config,
    }
}
