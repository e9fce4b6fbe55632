//! Between the hub and v1beta1: what holds for the cluster, and what both documents of a node use.
use super::{later, *};
use crate::{
    aside::{Aside, NoteKind, Since},
    hub,
    shape::mirror,
    spoke::Spoke,
    v1beta4::{KUBE_DNS_UNTIL, lose_merge_method},
};
use std::collections::BTreeMap;

impl Spoke<hub::ClusterConfiguration> for ClusterConfiguration {
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
        let later = later::Cluster {
            proxy,
            encryption_algorithm: encryption_algorithm.as_deref(),
            certificate_validity_period: certificate_validity_period.as_ref(),
            ca_certificate_validity_period: ca_certificate_validity_period.as_ref(),
        };
        later::cluster(&later, aside);
        Self {
            etcd: aside.within("etcd", |aside| Spoke::from_hub(etcd, aside)),
            networking: Spoke::from_hub(networking, aside),
            kubernetes_version: kubernetes_version.clone(),
            control_plane_endpoint: control_plane_endpoint.clone(),
            api_server: aside.within("api_server", |aside| Spoke::from_hub(api_server, aside)),
            controller_manager: aside.within("controller_manager", |aside| Spoke::from_hub(controller_manager, aside)),
            scheduler: aside.within("scheduler", |aside| Spoke::from_hub(scheduler, aside)),
            dns: aside.within("dns", |aside| Spoke::from_hub(dns, aside)),
            certificates_dir: certificates_dir.clone(),
            image_repository: image_repository.clone(),
            use_hyper_kube_image: *use_hyper_kube_image,
            feature_gates: feature_gates.clone(),
            cluster_name: cluster_name.clone(),
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
            certificates_dir,
            image_repository,
            use_hyper_kube_image,
            feature_gates,
            cluster_name,
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
            proxy: hub::Proxy::default(),
            certificates_dir: certificates_dir.clone(),
            image_repository: image_repository.clone(),
            feature_gates: feature_gates.clone(),
            cluster_name: cluster_name.clone(),
            encryption_algorithm: None,
            certificate_validity_period: None,
            ca_certificate_validity_period: None,
            use_hyper_kube_image: *use_hyper_kube_image,
        }
    }
}

/// Arguments by name: the last of a repeated one stays, and they come back sorted.
impl Spoke<Vec<hub::Arg>> for BTreeMap<String, String> {
    fn from_hub(hub: &Vec<hub::Arg>, aside: &mut Aside) -> Self {
        let mut arguments = Self::new();
        for hub::Arg { name, value, merge_method } in hub {
            lose_merge_method(name, merge_method.as_deref(), aside);
            if let Some(earlier) = arguments.insert(name.clone(), value.clone()) {
                aside.item(name, |aside| aside.lose(earlier, Since::V1BETA4));
            }
        }
        if !hub.is_sorted_by(|a, b| a.name <= b.name) {
            aside.note(NoteKind::Sorted);
        }
        arguments
    }

    fn to_hub(&self) -> Vec<hub::Arg> {
        let argument = |(name, value): (&String, &String)| hub::Arg {
            name: name.clone(),
            value: value.clone(),
            merge_method: None,
        };
        self.iter().map(argument).collect()
    }
}

impl Spoke<hub::ApiServer> for ApiServer {
    fn from_hub(hub: &hub::ApiServer, aside: &mut Aside) -> Self {
        let hub::ApiServer { extra_args, extra_volumes, extra_envs, cert_sans, timeout_for_control_plane } = hub;
        later::environment(extra_envs, aside);
        Self {
            extra_args: aside.within("extra_args", |aside| Spoke::from_hub(extra_args, aside)),
            extra_volumes: Spoke::from_hub(extra_volumes, aside),
            cert_sans: cert_sans.clone(),
            timeout_for_control_plane: *timeout_for_control_plane,
        }
    }

    fn to_hub(&self) -> hub::ApiServer {
        let Self { extra_args, extra_volumes, cert_sans, timeout_for_control_plane } = self;
        hub::ApiServer {
            extra_args: extra_args.to_hub(),
            extra_volumes: extra_volumes.to_hub(),
            extra_envs: Vec::new(),
            cert_sans: cert_sans.clone(),
            timeout_for_control_plane: *timeout_for_control_plane,
        }
    }
}

impl Spoke<hub::ControlPlaneComponent> for ControlPlaneComponent {
    fn from_hub(hub: &hub::ControlPlaneComponent, aside: &mut Aside) -> Self {
        let hub::ControlPlaneComponent { extra_args, extra_volumes, extra_envs } = hub;
        later::environment(extra_envs, aside);
        let extra_args = aside.within("extra_args", |aside| Spoke::from_hub(extra_args, aside));
        Self { extra_args, extra_volumes: Spoke::from_hub(extra_volumes, aside) }
    }

