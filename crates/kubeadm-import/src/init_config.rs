//! An InitConfiguration and a ClusterConfiguration as an InitConfig.
use crate::{
    cluster_configuration::add_cluster,
    init_phases::{SkippedInitPhases, remove_settings_without_effect},
    node_registration::{NodeSettings, node_settings},
    report::{ImportReport, SECRET},
    timeouts::UnusualTimeouts,
    values::{api_server_port, endpoint_with_port, non_empty, own_address},
};
use discovery::{Usage, usage::NODE_GROUP};
use documents::v1alpha1::{ClusterPart, InitConfig, InitTimeouts, InitTokenSpec, Members};
use kubeadm::{
    ComponentConfig, Time,
    hub::{self, ClusterConfiguration, InitConfiguration},
};
use serde_json::Value;
use std::collections::BTreeSet;

const KIND: &str = "InitConfiguration";
/// The documents of other components, with the API version that they are written in.
const KUBELET: (&str, &str) = ("KubeletConfiguration", "kubelet.config.k8s.io/v1beta1");
const KUBE_PROXY: (&str, &str) = ("KubeProxyConfiguration", "kubeproxy.config.k8s.io/v1alpha1");

/// An InitConfig, and what it does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedInit {
    /// The document. The version of Kubernetes is empty where kubeadm's documents do not name it.
    pub document: InitConfig,
    /// What of kubeadm's documents it does not hold.
    pub report: ImportReport,
}

/// What kubeadm's documents mean. One that is missing says nothing, as to `kubeadm init`.
pub fn init_config(
    init: Option<InitConfiguration>,
    given: Option<ClusterConfiguration>,
    components: &[ComponentConfig],
) -> ImportedInit {
    let mut report = ImportReport::of::<InitConfig>();
    let mut document = InitConfig {
        kubelet: members(components, KUBELET, &mut report),
        kube_proxy: members(components, KUBE_PROXY, &mut report),
        ..InitConfig::default()
    };
    let phases = of_init(init.unwrap_or_default(), &mut document, &mut report);
    add_cluster(given.unwrap_or_default(), &mut document, &mut report);
    skip(&phases, &mut document, &mut report);
    let port = document.api_server_port;
    document.control_plane_endpoint = document.control_plane_endpoint.map(|host| endpoint_with_port(&host, port));
    ImportedInit { document, report }
}

/// The phases that it skips are left to the end: they outrank what documents say.
fn of_init(init: InitConfiguration, document: &mut InitConfig, report: &mut ImportReport) -> Vec<String> {
    let InitConfiguration {
        bootstrap_tokens,
        dry_run,
        node_registration,
        local_api_endpoint: hub::ApiEndpoint { advertise_address, bind_port },
        certificate_key,
        skip_phases,
        patches,
        timeouts,
    } = init;
    report.unsupported_if_set(format!("{KIND}.dryRun"), dry_run.filter(|dry_run| *dry_run));
    let node = node_settings(KIND, node_registration, report);
    let NodeSettings { name, runtime_socket, taints, labels, addresses, tolerated_checks, image_pull } = node;
    document.node_name = name;
    document.runtime_socket = runtime_socket.unwrap_or_else(|| InitConfig::default().runtime_socket);
    document.taints = taints;
    document.labels = labels;
    document.node_addresses = addresses;
    document.tolerated_checks = tolerated_checks;
    document.image_pull = image_pull;
    document.advertise_address = own_address(advertise_address);
    document.api_server_port = port(bind_port, report);
    document.certificate_key = certificate_key.filter(|key| !key.expose().is_empty());
    document.patches = patches.and_then(|hub::Patches { directory }| non_empty(directory));
    document.timeouts = init_timeouts(timeouts, report);
    document.bootstrap_token = token_spec(bootstrap_tokens, report);
    skip_phases
}

fn port(given: Option<i32>, report: &mut ImportReport) -> Option<u16> {
    api_server_port(&format!("{KIND}.localAPIEndpoint.bindPort"), given, report)
}

