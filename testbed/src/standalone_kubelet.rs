//! A kubelet without a cluster, which runs static pods.
use crate::{Machine, Result};

/// Where it finds its pods.
const PODS: &str = "/srv/pods";
const CONFIGURATION: &str = "/srv/kubelet.yaml";
/// The host has control groups of version 1, and its disk says nothing about the machine.
const SETTINGS: &str = "
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
enableServer: false
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
staticPodPath: /srv/pods
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
";

impl Machine {
    /// Starts a kubelet that runs this pod, as the unit `standalone`.
    pub fn run_static_pod(&self, name: &str, pod: &str) -> Result<()> {
        self.write(&format!("{PODS}/{name}.yaml"), pod, 0o644)?;
        self.write(CONFIGURATION, SETTINGS, 0o644)?;
        let start = format!("systemctl stop kubelet; systemd-run --unit=standalone kubelet --config {CONFIGURATION}");
        self.shell(&start).map(drop)
    }
}
