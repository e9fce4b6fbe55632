//! A cluster on whole machines: its CA, its control plane, and how machineadm runs on each of them.
use std::{path::Path, process::Command, time::Duration};
use testbed::{Machine, Result, judges};

/// Where machines have machineadm.
pub(crate) const PROGRAM: &str = "/usr/bin/machineadm";
/// The bootstrap token of every worker.
pub(crate) const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
/// How long a machine may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(600);

/// Pods are reached through their node.
pub(crate) const FORWARDING: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec:
  parameters: {net.ipv4.ip_forward: 1}
---
";

/// The control plane's documents; its CA comes with them, so that its pin is known before it exists.
pub(crate) fn control_plane(ca: &Authority) -> String {
    let indented = |text: &str| text.replace('\n', "\n      ");
    format!(
        "{FORWARDING}apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
spec:
  files:
  - path: /etc/kubernetes/pki/ca.crt
    content: |
      {}
  - path: /etc/kubernetes/pki/ca.key
    mode: '0600'
    content: |
      {}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: v1.36.4
  podSubnets: [10.244.0.0/16]
  # Its one complaint on a host with control groups of version 1.
  toleratedChecks: [cgroups]
  kubelet:
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {{memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}}
    imageGCHighThresholdPercent: 100
  kubeProxy:
    conntrack: {{maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}}
",
        indented(ca.certificate.trim_end()),
        indented(ca.key.trim_end())
    )
}

/// A CA of a real openssl.
pub(crate) struct Authority {
    certificate: String,
    key: String,
    pub(crate) pin: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let (key, certificate) = (folder.path().join("ca.key"), folder.path().join("ca.crt"));
        let path = |path: &Path| path.display().to_string();
        let openssl = |script: &str| {
            let mut shell = Command::new("sh");
            judges::command("openssl").expect("openssl is there");
            let output = shell.args(["-ec", script]).output().expect("a shell");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text")
        };
        openssl(&format!(
            "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=kubernetes -days 30 -keyout {} -out {} \
             -addext keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign",
            path(&key),
            path(&certificate)
        ));
        let digest = openssl(&format!(
            "openssl x509 -pubkey -noout -in {} | openssl pkey -pubin -outform der | openssl dgst -sha256 -r",
            path(&certificate)
        ));
        let read = |path| std::fs::read_to_string(path).expect("a file");
        let pin = format!("sha256:{}", digest.split_whitespace().next().expect("a digest"));
        Self { certificate: read(&certificate), key: read(&key), pin }
    }
}

/// Installs machineadm on a machine.
pub(crate) fn with_program(machine: Machine) -> Result<Machine> {
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    Ok(machine)
}

/// Runs machineadm on a machine, which must succeed.
pub(crate) fn ends_well(machine: &Machine, words: &[&str]) -> Result<()> {
    let ran = machine.run_within(&[&[PROGRAM], words].concat(), LIMIT)?;
    let kubelet = || machine.shell("journalctl --no-pager --unit=kubelet --lines=30").unwrap_or_default();
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, kubelet());
    Ok(())
}
