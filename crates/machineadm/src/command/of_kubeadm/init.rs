//! An InitConfiguration and a ClusterConfiguration as an InitConfig.
use super::{
    cluster::cluster,
    node::{Node, node},
    own_address,
    report::{ImportReport, SECRET},
    set, with_port,
};
use crate::command::init::skipped_phases::Skipped;
use discovery::{Usage, usage::NODE_GROUP};
use documents::v1alpha1::{ClusterPart, InitConfig, InitTimeouts, InitTokenSpec, Members, PreflightCheck};
use kubeadm::{
    ComponentConfig, Time,
    hub::{self, ClusterConfiguration, InitConfiguration},
};
use objects::Duration;
use serde_json::Value;
use std::collections::BTreeSet;

const KIND: &str = "InitConfiguration";
/// The documents of other components, with the API version that they are written in.
const KUBELET: (&str, &str) = ("KubeletConfiguration", "kubelet.config.k8s.io/v1beta1");
const KUBE_PROXY: (&str, &str) = ("KubeProxyConfiguration", "kubeproxy.config.k8s.io/v1alpha1");

/// What kubeadm's documents mean. One that is missing says nothing, as to `kubeadm init`.
pub(in crate::command) fn init(
    init: Option<InitConfiguration>,
    given: Option<ClusterConfiguration>,
    components: &[ComponentConfig],
) -> (InitConfig, ImportReport) {
    let mut report = ImportReport::of::<InitConfig>();
    let mut document = InitConfig {
        kubelet: members(components, KUBELET, &mut report),
        kube_proxy: members(components, KUBE_PROXY, &mut report),
        ..InitConfig::default()
    };
    let phases = of_init(init.unwrap_or_default(), &mut document, &mut report);
    cluster(given.unwrap_or_default(), &mut document, &mut report);
    skip(&phases, &mut document, &mut report);
    let port = document.api_server_port;
    document.control_plane_endpoint = document.control_plane_endpoint.map(|host| with_port(&host, port));
    (document, report)
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
    let node = node(KIND, node_registration, report);
    let Node { name, runtime_socket, taints, labels, addresses, tolerated_checks, image_pull } = node;
    document.node_name = name;
    document.runtime_socket = runtime_socket.unwrap_or_else(|| InitConfig::default().runtime_socket);
    document.taints = taints;
    document.labels = labels;
    document.node_addresses = addresses;
    document.tolerated_checks = tolerated_checks;
    document.image_pull = image_pull;
    document.advertise_address = own_address(advertise_address);
    document.api_server_port = port(&format!("{KIND}.localAPIEndpoint.bindPort"), bind_port, report);
    document.certificate_key = certificate_key.filter(|key| !key.expose().is_empty());
    document.patches = patches.and_then(|hub::Patches { directory }| set(directory));
    document.timeouts = of_timeouts(&timeouts.unwrap_or_default(), report);
    document.bootstrap_token = token(bootstrap_tokens, report);
    skip_phases
}

/// The port of an API server; 0 is kubeadm's default.
pub(super) fn port(here: &str, given: Option<i32>, report: &mut ImportReport) -> Option<u16> {
    let given = given.filter(|port| *port != 0)?;
    let port = u16::try_from(given).ok();
    if port.is_none() {
        report.refused(here, given, "must be a port from 1 to 65535");
    }
    port
}

fn of_timeouts(timeouts: &hub::Timeouts, report: &mut ImportReport) -> InitTimeouts {
    let hub::Timeouts {
        control_plane_component_health_check,
        kubelet_health_check,
        kubernetes_api_call,
        etcd_api_call,
        tls_bootstrap,
        discovery,
        upgrade_manifests,
    } = *timeouts;
    let others = [
        ("kubernetesAPICall", unless_usual(kubernetes_api_call, 1)),
        ("etcdAPICall", unless_usual(etcd_api_call, 2)),
        ("tlsBootstrap", unless_usual(tls_bootstrap, 5)),
        ("discovery", unless_usual(discovery, 5)),
        ("upgradeManifests", unless_usual(upgrade_manifests, 5)),
    ];
    for (field, time) in others {
        report.unsupported_if_set(format!("{KIND}.timeouts.{field}"), time);
    }
    let text = |time: Option<Duration>| unless_usual(time, 4).map(|time| time.to_string());
    InitTimeouts { kubelet: text(kubelet_health_check), control_plane: text(control_plane_component_health_check) }
}

/// What kubeadm takes anyway needs no field: `kubeadm config print init-defaults` prints it.
pub(super) fn unless_usual(given: Option<Duration>, minutes: i64) -> Option<Duration> {
    given.filter(|given| *given != Duration::minutes(minutes))
}

/// The one token that a document has.
fn token(tokens: Vec<hub::BootstrapToken>, report: &mut ImportReport) -> Option<InitTokenSpec> {
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
    report.unsupported_if_set(here("description"), set(description));
    report.unsupported_if_set(here("expires"), expires.map(Time::timestamp));
    report.unsupported_if_set(here("usages"), unusual(usages, &usual_usages));
    report.unsupported_if_set(here("groups"), unusual(groups, &usual_groups));
    let token = token.filter(|token| !token.expose().is_empty());
    Some(InitTokenSpec { token, ttl: ttl.map(|ttl| ttl.to_string()) })
}

/// Applies skipped phases; what they make pointless is left out.
fn skip(phases: &[String], document: &mut InitConfig, report: &mut ImportReport) {
    let here = |phase: &str| format!("{KIND}.skipPhases[{phase}]");
    let (skipped, refused) = Skipped::read(phases);
    for refusal in refused {
        report.refused(here(&refusal.phase), &refusal.phase, refusal.why);
    }
    skipped.apply(document);
    if skipped.preflight {
        report.note(here("preflight"), "is set by spec.toleratedChecks");
    }
    if !skipped.without.is_empty() {
        report.note(format!("{KIND}.skipPhases"), "is set by spec.without");
    }
    let is_without = |document: &InitConfig, part| document.without.contains(&part);
    if skipped.upload && document.certificate_key.take().is_some() {
        report.note(format!("{KIND}.certificateKey"), "has no effect: the phase upload-certs is skipped");
    }
    if is_without(document, ClusterPart::BootstrapToken) && document.bootstrap_token.take().is_some() {
        report.note(format!("{KIND}.bootstrapTokens"), "has no effect: the phase bootstrap-token is skipped");
    }
    if is_without(document, ClusterPart::KubeProxy) && !document.kube_proxy.is_empty() {
        document.kube_proxy = Members::new();
        report.note(KUBE_PROXY.0, "has no effect: the cluster is created without kube-proxy");
    }
}

impl Skipped {
    /// Applies the phases to a document.
    pub(in crate::command) fn apply(&self, document: &mut InitConfig) {
        if self.preflight {
            document.tolerated_checks = vec![PreflightCheck::All];
        }
        for part in &self.without {
            if !document.without.contains(part) {
                document.without.push(*part);
            }
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