fn init_timeouts(given: Option<hub::Timeouts>, report: &mut ImportReport) -> InitTimeouts {
    let UnusualTimeouts { control_plane, kubelet, tls_bootstrap, discovery } = UnusualTimeouts::of(KIND, given, report);
    report.unsupported_if_set(format!("{KIND}.timeouts.tlsBootstrap"), tls_bootstrap);
    report.unsupported_if_set(format!("{KIND}.timeouts.discovery"), discovery);
    InitTimeouts { kubelet, control_plane }
}

/// The one token that a document has.
fn token_spec(tokens: Vec<hub::BootstrapToken>, report: &mut ImportReport) -> Option<InitTokenSpec> {
    let mut tokens = tokens.into_iter().enumerate();
    let (_, hub::BootstrapToken { token, description, ttl, expires, usages, groups }) = tokens.next()?;
    for (index, _) in tokens {
        report.unsupported(format!("{KIND}.bootstrapTokens[{index}]"), SECRET);
    }
    let names = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<_>>();
    let usual_usages = names(&Usage::ALL.map(|usage| usage.name().to_owned()));
    let usual_groups = names(&[NODE_GROUP.to_owned()]);
    let unusual = |given: Vec<String>, usual: &BTreeSet<String>| {
        (!given.is_empty() && names(&given) != *usual).then(|| given.join(","))
    };
    let here = |field: &str| format!("{KIND}.bootstrapTokens[0].{field}");
    report.unsupported_if_set(here("description"), non_empty(description));
    report.unsupported_if_set(here("expires"), expires.map(Time::timestamp));
    report.unsupported_if_set(here("usages"), unusual(usages, &usual_usages));
    report.unsupported_if_set(here("groups"), unusual(groups, &usual_groups));
    let token = token.filter(|token| !token.expose().is_empty());
    Some(InitTokenSpec { token, ttl: ttl.map(|ttl| ttl.to_string()) })
}

/// Applies skipped phases; what they make pointless is left out.
fn skip(phases: &[String], document: &mut InitConfig, report: &mut ImportReport) {
    let here = |phase: &str| format!("{KIND}.skipPhases[{phase}]");
    let skipped = SkippedInitPhases::read(phases);
    skipped.apply(document);
    let SkippedInitPhases { preflight, upload_certs, without, refused } = skipped;
    for refusal in refused {
        report.refused(here(&refusal.phase), &refusal.phase, refusal.why);
    }
    if preflight {
        report.note(here("preflight"), "is set by spec.toleratedChecks");
    }
    if !without.is_empty() {
        report.note(format!("{KIND}.skipPhases"), "is set by spec.without");
    }
    if upload_certs && document.certificate_key.take().is_some() {
        report.note(format!("{KIND}.certificateKey"), "has no effect: the phase upload-certs is skipped");
    }
    for part in remove_settings_without_effect(document) {
        match part {
            ClusterPart::BootstrapToken => {
                report.note(format!("{KIND}.bootstrapTokens"), "has no effect: the phase bootstrap-token is skipped");
            }
            ClusterPart::KubeProxy => {
                report.note(KUBE_PROXY.0, "has no effect: the cluster is created without kube-proxy");
            }
            ClusterPart::CoreDns => {}
        }
    }
}

/// The members of a component's document, but for what names it.
fn members(components: &[ComponentConfig], named: (&str, &str), report: &mut ImportReport) -> Members {
    let (kind, api_version) = named;
    let found = components.iter().find(|component| component.kind == kind);
    let Some(Ok(Value::Object(mut members))) = found.map(|component| kubeadm::parse_yaml(&component.text)) else {
        return Members::new();
    };
    if let Some(other) = members.get("apiVersion").and_then(Value::as_str).filter(|given| *given != api_version) {
        report.refused(kind, other, format!("its apiVersion must be {api_version}"));
        return Members::new();
    }
    members.retain(|name, _| !["apiVersion", "kind"].contains(&name.as_str()));
    members
}
