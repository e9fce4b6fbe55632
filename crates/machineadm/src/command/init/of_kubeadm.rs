//! `--config`: kubeadm's own documents in our terms. What an InitConfig has no field for is refused by its name.
use super::{document::skip, skipped_phases::Skipped};
use crate::{
    command::{
        configuration_file,
        node_registration::{NODE_LABELS, labels, taint, without_scheme},
        small_file, tolerated_checks,
    },
    command_error::CommandError,
};
use discovery::{Usage, usage::NODE_GROUP};
use documents::v1alpha1::{
    self, Arguments, ClusterPart, ControlPlaneProgram, EtcdMember, InitConfig, InitTimeouts, InitTokenSpec, Members,
    Volume, VolumeType,
};
use kubeadm::{
    ComponentConfig,
    hub::{self, ClusterConfiguration, InitConfiguration},
};
use objects::Duration;
use secret::Secret;
use serde_json::Value;

const INIT: &str = "InitConfiguration";
const CLUSTER: &str = "ClusterConfiguration";
/// The flag of the kubelet with the addresses of its node.
const NODE_IP: &str = "node-ip";

/// Fields that an InitConfig has no place for.
#[derive(Default)]
struct Refused(Vec<String>);

impl Refused {
    /// Those of a document that are set.
    fn fields<F: AsRef<str>>(&mut self, kind: &str, fields: impl IntoIterator<Item = (F, bool)>) {
        let set = fields.into_iter().filter(|(_, is_set)| *is_set);
        self.0.extend(set.map(|(field, _)| format!("{kind}.{}: an InitConfig has no field for it", field.as_ref())));
    }

    fn end<T>(self, value: T) -> Result<T, CommandError> {
        if self.0.is_empty() { Ok(value) } else { Err(CommandError::invalid_input(self.0)) }
    }
}

/// Reads a file; the key goes aside, since it has an effect with `--upload-certs` only.
pub(super) fn read(name: &str, key: &mut Option<Secret<String>>) -> Result<InitConfig, CommandError> {
    let read = configuration_file::read_all(name)?;
    let hub::Documents { init, cluster, join, .. } = read.documents;
    if init.is_none() && cluster.is_none() {
        let found = if join.is_some() { ", but a JoinConfiguration: run `machineadm join`" } else { "" };
        let text = format!("--config has neither an {INIT} nor a {CLUSTER}{found}");
        return Err(CommandError::invalid(text));
    }
    let mut refused = Refused::default();
    let mut document = InitConfig {
        kubelet: members(&read.component_configs, "KubeletConfiguration"),
        kube_proxy: members(&read.component_configs, "KubeProxyConfiguration"),
        ..InitConfig::default()
    };
    let init = init.unwrap_or_default();
    if init.certificate_key.is_some() {
        small_file::warn_if_others_read("--config", name, "the certificate key");
        key.clone_from(&init.certificate_key);
    }
    let skipped = Skipped::read(&init.skip_phases)?;
    of_init(init, &mut document, &mut refused)?;
    of_cluster(cluster.unwrap_or_default(), &mut document, &mut refused);
    skip(&mut document, &skipped);
    if document.without.contains(&ClusterPart::BootstrapToken) {
        document.bootstrap_token = None;
    }
    refused.end(document)
}

fn of_init(init: InitConfiguration, document: &mut InitConfig, refused: &mut Refused) -> Result<(), CommandError> {
    let InitConfiguration {
        bootstrap_tokens,
        dry_run,
        node_registration,
        local_api_endpoint,
        certificate_key: _,
        skip_phases: _,
        patches,
        timeouts,
    } = init;
    let hub::NodeRegistration {
        name,
        cri_socket,
        taints,
        kubelet_extra_args,
        ignore_preflight_errors,
        image_pull_policy,
        image_pull_serial,
    } = node_registration;
    let is_other = |argument: &hub::Arg| ![NODE_LABELS, NODE_IP].contains(&argument.name.as_str());
    let port = local_api_endpoint.bind_port.filter(|port| *port != 0);
    refused.fields(
        INIT,
        [
            ("dryRun", dry_run == Some(true)),
            ("nodeRegistration.kubeletExtraArgs", kubelet_extra_args.iter().any(is_other)),
            ("nodeRegistration.imagePullSerial", image_pull_serial == Some(false)),
            ("localAPIEndpoint.bindPort", port.is_some_and(|port| u16::try_from(port).is_err())),
        ],
    );
    document.node_name = set(name);
    document.runtime_socket = set(cri_socket).as_deref().map_or(InitConfig::default().runtime_socket, without_scheme);
    document.taints = taints.map(|taints| taints.into_iter().map(|given| taint(INIT, given)).collect()).transpose()?;
    document.labels = labels(&kubelet_extra_args);
    let addresses = kubelet_extra_args.iter().filter(|argument| argument.name == NODE_IP);
    let addresses = addresses.flat_map(|argument| argument.value.split(',')).filter(|address| !address.is_empty());
    document.node_addresses = addresses.map(str::to_owned).collect();
    document.tolerated_checks = tolerated_checks::of_names(&ignore_preflight_errors)?;
    document.image_pull = tolerated_checks::image_pull(INIT, image_pull_policy.as_deref())?;
    document.advertise_address = set(local_api_endpoint.advertise_address);
    document.api_server_port = port.and_then(|port| u16::try_from(port).ok());
    document.patches = patches.and_then(|patches| set(patches.directory));
    document.timeouts = of_timeouts(&timeouts.unwrap_or_default(), refused);
    document.bootstrap_token = token(&bootstrap_tokens, refused);
    Ok(())
}

