//! `machineadm config import --from-cluster`: the ConfigMaps that a real kubeadm wrote into a real API server.
use crate::support::{import::import, run_output::RunOutput};
use serde_json::Value;
use std::{path::Path, process::Command};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
};

const CONFIGURATION: &str = "\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 192.168.0.10}
nodeRegistration: {name: cp-1, criSocket: 'unix:///run/none.sock'}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.4
clusterName: live
controlPlaneEndpoint: api.example.com:6443
networking: {podSubnet: 10.244.0.0/16}
apiServer: {extraArgs: [{name: audit-log-maxage, value: '7'}]}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 42
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
";

#[test]
fn the_config_maps_of_a_real_kubeadm_become_a_valid_init_config() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    let kubeconfig = plane.kubeconfig().display().to_string();
    let words = ["--from-cluster", "--kubeconfig", &kubeconfig];

    let none = import(&words, "");
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{}", none.stderr);
    assert!(none.stderr.contains("no ConfigMap kube-system/kubeadm-config"), "{}", none.stderr);

    phase(&plane, &["upload-config", "kubeadm"], scratch.path())?;
    let alone = import(&words, "");
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    for name in ["kubelet-config", "kube-proxy"] {
        let warning = format!("warning: the ConfigMap kube-system/{name} was not read");
        assert!(alone.stderr.contains(&warning), "{}", alone.stderr);
    }

    let node = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "cp-1", "labels": {"kubernetes.io/hostname": "cp-1"}}}"#;
    std::fs::write(scratch.path().join("node.json"), node).expect("a file");
    plane.kubectl(&["create", "-f", &scratch.path().join("node.json").display().to_string()])?;
    phase(&plane, &["upload-config", "kubelet"], scratch.path())?;
    phase(&plane, &["addon", "kube-proxy"], scratch.path())?;
    let ran = import(&words, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("note: the cluster stores no settings of single nodes: add nodeName"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let spec = kubeadm::parse_yaml(&ran.stdout).expect("YAML")["spec"].take();
    let said = |path: &str| spec.pointer(path).cloned().unwrap_or_default();
    for (path, value) in [
        ("/kubernetesVersion", "v1.36.4"),
        ("/clusterName", "live"),
        ("/controlPlaneEndpoint", "api.example.com:6443"),
        ("/podSubnets/0", "10.244.0.0/16"),
        ("/apiServer/arguments/audit-log-maxage", "7"),
        ("/kubeProxy/mode", "nftables"),
    ] {
        assert_eq!(said(path), Value::from(value), "{path}: {}", ran.stdout);
    }
    assert_eq!(said("/kubelet/maxPods"), Value::from(42), "{}", ran.stdout);

    let file = scratch.path().join("node.yaml");
    std::fs::write(&file, &ran.stdout).expect("a file");
    let mut validate = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    let validated = RunOutput::of(validate.args(["validate", "-f"]).arg(&file).output().expect("it starts"));
    assert_eq!(validated.code, Some(0), "{}{}", validated.stdout, validated.stderr);
    Ok(())
}

/// One phase of the real `kubeadm init`.
fn phase(plane: &ControlPlane, words: &[&str], scratch: &Path) -> Result<()> {
    let file = scratch.join("kubeadm.yaml");
    std::fs::write(&file, CONFIGURATION).expect("a file");
    let mut kubeadm = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
    kubeadm.args(["init", "phase"]).args(words).arg("--config").arg(file).arg("--kubeconfig").arg(plane.kubeconfig());
    let output = kubeadm.output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
    Ok(())
}
