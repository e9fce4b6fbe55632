//! What an InitConfig says of the cluster and of the programs of its control plane, in the types of `crates/kubeadm`.
use super::tolerated_checks::ToleratedChecks;
use documents::v1alpha1::{self, Arguments, ClusterSettings, PreflightCheck, Volume};
use kubeadm::{
    hub::{ApiServer, Arg, ClusterConfiguration, ControlPlaneComponent, Etcd, HostPathMount, LocalEtcd},
    preflight_checks,
};

/// The part of the ClusterConfiguration that settings decide.
pub(super) fn configuration(settings: &ClusterSettings) -> ClusterConfiguration {
    let ClusterSettings {
        // These stand in other parts of kubeadm's configuration.
        dns_domain: _,
        api_server_port: _,
        patches: _,
        certificates_directory,
        image_repository,
        cluster_name,
        feature_gates,
        api_server,
        controller_manager,
        scheduler,
        etcd: v1alpha1::EtcdMember { data_directory, arguments, server_cert_sans, peer_cert_sans },
    } = settings;
    let etcd = LocalEtcd {
        data_dir: data_directory.clone(),
        extra_args: extra_args(arguments),
        server_cert_sans: server_cert_sans.clone(),
        peer_cert_sans: peer_cert_sans.clone(),
        ..LocalEtcd::default()
    };
    ClusterConfiguration {
        certificates_dir: certificates_directory.clone(),
        image_repository: image_repository.clone(),
        cluster_name: cluster_name.clone(),
        feature_gates: feature_gates.clone(),
        api_server: ApiServer {
            extra_args: extra_args(&api_server.arguments),
            extra_volumes: api_server.volumes.iter().map(mount).collect(),
            cert_sans: api_server.cert_sans.clone(),
            ..ApiServer::default()
        },
        controller_manager: component(controller_manager),
        scheduler: component(scheduler),
        etcd: Etcd { local: (etcd != LocalEtcd::default()).then_some(etcd), external: None },
        ..ClusterConfiguration::default()
    }
}

fn component(program: &v1alpha1::ControlPlaneProgram) -> ControlPlaneComponent {
    let v1alpha1::ControlPlaneProgram { arguments, volumes } = program;
    ControlPlaneComponent {
        extra_args: extra_args(arguments),
        extra_volumes: volumes.iter().map(mount).collect(),
        ..ControlPlaneComponent::default()
    }
}

fn extra_args(arguments: &Arguments) -> Vec<Arg> {
    let argument =
        |(name, value): (&String, &String)| Arg { name: name.clone(), value: value.clone(), merge_method: None };
    arguments.iter().map(argument).collect()
}

/// A volume as kubeadm's configuration has it.
pub(crate) fn mount(volume: &Volume) -> HostPathMount {
    let Volume { name, host_path, mount_path, read_only, sort } = volume;
    HostPathMount {
        name: Some(name.clone()),
        host_path: Some(host_path.clone()),
        mount_path: Some(mount_path.clone()),
        read_only: Some(*read_only),
        path_type: sort.map(|sort| sort.name().to_owned()),
    }
}

/// The names of kubeadm's checks that are ignored. Those of a port and of a directory have it in their names.
pub(super) fn ignored_checks(wanted: &v1alpha1::Init, minor: u32) -> Vec<String> {
    let settings = &wanted.settings;
    let own = [
        (PreflightCheck::Ports, settings.api_server_port.map(preflight_checks::port)),
        (PreflightCheck::Files, settings.etcd.data_directory.as_deref().map(preflight_checks::directory)),
    ];
    let own = own.into_iter().filter(|(check, _)| wanted.tolerated_checks.contains(check));
    let mut names = ToleratedChecks::new(&wanted.tolerated_checks, &wanted.kubelet, minor).names();
    if !wanted.tolerated_checks.contains(&PreflightCheck::All) {
        names.extend(own.filter_map(|(_, name)| name));
    }
    names
}