    fn to_hub(&self) -> hub::ControlPlaneComponent {
        let Self { extra_args, extra_volumes } = self;
        let (extra_args, extra_volumes) = (extra_args.to_hub(), extra_volumes.to_hub());
        hub::ControlPlaneComponent { extra_args, extra_volumes, extra_envs: Vec::new() }
    }
}

impl Spoke<hub::LocalEtcd> for LocalEtcd {
    fn from_hub(hub: &hub::LocalEtcd, aside: &mut Aside) -> Self {
        let hub::LocalEtcd {
            image_repository,
            image_tag,
            data_dir,
            extra_args,
            extra_envs,
            server_cert_sans,
            peer_cert_sans,
        } = hub;
        later::environment(extra_envs, aside);
        Self {
            image_repository: image_repository.clone(),
            image_tag: image_tag.clone(),
            data_dir: data_dir.clone(),
            extra_args: aside.within("extra_args", |aside| Spoke::from_hub(extra_args, aside)),
            server_cert_sans: server_cert_sans.clone(),
            peer_cert_sans: peer_cert_sans.clone(),
        }
    }

    fn to_hub(&self) -> hub::LocalEtcd {
        let Self { image_repository, image_tag, data_dir, extra_args, server_cert_sans, peer_cert_sans } = self;
        hub::LocalEtcd {
            image_repository: image_repository.clone(),
            image_tag: image_tag.clone(),
            data_dir: data_dir.clone(),
            extra_args: extra_args.to_hub(),
            extra_envs: Vec::new(),
            server_cert_sans: server_cert_sans.clone(),
            peer_cert_sans: peer_cert_sans.clone(),
        }
    }
}

impl Spoke<hub::ExternalEtcd> for ExternalEtcd {
    fn from_hub(hub: &hub::ExternalEtcd, aside: &mut Aside) -> Self {
        let hub::ExternalEtcd { endpoints, http_endpoints, ca_file, cert_file, key_file } = hub;
        later::http_endpoints(endpoints, http_endpoints, aside);
        let (ca_file, cert_file, key_file) = (ca_file.clone(), cert_file.clone(), key_file.clone());
        Self { endpoints: endpoints.clone(), ca_file, cert_file, key_file }
    }

    fn to_hub(&self) -> hub::ExternalEtcd {
        let Self { endpoints, ca_file, cert_file, key_file } = self;
        let (ca_file, cert_file, key_file) = (ca_file.clone(), cert_file.clone(), key_file.clone());
        hub::ExternalEtcd { endpoints: endpoints.clone(), http_endpoints: Vec::new(), ca_file, cert_file, key_file }
    }
}

impl Spoke<hub::Dns> for Dns {
    fn from_hub(hub: &hub::Dns, aside: &mut Aside) -> Self {
        let hub::Dns { kind, image_repository, image_tag, disabled } = hub;
        later::disabled_addon(disabled.as_ref(), aside);
        let refused = aside.minor > KUBE_DNS_UNTIL && kind.as_deref() == Some("kube-dns");
        let kind = if refused {
            aside.drop_old("type", kind.as_deref(), "CoreDNS", KUBE_DNS_UNTIL);
            None
        } else {
            kind.clone()
        };
        Self { kind, image_repository: image_repository.clone(), image_tag: image_tag.clone() }
    }

    fn to_hub(&self) -> hub::Dns {
        let Self { kind, image_repository, image_tag } = self;
        let (image_repository, image_tag) = (image_repository.clone(), image_tag.clone());
        hub::Dns { kind: kind.clone(), image_repository, image_tag, disabled: None }
    }
}

impl Spoke<hub::ClusterStatus> for ClusterStatus {
    fn from_hub(hub: &hub::ClusterStatus, aside: &mut Aside) -> Self {
        let hub::ClusterStatus { api_endpoints } = hub;
        let endpoint = |(name, endpoint): (&String, &_)| (name.clone(), Spoke::from_hub(endpoint, aside));
        Self { api_endpoints: api_endpoints.iter().map(endpoint).collect() }
    }

    fn to_hub(&self) -> hub::ClusterStatus {
        let Self { api_endpoints } = self;
        let endpoint = |(name, endpoint): (&String, &ApiEndpoint)| (name.clone(), endpoint.to_hub());
        hub::ClusterStatus { api_endpoints: api_endpoints.iter().map(endpoint).collect() }
    }
}

mirror! {
    ApiEndpoint { advertise_address, bind_port }
    BootstrapToken { token, description, ttl, expires, usages, groups }
    BootstrapTokenDiscovery { token, api_server_endpoint, ca_cert_hashes, unsafe_skip_ca_verification }
    Etcd { local, external }
    FileDiscovery { kube_config_path }
    HostPathMount { name, host_path, mount_path, read_only, path_type }
    Networking { service_subnet, pod_subnet, dns_domain }
    Taint { key, value, effect, time_added }
}
