//! The Node objects of a control plane.
use cluster::{ApiServer, Deleted, Effect, Listed, Precondition};
use etcd::Member;
use objects::one_line;
use serde::Deserialize;
use std::collections::BTreeMap;

const NODES: &str = "/api/v1/nodes";
const LABEL: &str = "node-role.kubernetes.io/control-plane";

/// A Node object, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) readiness: Readiness,
    pub(super) role: NodeRole,
    /// Its addresses.
    pub(super) addresses: Vec<String>,
}

/// What the cluster thinks of its kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    NotReady,
}

impl Readiness {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::NotReady => "NotReady",
        }
    }
}

/// What its labels say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeRole {
    ControlPlane,
    Worker,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
    #[serde(default)]
    addresses: Vec<Address>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Deserialize)]
struct Address {
    address: String,
}

impl From<Object> for Node {
    fn from(Object { metadata, status }: Object) -> Self {
        let Metadata { name, uid, labels } = metadata;
        let is_ready = status.conditions.iter().any(|found| found.kind == "Ready" && found.status == "True");
        Self {
            name: one_line(&name),
            uid,
            readiness: if is_ready { Readiness::Ready } else { Readiness::NotReady },
            role: if labels.contains_key(LABEL) { NodeRole::ControlPlane } else { NodeRole::Worker },
            addresses: status.addresses.iter().map(|found| one_line(&found.address)).collect(),
        }
    }
}

impl Node {
    /// All control plane nodes, and those of these members, which may lack the label.
    pub(super) fn all(server: &ApiServer, members: &[Member]) -> cluster::Result<Vec<Self>> {
        let mut nodes: Vec<Self> = Vec::new();
        server.list::<Object>(NODES, &[("labelSelector", LABEL)], &mut |listed| match listed {
            Listed::Restarted => nodes.clear(),
            Listed::Item(object) => nodes.push(object.into()),
        })?;
        for Member { name, .. } in members {
            if !nodes.iter().any(|node| node.name == *name) {
                nodes.extend(Self::named(server, name)?);
            }
        }
        Ok(nodes)
    }

    /// The one of this name.
    pub(super) fn named(server: &ApiServer, name: &str) -> cluster::Result<Option<Self>> {
        if !is_name(name) {
            return Ok(None);
        }
        let object = server.get(&format!("{NODES}/{name}"))?;
        Ok(object.and_then(|object| Object::deserialize(object).ok()).map(Self::from))
    }

    /// Deletes this very object: one that registered anew stays.
    pub(super) fn delete(&self, server: &ApiServer) -> cluster::Result<Deleted> {
        let only_if = Precondition { uid: Some(self.uid.clone()), resource_version: None };
        server.delete(&format!("{NODES}/{}", self.name), &only_if, Effect::Real)
    }
}

/// Whether a Node can have this name: a DNS subdomain. What etcd calls a member may be anything.
fn is_name(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, b'-' | b'.');
    let is_end = |letter: Option<&u8>| letter.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    bytes.len() <= 253 && bytes.iter().copied().all(fits) && is_end(bytes.first()) && is_end(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_node_is_read_as_far_as_it_matters() {
        let object = json!({
            "metadata": {"name": "cp2", "uid": "u", "labels": {LABEL: ""}},
            "status": {
                "conditions": [{"type": "DiskPressure", "status": "True"}, {"type": "Ready", "status": "Unknown"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.2"}, {"type": "Hostname", "address": "cp2"}],
            },
        });
        let node = Node::from(Object::deserialize(object).unwrap());
        assert_eq!(
            (node.name.as_str(), node.readiness, node.role),
            ("cp2", Readiness::NotReady, NodeRole::ControlPlane)
        );
        assert_eq!(node.addresses, ["10.0.0.2", "cp2"]);
        let bare = Node::from(Object::deserialize(json!({"metadata": {"name": "w1"}})).unwrap());
        assert_eq!((bare.readiness, bare.role), (Readiness::NotReady, NodeRole::Worker));
    }

    #[test]
    fn what_no_node_can_be_called_is_not_asked_for() {
        for name in ["cp1", "cp-1.example.com", "1"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "https://10.0.0.2:2380", "../secrets", "cp1?x", "cp 1", "CP1", "-cp1", "cp1.", "cp\u{1b}"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
