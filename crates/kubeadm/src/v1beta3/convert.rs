//! Between the hub and v1beta3: what holds for the cluster.
use super::{ClusterConfiguration, Dns, later};
use crate::{
    aside::Aside,
    hub,
    spoke::Spoke,
    v1beta4::{HYPERKUBE_UNTIL, KUBE_DNS_UNTIL},
};

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
            certificates_dir: certificates_dir.clone(),
            image_repository: image_repository.clone(),
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
            use_hyper_kube_image: None,
        }
    }
}

impl Spoke<hub::Dns> for Dns {
    fn from_hub(hub: &hub::Dns, aside: &mut Aside) -> Self {
        let hub::Dns { kind, image_repository, image_tag, disabled } = hub;
        aside.drop_old("type", kind.as_deref(), "CoreDNS", KUBE_DNS_UNTIL);
        later::disabled_addon(disabled.as_ref(), aside);
        Self { image_repository: image_repository.clone(), image_tag: image_tag.clone() }
    }

    fn to_hub(&self) -> hub::Dns {
        let Self { image_repository, image_tag } = self;
        let (image_repository, image_tag) = (image_repository.clone(), image_tag.clone());
        hub::Dns { kind: None, image_repository, image_tag, disabled: None }
    }
}