fn of_timeouts(timeouts: &hub::Timeouts, refused: &mut Refused) -> InitTimeouts {
    let hub::Timeouts {
        control_plane_component_health_check,
        kubelet_health_check,
        kubernetes_api_call,
        etcd_api_call,
        tls_bootstrap,
        discovery,
        upgrade_manifests,
    } = timeouts;
    // What kubeadm takes anyway needs no field: `kubeadm config print init-defaults` prints it.
    let is_other = |given: &Option<Duration>, default| given.is_some_and(|given| given != Duration::minutes(default));
    refused.fields(
        INIT,
        [
            ("timeouts.kubernetesAPICall", is_other(kubernetes_api_call, 1)),
            ("timeouts.etcdAPICall", is_other(etcd_api_call, 2)),
            ("timeouts.tlsBootstrap", is_other(tls_bootstrap, 5)),
            ("timeouts.discovery", is_other(discovery, 5)),
            ("timeouts.upgradeManifests", is_other(upgrade_manifests, 5)),
        ],
    );
    // Older kubeadms have no field for the defaults.
    let text = |given: &Option<Duration>| given.filter(|given| *given != Duration::minutes(4)).map(|t| t.to_string());
    InitTimeouts { kubelet: text(kubelet_health_check), control_plane: text(control_plane_component_health_check) }
}

/// The one token that a document has.
fn token(tokens: &[hub::BootstrapToken], refused: &mut Refused) -> Option<InitTokenSpec> {
    let hub::BootstrapToken { token, description, ttl, expires, usages, groups } = tokens.first()?;
    let has_usages = |usage: Usage| usages.iter().any(|given| given == usage.name());
    let is_usual = usages.is_empty() || Usage::ALL.into_iter().all(has_usages);
    let is_grouped = groups.is_empty() || groups.iter().all(|group| group == NODE_GROUP);
    let is_described = description.as_ref().is_some_and(|text| !text.is_empty());
    refused.fields(
        INIT,
        [
            ("bootstrapTokens[0].description", is_described),
            ("bootstrapTokens[0].expires", expires.is_some()),
            ("bootstrapTokens[0].usages", !is_usual),
            ("bootstrapTokens[0].groups", !is_grouped),
            ("bootstrapTokens[1]", tokens.len() > 1),
        ],
    );
    let token = token.clone().filter(|token| !token.expose().is_empty());
    Some(InitTokenSpec { token, ttl: ttl.map(|ttl| ttl.to_string()) })
}

fn of_cluster(cluster: ClusterConfiguration, document: &mut InitConfig, refused: &mut Refused) {
    let ClusterConfiguration {
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
    } = cluster;
    let is_other = |given: Option<Duration>, days: i64| given.is_some_and(|given| given != Duration::hours(24 * days));
    refused.fields(
        CLUSTER,
        [
            ("encryptionAlgorithm", set(encryption_algorithm).is_some_and(|algorithm| algorithm != "RSA-2048")),
            ("certificateValidityPeriod", is_other(certificate_validity_period, 365)),
            ("caCertificateValidityPeriod", is_other(ca_certificate_validity_period, 10 * 365)),
            ("useHyperKubeImage", use_hyper_kube_image == Some(true)),
            ("dns.type", set(dns.kind).is_some_and(|kind| kind != "CoreDNS")),
            ("dns.imageRepository", set(dns.image_repository).is_some()),
            ("dns.imageTag", set(dns.image_tag).is_some()),
            ("apiServer.extraEnvs", !api_server.extra_envs.is_empty()),
        ],
    );
    for (part, disabled) in [(ClusterPart::CoreDns, dns.disabled), (ClusterPart::KubeProxy, proxy.disabled)] {
        document.without.extend((disabled == Some(true)).then_some(part));
    }
    document.kubernetes_version = set(kubernetes_version).unwrap_or_default();
    document.control_plane_endpoint = set(control_plane_endpoint);
    document.pod_subnets = subnets(networking.pod_subnet);
    document.service_subnets = subnets(networking.service_subnet);
    document.dns_domain = set(networking.dns_domain);
    document.certificates_directory = set(certificates_dir);
    document.image_repository = set(image_repository);
    document.cluster_name = set(cluster_name);
    document.feature_gates = feature_gates;
    let hub::ApiServer { extra_args, extra_volumes, extra_envs: _, cert_sans, timeout_for_control_plane } = api_server;
    if let Some(time) = timeout_for_control_plane.filter(|time| *time != Duration::minutes(4)) {
        document.timeouts.control_plane.get_or_insert_with(|| time.to_string());
    }
    document.api_server = v1alpha1::ApiServer {
        cert_sans,
        arguments: arguments("apiServer.extraArgs", extra_args, refused),
        volumes: volumes("apiServer", extra_volumes, refused),
    };
    document.controller_manager = program("controllerManager", controller_manager, refused);
    document.scheduler = program("scheduler", scheduler, refused);
    document.etcd = member(etcd, refused);
}

