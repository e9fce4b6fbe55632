//! A NodeRegistration: what an InitConfig and a JoinConfig both say of their node.
use crate::{
    report::ImportReport,
    tolerated_checks::ToleratedChecks,
    values::{node_name, non_empty, socket_path},
};
use documents::v1alpha1::{ImagePull, NodeTaint, PreflightCheck, TaintEffect};
use kubeadm::{Time, hub};
use std::collections::BTreeMap;

/// The flag of the kubelet that labels its node.
const NODE_LABELS: &str = "node-labels";
/// The flag of the kubelet with the addresses of its node.
const NODE_IP: &str = "node-ip";

/// What both documents say of the node.
pub(crate) struct NodeSettings {
    pub(crate) name: Option<String>,
    /// As a path.
    pub(crate) runtime_socket: Option<String>,
    /// Unset is not the same as none.
    pub(crate) taints: Option<Vec<NodeTaint>>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) addresses: Vec<String>,
    pub(crate) tolerated_checks: Vec<PreflightCheck>,
    pub(crate) image_pull: ImagePull,
}

/// The node of a document of this kind of kubeadm's.
pub(crate) fn node_settings(kind: &str, given: hub::NodeRegistration, report: &mut ImportReport) -> NodeSettings {
    let hub::NodeRegistration {
        name,
        cri_socket,
        taints,
        kubelet_extra_args,
        ignore_preflight_errors,
        image_pull_policy,
        image_pull_serial,
    } = given;
    let here = |field: &str| format!("{kind}.nodeRegistration.{field}");
    report.unsupported_if_set(here("imagePullSerial"), image_pull_serial.filter(|serial| !serial));
    let taints = taints.map(|given| {
        let taints = given.into_iter().enumerate();
        taints.filter_map(|(index, given)| taint(&here(&format!("taints[{index}]")), given, report)).collect()
    });
    let KubeletFlags { labels, addresses } = kubelet_flags(&here("kubeletExtraArgs"), kubelet_extra_args, report);
    NodeSettings {
        name: node_name(name),
        runtime_socket: non_empty(cri_socket).as_deref().map(socket_path),
        taints,
        labels,
        addresses,
        tolerated_checks: tolerated_checks(&here("ignorePreflightErrors"), &ignore_preflight_errors, report),
        image_pull: image_pull(here("imagePullPolicy"), image_pull_policy, report),
    }
}

fn taint(here: &str, given: hub::Taint, report: &mut ImportReport) -> Option<NodeTaint> {
    let hub::Taint { key, value, effect, time_added } = given;
    let effects = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    let named = effects.into_iter().find(|known| effect.as_deref() == Some(known.name()));
    let (key, value) = (key.unwrap_or_default(), value.unwrap_or_default());
    let Some(named) = named else {
        let text = format!("{key}={value}:{}", effect.unwrap_or_default());
        report.refused(here, text, "its effect must be NoSchedule, PreferNoSchedule or NoExecute");
        return None;
    };
    report.unsupported_if_set(format!("{here}.timeAdded"), time_added.map(Time::timestamp));
    Some(NodeTaint { key, value, effect: named })
}

/// What the flags of a kubelet say of its node.
#[derive(Default)]
struct KubeletFlags {
    labels: BTreeMap<String, String>,
    addresses: Vec<String>,
}

fn kubelet_flags(here: &str, given: Vec<hub::Arg>, report: &mut ImportReport) -> KubeletFlags {
    let mut flags = KubeletFlags::default();
    for hub::Arg { name, value, merge_method } in given {
        let path = format!("{here}[{name}]");
        match name.as_str() {
            _ if non_empty(merge_method).is_some() => report.unsupported(path, value),
            // A kubelet adds up the labels of a flag that is repeated.
            NODE_LABELS => flags.labels.extend(labels(&value)),
            NODE_IP => {
                if !flags.addresses.is_empty() {
                    // The kubelet takes the last one.
                    report.note(path, "is repeated: the last one counts");
                }
                flags.addresses = listed(&value).map(str::to_owned).collect();
            }
            _ => report.unsupported(path, value),
        }
    }
    flags
}

fn labels(value: &str) -> impl Iterator<Item = (String, String)> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key.trim().to_owned(), value.trim().to_owned())
    };
    listed(value).map(pair)
}

/// The parts of a list with commas.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn tolerated_checks(here: &str, names: &[String], report: &mut ImportReport) -> Vec<PreflightCheck> {
    let ToleratedChecks { checks, only_kubeadms, unknown } = ToleratedChecks::read(names);
    for name in only_kubeadms {
        let text = "is not needed: machineadm has no such check, and kubeadm only warns";
        report.note(format!("{here}[{name}]"), text);
    }
    for check in unknown {
        report.refused(format!("{here}[{}]", check.name), check.name, check.why);
    }
    checks
}

fn image_pull(here: String, policy: Option<String>, report: &mut ImportReport) -> ImagePull {
    let Some(policy) = non_empty(policy) else { return ImagePull::default() };
    let policies = [ImagePull::IfNotPresent, ImagePull::Always, ImagePull::Never];
    let known = policies.into_iter().find(|known| known.name() == policy);
    known.unwrap_or_else(|| {
        report.refused(here, policy, "must be Always, IfNotPresent or Never");
        ImagePull::default()
    })
}
