//! What kubeadm's documents mean, in one form: its defaults are written down, and what may be said in two ways is said in
//! one. And the same without a field that a list of losses names.
use kubeadm::{
    Target, defaults,
    hub::{
        self, ApiEndpoint, BootstrapToken, ClusterConfiguration, InitConfiguration, JoinConfiguration, NodeRegistration,
    },
    preflight_checks,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// kubeadm's kinds, as the hub names them.
const KINDS: [(&str, &str); 3] =
    [("ClusterConfiguration", "cluster"), ("InitConfiguration", "init"), ("JoinConfiguration", "join")];
/// Phases that a worker does not have.
const OF_CONTROL_PLANES: [&str; 5] =
    ["control-plane-prepare", "check-etcd", "etcd-join", "control-plane-join", "wait-control-plane"];

/// Removes what a loss names; it must have been there.
pub(crate) fn remove(value: &mut Value, path: &str, lost: &str) -> Result<(), String> {
    let (kind, mut rest) = path.split_once('.').unwrap_or((path, ""));
    let field = KINDS.iter().find(|(name, _)| *name == kind).ok_or_else(|| format!("no document {path}"))?.1;
    let mut here = &mut value[field];
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (name, behind) = inside.split_once(']').ok_or_else(|| path.to_owned())?;
            let items = here.as_array_mut().ok_or_else(|| format!("no list at {path}"))?;
            let index = element(items, name, lost).ok_or_else(|| format!("{path} is listed, but was not there"))?;
            (here, rest) = (&mut items[index], behind.strip_prefix('.').unwrap_or(behind));
        } else {
            let (name, behind) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            (here, rest) = (&mut here[name], behind.strip_prefix('.').unwrap_or(behind));
        }
    }
    if here.is_null() {
        return Err(format!("{path} is listed, but was not there"));
    }
    // Elements keep their places until all are removed.
    *here = Value::Null;
    Ok(())
}

/// An element by its text, by its name and value, or by its place.
fn element(items: &[Value], name: &str, lost: &str) -> Option<usize> {
    let is_named = |item: &Value| item["name"] == name && (item["value"] == lost || lost.starts_with('('));
    let by_name = items.iter().position(|item| item == name || is_named(item));
    by_name.or_else(|| name.parse().ok().filter(|index| *index < items.len()))
}

/// The one form.
pub(crate) fn normal(mut value: Value, target: &Target) -> Value {
    prune(&mut value);
    let mut hub: hub::Documents = serde_json::from_value(value).expect("a hub");
    hub.settle();
    match &mut hub.join {
        Some(join) => normal_join(join),
        // An InitConfig is both.
        None => normal_init(hub.init.get_or_insert_default(), hub.cluster.get_or_insert_default()),
    }
    defaults::fill(&mut hub, target);
    hub.settle();
    let mut value = serde_json::to_value(hub).expect("a hub");
    sort(&mut value);
    prune(&mut value);
    value
}

fn normal_init(init: &mut InitConfiguration, cluster: &mut ClusterConfiguration) {
    for phase in std::mem::take(&mut init.skip_phases) {
        match phase.as_str() {
            "addon" => (cluster.dns.disabled, cluster.proxy.disabled) = (Some(true), Some(true)),
            "addon/coredns" => cluster.dns.disabled = Some(true),
            "addon/kube-proxy" => cluster.proxy.disabled = Some(true),
            "bootstrap-token" => init.bootstrap_tokens = vec![unused()],
            "upload-certs" => init.certificate_key = None,
            "preflight" => init.node_registration.ignore_preflight_errors = vec!["all".to_owned()],
            _ => init.skip_phases.push(phase),
        }
    }
    normal_node(&mut init.node_registration);
    normal_endpoint(&mut init.local_api_endpoint);
    let port = init.local_api_endpoint.bind_port.unwrap_or(6443);
    if let Some(endpoint) = cluster.control_plane_endpoint.as_mut().filter(|endpoint| !endpoint.contains(':')) {
        endpoint.push_str(&format!(":{port}"));
    }
    if let Some(version) = cluster.kubernetes_version.as_mut().filter(|version| !version.starts_with('v')) {
        version.insert(0, 'v');
    }
    for token in &mut init.bootstrap_tokens {
        if token.description.as_deref().is_some_and(|text| text.starts_with("Not used: machineadm")) {
            *token = unused();
        }
    }
    // The time of an InitConfiguration outranks that of the cluster; zero is the usual one.
    let own = init.timeouts.as_ref().and_then(|timeouts| timeouts.control_plane_component_health_check);
    let waiting = &mut cluster.api_server.timeout_for_control_plane;
    *waiting = waiting.filter(|time| own.is_none() && !time.is_zero());
    let flags =
        [&mut cluster.dns.disabled, &mut cluster.proxy.disabled, &mut cluster.use_hyper_kube_image, &mut init.dry_run];
    flags.into_iter().for_each(unless_false);
    cluster.dns.kind = cluster.dns.kind.take().filter(|kind| kind != "CoreDNS");
    let programs = [&mut cluster.controller_manager.extra_volumes, &mut cluster.scheduler.extra_volumes];
    let volumes = programs.into_iter().flatten().chain(&mut cluster.api_server.extra_volumes);
    volumes.for_each(|volume| unless_false(&mut volume.read_only));
}

