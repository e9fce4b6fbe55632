//! How long kubeadm waits for the parts of a node.
use super::duration;
use crate::findings::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the parts of a control plane node may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitTimeouts {
    /// For the kubelet to be healthy. Default: `4m`. Requires Kubernetes 1.31 or newer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<String>,
    /// For the components of the control plane to be healthy. Default: `4m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<String>,
}

/// How long the parts of a joining node may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JoinTimeouts {
    /// For the kubelet to be healthy. Default: `4m`. Requires Kubernetes 1.31 or newer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<String>,
    /// For the kubelet to get its certificate. Default: `5m`. Requires Kubernetes 1.31 or newer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// For the components of the control plane to be healthy. Default: `4m`. Only with `controlPlane`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<String>,
    /// For etcd to accept a member: another control plane node may join at the same time, or restart. Default: `1m`. Only
    /// with `controlPlane`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<String>,
}

/// The same, read: what is not set is kubeadm's to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTimeouts {
    /// For the kubelet.
    pub kubelet: Option<Duration>,
    /// For the components of the control plane.
    pub control_plane: Option<Duration>,
    /// For the kubelet's certificate.
    pub certificate: Option<Duration>,
    /// For etcd to accept a member.
    pub etcd: Option<Duration>,
}

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl InitTimeouts {
    pub(super) fn read(&self, findings: &mut Findings<'_>) -> NodeTimeouts {
        NodeTimeouts {
            kubelet: timeout("spec.timeouts.kubelet", self.kubelet.as_deref(), findings),
            control_plane: timeout("spec.timeouts.controlPlane", self.control_plane.as_deref(), findings),
            certificate: None,
            etcd: None,
        }
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl JoinTimeouts {
    pub(super) fn read(&self, findings: &mut Findings<'_>) -> NodeTimeouts {
        NodeTimeouts {
            kubelet: timeout("spec.timeouts.kubelet", self.kubelet.as_deref(), findings),
            control_plane: timeout("spec.timeouts.controlPlane", self.control_plane.as_deref(), findings),
            certificate: timeout("spec.timeouts.certificate", self.certificate.as_deref(), findings),
            etcd: timeout("spec.timeouts.etcd", self.etcd.as_deref(), findings),
        }
    }

    /// A worker waits for none of these.
    pub(super) fn refuse_control_plane(&self, findings: &mut Findings<'_>) {
        for (here, given) in [("controlPlane", &self.control_plane), ("etcd", &self.etcd)] {
            if given.is_some() {
                findings.error(&format!("spec.timeouts.{here}"), "is allowed only with `controlPlane`");
            }
        }
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn timeout(here: &str, text: Option<&str>, findings: &mut Findings<'_>) -> Option<Duration> {
    let parsed = duration::parse(text?).ok().filter(|timeout| (SHORTEST..=LONGEST).contains(timeout));
    if parsed.is_none() {
        findings.error(here, "must be a duration from 1s to 24h, such as `90s` or `10m`");
    }
    parsed
}
