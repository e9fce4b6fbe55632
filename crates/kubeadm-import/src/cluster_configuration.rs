//! A ClusterConfiguration as part of an InitConfig.
use crate::{report::ImportReport, values::non_empty};
use documents::v1alpha1::{
    self, Arguments, ClusterPart, ControlPlaneProgram, EtcdMember, InitConfig, Volume, VolumeType,
};
use kubeadm::hub::{self, ClusterConfiguration};
use objects::Duration;

const KIND: &str = "ClusterConfiguration";
/// In the place of a variable's value, which may be secret.
const VARIABLE: &str = "(an environment variable)";
/// How long certificates and certificate authorities are valid unless a file says otherwise, and kubeadm's algorithm.
const VALIDITY: Duration = Duration::hours(24 * 365);
const CA_VALIDITY: Duration = Duration::hours(24 * 365 * 10);
const ALGORITHM: &str = "RSA-2048";

/// Puts what holds for the whole cluster into a document.
pub(crate) fn add_cluster(given: ClusterConfiguration, document: &mut InitConfig, report: &mut ImportReport) {
    let ClusterConfiguration {
        etcd,
        networking: hub::Networking { service_subnet, pod_subnet, dns_domain },
        kubernetes_version,
        control_plane_endpoint,
        api_server,
        controller_manager,
        scheduler,
        dns,
        proxy: hub::Proxy { disabled: proxy_disabled },
        certificates_dir,
        image_repository,
        feature_gates,
        cluster_name,
        encryption_algorithm,
        certificate_validity_period,
        ca_certificate_validity_period,
        use_hyper_kube_image,
    } = given;
    let here = |field: &str| format!("{KIND}.{field}");
    let algorithm = non_empty(encryption_algorithm).filter(|algorithm| algorithm != ALGORITHM);
    report.unsupported_if_set(here("encryptionAlgorithm"), algorithm);
    let validity = certificate_validity_period.filter(|time| *time != VALIDITY);
    report.unsupported_if_set(here("certificateValidityPeriod"), validity);
    let ca_validity = ca_certificate_validity_period.filter(|time| *time != CA_VALIDITY);
    report.unsupported_if_set(here("caCertificateValidityPeriod"), ca_validity);
    report.unsupported_if_set(here("useHyperKubeImage"), use_hyper_kube_image.filter(|used| *used));
    let dns_disabled = of_dns(dns, report);
    for (part, disabled) in [(ClusterPart::CoreDns, dns_disabled), (ClusterPart::KubeProxy, proxy_disabled)] {
        document.without.extend((disabled == Some(true)).then_some(part));
    }
    document.kubernetes_version = non_empty(kubernetes_version).unwrap_or_default();
    document.control_plane_endpoint = non_empty(control_plane_endpoint);
    document.pod_subnets = subnets(pod_subnet);
    document.service_subnets = subnets(service_subnet);
    document.dns_domain = non_empty(dns_domain);
    document.certificates_directory = non_empty(certificates_dir);
    document.image_repository = non_empty(image_repository);
    document.cluster_name = non_empty(cluster_name);
    document.feature_gates = feature_gates;
    of_api_server(api_server, document, report);
    document.controller_manager = program("controllerManager", controller_manager, report);
    document.scheduler = program("scheduler", scheduler, report);
    document.etcd = member(etcd, report);
}

/// The DNS addon; whether it is disabled.
fn of_dns(dns: hub::Dns, report: &mut ImportReport) -> Option<bool> {
    let hub::Dns { kind, image_repository, image_tag, disabled } = dns;
    let here = |field: &str| format!("{KIND}.dns.{field}");
    report.unsupported_if_set(here("type"), non_empty(kind).filter(|kind| kind != "CoreDNS"));
    report.unsupported_if_set(here("imageRepository"), non_empty(image_repository));
    report.unsupported_if_set(here("imageTag"), non_empty(image_tag));
    disabled
}

fn of_api_server(api_server: hub::ApiServer, document: &mut InitConfig, report: &mut ImportReport) {
    let hub::ApiServer { extra_args, extra_volumes, extra_envs, cert_sans, timeout_for_control_plane } = api_server;
    // Up to v1beta3 the cluster says how long init waits; zero is the usual time.
    let waiting = timeout_for_control_plane.filter(|time| !time.is_zero());
    match (waiting, &document.timeouts.control_plane) {
        (Some(_), Some(_)) => report.note(
            format!("{KIND}.apiServer.timeoutForControlPlane"),
            "has no effect: InitConfiguration.timeouts.controlPlaneComponentHealthCheck is set",
        ),
        (Some(time), None) if time != Duration::minutes(4) => document.timeouts.control_plane = Some(time.to_string()),
        _ => {}
    }
    variables("apiServer", extra_envs, report);
    document.api_server = v1alpha1::ApiServer {
        cert_sans,
        arguments: arguments("apiServer", extra_args, report),
        volumes: volumes("apiServer", extra_volumes, report),
    };
}

