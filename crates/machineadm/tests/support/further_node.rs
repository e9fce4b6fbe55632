//! A further control plane node on a whole machine: its documents.
use crate::support::cluster::{Authority, FORWARDING, TOKEN};
use crate::support::control_plane::KEY;

/// A further control plane node's documents.
pub(crate) fn further(endpoint: &str, ca: &Authority) -> String {
    format!(
        "{FORWARDING}apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
metadata: {{name: control-plane}}
spec:
  kubernetesVersion: v1.36.4
  discovery:
    token:
      endpoints: ['{endpoint}']
      token: {TOKEN}
      caPins: ['{}']
  controlPlane:
    certificateKey: {KEY}
  toleratedChecks: [cgroups]
  timeouts: {{etcd: 5s}}
",
        ca.pin
    )
}