/// kubeadm turns an empty list of tokens into one: machineadm gives it one that nobody can use.
fn unused() -> BootstrapToken {
    BootstrapToken { description: Some("not used".to_owned()), ..BootstrapToken::default() }
}

fn normal_join(join: &mut JoinConfiguration) {
    unless_false(&mut join.dry_run);
    if join.skip_phases.iter().any(|phase| phase == "preflight") {
        join.node_registration.ignore_preflight_errors = vec!["all".to_owned()];
    }
    join.skip_phases.retain(|phase| phase != "preflight");
    normal_node(&mut join.node_registration);
    if let Some(by_token) = &mut join.discovery.bootstrap_token {
        unless_false(&mut by_token.unsafe_skip_ca_verification);
    }
    let Some(plane) = &mut join.control_plane else {
        join.skip_phases.retain(|phase| !OF_CONTROL_PLANES.contains(&phase.split('/').next().unwrap_or_default()));
        join.node_registration.taints = join.node_registration.taints.take().filter(|taints| !taints.is_empty());
        if let Some(timeouts) = &mut join.timeouts {
            timeouts.control_plane_component_health_check = None;
        }
        return;
    };
    normal_endpoint(&mut plane.local_api_endpoint);
}

fn normal_endpoint(endpoint: &mut ApiEndpoint) {
    endpoint.bind_port = endpoint.bind_port.filter(|port| *port != 0);
    endpoint.advertise_address = endpoint.advertise_address.take().filter(|address| address != "0.0.0.0");
}

fn normal_node(node: &mut NodeRegistration) {
    node.cri_socket.get_or_insert_with(|| "unix:///run/containerd/containerd.sock".to_owned());
    // Both sides by the names of machineadm: one of its checks may be several of kubeadm's.
    let checks: BTreeSet<&str> = node.ignore_preflight_errors.iter().filter_map(|name| ours(name)).collect();
    node.ignore_preflight_errors = checks.into_iter().map(str::to_owned).collect();
    let labels = node.kubelet_extra_args.extract_if(.., |argument| argument.name == "node-labels");
    let labels: Vec<String> = labels.map(|argument| argument.value).collect();
    let labels: BTreeSet<&str> = labels.iter().flat_map(|value| value.split(',')).collect();
    if !labels.is_empty() {
        let value = labels.into_iter().collect::<Vec<_>>().join(",");
        node.kubelet_extra_args.push(hub::Arg { name: "node-labels".to_owned(), value, merge_method: None });
    }
}

/// Our name of a check; `None` for one that needs no tolerance.
fn ours(name: &str) -> Option<&str> {
    preflight_checks::named(name).map_or(Some(name), |check| check.ours)
}

/// What is not wanted is not said.
fn unless_false(flag: &mut Option<bool>) {
    *flag = flag.filter(|flag| *flag);
}

/// Arguments, phases and the usages of a token have no order.
fn sort(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                sort(member);
                let has_no_order = name.ends_with("xtraArgs") || ["skipPhases", "usages"].contains(&name.as_str());
                if let Some(items) = member.as_array_mut().filter(|_| has_no_order) {
                    items.sort_by_key(Value::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// Leaves out what says nothing: but an empty list of taints, and an empty control plane, say much.
fn prune(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(prune);
            members.retain(|name, member| match member {
                Value::Null => false,
                Value::Array(items) => !items.is_empty() || name == "taints",
                Value::Object(members) => !members.is_empty() || name == "controlPlane",
                _ => true,
            });
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(prune);
        }
        _ => {}
    }
}