fn program(name: &str, component: hub::ControlPlaneComponent, report: &mut ImportReport) -> ControlPlaneProgram {
    let hub::ControlPlaneComponent { extra_args, extra_volumes, extra_envs } = component;
    variables(name, extra_envs, report);
    ControlPlaneProgram {
        arguments: arguments(name, extra_args, report),
        volumes: volumes(name, extra_volumes, report),
    }
}

fn member(etcd: hub::Etcd, report: &mut ImportReport) -> EtcdMember {
    let hub::Etcd { local, external } = etcd;
    if let Some(hub::ExternalEtcd { endpoints, http_endpoints, ca_file, cert_file, key_file }) = external {
        let here = |field: &str| format!("{KIND}.etcd.external.{field}");
        report.unsupported_if_set(here("endpoints"), non_empty(Some(endpoints.join(","))));
        report.unsupported_if_set(here("httpEndpoints"), non_empty(Some(http_endpoints.join(","))));
        report.unsupported_if_set(here("caFile"), non_empty(ca_file));
        report.unsupported_if_set(here("certFile"), non_empty(cert_file));
        report.unsupported_if_set(here("keyFile"), non_empty(key_file));
    }
    let hub::LocalEtcd {
        image_repository,
        image_tag,
        data_dir,
        extra_args,
        extra_envs,
        server_cert_sans,
        peer_cert_sans,
    } = local.unwrap_or_default();
    report.unsupported_if_set(format!("{KIND}.etcd.local.imageRepository"), non_empty(image_repository));
    report.unsupported_if_set(format!("{KIND}.etcd.local.imageTag"), non_empty(image_tag));
    variables("etcd.local", extra_envs, report);
    EtcdMember {
        data_directory: non_empty(data_dir),
        arguments: arguments("etcd.local", extra_args, report),
        server_cert_sans,
        peer_cert_sans,
    }
}

fn variables(program: &str, given: Vec<hub::EnvVar>, report: &mut ImportReport) {
    // Where a value comes from says little without the variable: the name stands for all of it.
    for hub::EnvVar { name, value: _, value_from: _ } in given {
        report.unsupported(format!("{KIND}.{program}.extraEnvs[{}]", name.unwrap_or_default()), VARIABLE);
    }
}

/// A document names each argument once, and replaces kubeadm's own.
fn arguments(program: &str, given: Vec<hub::Arg>, report: &mut ImportReport) -> Arguments {
    let mut arguments = Arguments::new();
    for hub::Arg { name, value, merge_method } in given {
        let here = format!("{KIND}.{program}.extraArgs[{name}]");
        if non_empty(merge_method).is_some() {
            report.unsupported(here, value);
        } else if let Some(earlier) = arguments.insert(name, value) {
            report.unsupported(here, earlier);
        }
    }
    arguments
}

fn volumes(program: &str, given: Vec<hub::HostPathMount>, report: &mut ImportReport) -> Vec<Volume> {
    let volume = |(index, mount): (usize, hub::HostPathMount)| {
        let hub::HostPathMount { name, host_path, mount_path, read_only, path_type } = mount;
        let path_type = non_empty(path_type);
        let sort = VolumeType::ALL.into_iter().find(|sort| path_type.as_deref() == Some(sort.name()));
        let here = format!("{KIND}.{program}.extraVolumes[{index}].pathType");
        report.unsupported_if_set(here, path_type.filter(|_| sort.is_none()));
        Volume {
            name: name.unwrap_or_default(),
            host_path: host_path.unwrap_or_default(),
            mount_path: mount_path.unwrap_or_default(),
            // kubeadm's default is another one than ours.
            read_only: read_only.unwrap_or_default(),
            sort,
        }
    };
    given.into_iter().enumerate().map(volume).collect()
}

fn subnets(given: Option<String>) -> Vec<String> {
    non_empty(given).map(|text| text.split(',').map(|subnet| subnet.trim().to_owned()).collect()).unwrap_or_default()
}