fn program(name: &str, component: hub::ControlPlaneComponent, refused: &mut Refused) -> ControlPlaneProgram {
    let hub::ControlPlaneComponent { extra_args, extra_volumes, extra_envs } = component;
    refused.fields(CLUSTER, [(format!("{name}.extraEnvs"), !extra_envs.is_empty())]);
    ControlPlaneProgram {
        arguments: arguments(&format!("{name}.extraArgs"), extra_args, refused),
        volumes: volumes(name, extra_volumes, refused),
    }
}

fn member(etcd: hub::Etcd, refused: &mut Refused) -> EtcdMember {
    let is_external = etcd.external.is_some();
    let hub::LocalEtcd {
        image_repository,
        image_tag,
        data_dir,
        extra_args,
        extra_envs,
        server_cert_sans,
        peer_cert_sans,
    } = etcd.local.unwrap_or_default();
    refused.fields(
        CLUSTER,
        [
            ("etcd.external", is_external),
            ("etcd.local.imageRepository", set(image_repository).is_some()),
            ("etcd.local.imageTag", set(image_tag).is_some()),
            ("etcd.local.extraEnvs", !extra_envs.is_empty()),
        ],
    );
    EtcdMember {
        data_directory: set(data_dir),
        arguments: arguments("etcd.local.extraArgs", extra_args, refused),
        server_cert_sans,
        peer_cert_sans,
    }
}

/// A document names each argument once, and replaces kubeadm's own.
fn arguments(here: &str, given: Vec<hub::Arg>, refused: &mut Refused) -> Arguments {
    let mut arguments = Arguments::new();
    for hub::Arg { name, value, merge_method } in given {
        let is_merged = set(merge_method).is_some();
        let field = format!("{here}[{}]", kubeadm::shown(&name));
        let is_refused = arguments.insert(name, value).is_some() || is_merged;
        refused.fields(CLUSTER, [(field, is_refused)]);
    }
    arguments
}

fn volumes(here: &str, given: Vec<hub::HostPathMount>, refused: &mut Refused) -> Vec<Volume> {
    let mut volume = |(index, mount): (usize, hub::HostPathMount)| {
        let hub::HostPathMount { name, host_path, mount_path, read_only, path_type } = mount;
        let path_type = set(path_type);
        let sort = VolumeType::ALL.into_iter().find(|sort| path_type.as_deref() == Some(sort.name()));
        let field = format!("{here}.extraVolumes[{index}].pathType");
        refused.fields(CLUSTER, [(field, path_type.is_some() && sort.is_none())]);
        Volume {
            name: name.unwrap_or_default(),
            host_path: host_path.unwrap_or_default(),
            mount_path: mount_path.unwrap_or_default(),
            // kubeadm's default is another one than ours.
            read_only: read_only.unwrap_or_default(),
            sort,
        }
    };
    given.into_iter().enumerate().map(&mut volume).collect()
}

/// The members of a component's document, but for what names it.
fn members(components: &[ComponentConfig], kind: &str) -> Members {
    let found = components.iter().find(|component| component.kind == kind);
    let Some(Ok(Value::Object(mut members))) = found.map(|component| kubeadm::parse_yaml(&component.text)) else {
        return Members::new();
    };
    members.retain(|name, _| !["apiVersion", "kind"].contains(&name.as_str()));
    members
}

fn subnets(given: Option<String>) -> Vec<String> {
    set(given).map(|text| text.split(',').map(|subnet| subnet.trim().to_owned()).collect()).unwrap_or_default()
}

/// As kubeadm reads it, an empty text is none.
fn set(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
