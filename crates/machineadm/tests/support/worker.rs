//! A worker on a whole machine: its documents, and what a join must not leave.
use crate::support::cluster::{Authority, FORWARDING, TOKEN};
use testbed::{Machine, Result};

/// A worker's documents.
pub(crate) fn worker(endpoint: &str, ca: &Authority) -> String {
    format!(
        "{FORWARDING}apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
metadata: {{name: worker}}
spec:
  kubernetesVersion: v1.36.4
  discovery:
    token:
      endpoints: ['{endpoint}']
      token: {TOKEN}
      caPins: ['{}']
    timeout: 10m
  labels: {{example.com/rack: r7}}
  taints: [{{key: example.com/dedicated, value: tests, effect: PreferNoSchedule}}]
  toleratedChecks: [cgroups]
  kubelet: {{maxPods: 42}}
",
        ca.pin
    )
}

/// kubeadm's files with the token are gone.
pub(crate) fn nothing_is_left(machine: &Machine) -> Result<()> {
    let files =
        ["/run/machineadm/discovery.conf", "/run/machineadm/kubeadm.yaml", "/etc/kubernetes/bootstrap-kubelet.conf"];
    for gone in files {
        assert_ne!(machine.run(&["test", "-e", gone])?.code, 0, "{gone} is still there");
    }
    Ok(())
}
