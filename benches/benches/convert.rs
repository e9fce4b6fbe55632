//! 1,000 kubeadm files converted by one `machineadm config convert`, beside `kubeadm config migrate` of one file each.
use machineadm_benches::{Cost, cost, static_machineadm};
use std::{fs, path::Path};
use testbed::programs::KUBERNETES;

const MEASURE: &str = env!("CARGO_BIN_EXE_measure");
const FILES: u32 = 1000;
/// kubeadm does one file per run.
const RUNS: u32 = FILES;

fn main() -> Result<(), String> {
    let machineadm = static_machineadm()?;
    let kubeadm = KUBERNETES.ensure().map_err(|error| error.to_string())?.path("kubeadm");
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = scratch.path().join("files");
    fs::create_dir(&folder).map_err(|error| error.to_string())?;
    for number in 0..FILES {
        let file = folder.join(format!("{number:04}.yaml"));
        fs::write(file, configuration(number)).map_err(|error| error.to_string())?;
    }
    let (folder, file) = (folder.display().to_string(), folder.join("0000.yaml").display().to_string());
    let into = scratch.path().join("migrated.yaml").display().to_string();

    let ours = ["config", "convert", "--kubernetes-version", "1.36.4", "-f", &folder];
    let ours = done(cost(MEASURE, 5, &machineadm, &ours)?)?;
    let ours_per_file = ours.cpu_ms / f64::from(FILES);
    // In a network namespace of its own: kubeadm must not ask the internet for anything.
    let kubeadm = kubeadm.display().to_string();
    let theirs = ["-n", &kubeadm, "config", "migrate", "--old-config", &file, "--new-config", &into];
    let theirs = done(cost(MEASURE, RUNS, Path::new("/usr/bin/unshare"), &theirs)?)?;

    println!("| conversion v1beta3 → v1beta4 | CPU per file | peak memory | CPU, times ours |\n|---|---|---|---|");
    let row = |name: &str, per_file: f64, cost: &Cost| {
        println!("| {name} | {per_file:.3} ms | {:.1} MB | {:.0} |", cost.peak_mb, per_file / ours_per_file);
    };
    row(&format!("machineadm config convert, {FILES} files in one run"), ours_per_file, &ours);
    row(&format!("kubeadm 1.36.4 config migrate, {RUNS} runs"), theirs.cpu_ms, &theirs);
    println!("\ntarget: at least 100 times less");
    Ok(())
}

/// A rich file, as a user of Kubernetes 1.30 would have it.
fn configuration(number: u32) -> String {
    format!(
        "apiVersion: kubeadm.k8s.io/v1beta3
kind: InitConfiguration
bootstrapTokens:
- token: abcdef.0123456789abcdef
  ttl: 12h0m0s
  usages: [signing, authentication]
localAPIEndpoint: {{advertiseAddress: 192.168.0.10, bindPort: 6443}}
nodeRegistration:
  name: cp-{number}
  criSocket: unix:///run/containerd/containerd.sock
  kubeletExtraArgs: {{node-labels: 'a=b', v: '2'}}
  ignorePreflightErrors: [NumCPU, Mem]
  taints: []
skipPhases: [show-join-command]
---
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
kubernetesVersion: v1.36.4
clusterName: cluster-{number}
controlPlaneEndpoint: cp.example.com:6443
networking: {{serviceSubnet: 10.96.0.0/12, podSubnet: 10.244.0.0/16, dnsDomain: cluster.local}}
apiServer:
  certSANs: [10.0.0.1, api.example.com]
  extraArgs: {{authorization-mode: 'Node,RBAC', audit-log-maxage: '30'}}
  extraVolumes:
  - {{name: audit, hostPath: /var/log/audit, mountPath: /var/log/audit, pathType: DirectoryOrCreate}}
  timeoutForControlPlane: 6m0s
controllerManager:
  extraArgs: {{bind-address: 0.0.0.0}}
etcd:
  local: {{dataDir: /var/lib/etcd, extraArgs: {{quota-backend-bytes: '8589934592'}}}}
"
    )
}

/// A conversion that fails measures nothing.
fn done(cost: Cost) -> Result<Cost, String> {
    if cost.exit == Some(0) { Ok(cost) } else { Err(format!("a conversion failed: exit code {:?}", cost.exit)) }
}
