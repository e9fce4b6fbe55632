//! What a configuration file of kubeadm says of a node, in our own terms.
use crate::command_error::CommandError;
use documents::v1alpha1::{NodeTaint, TaintEffect};
use kubeadm::hub;
use std::collections::BTreeMap;

/// The flag of the kubelet that labels its node.
pub(super) const NODE_LABELS: &str = "node-labels";

/// The labels of a node by the arguments of its kubelet.
pub(super) fn labels(arguments: &[hub::Arg]) -> BTreeMap<String, String> {
    let given = arguments.iter().filter(|argument| argument.name == NODE_LABELS);
    let pairs = given.flat_map(|argument| argument.value.split(',')).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

/// A taint of a document of this kind.
pub(super) fn taint(kind: &str, taint: hub::Taint) -> Result<NodeTaint, CommandError> {
    let effect = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    let effect = effect.into_iter().find(|effect| taint.effect.as_deref() == Some(effect.name()));
    let unknown = || CommandError::invalid(format!("{kind}.nodeRegistration.taints: an effect is unknown"));
    Ok(NodeTaint {
        key: taint.key.unwrap_or_default(),
        value: taint.value.unwrap_or_default(),
        effect: effect.ok_or_else(unknown)?,
    })
}

/// The path of a socket that is written as an address.
pub(super) fn without_scheme(socket: &str) -> String {
    socket.strip_prefix("unix://").unwrap_or(socket).to_owned()
}
