//! A machine boots with nothing but a NoCloud seed and becomes a node: real cloud-init, real kubeadm, whole machines.
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use std::{io::Write, time::Duration};
use testbed::{Bed, Machine, Profile, Result, until};

const PROGRAM: &str = "/usr/bin/machineadm";
const CONFIGURATION: &str = "/run/machineadm/config.yaml";
const SAVED: &str = "/var/lib/machineadm/configuration.yaml";
const KUBEADM_FILE: &str = "/run/machineadm/kubeadm.yaml";
const SUCCESS: &str = "/run/cluster-api/bootstrap-success.complete";
/// Stands where a kubelet's configuration may hold a credential.
const CANARY: &str = "canary-of-an-init-4c1e";
/// The certificate key of the cluster.
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";

const DOCUMENTS: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec:
  parameters: {net.ipv4.ip_forward: 1}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
spec:
  files:
  - {path: /etc/motd, content: 'Managed by machineadm.'}
  # `kubeadm reset` removes whatever lies there.
  - {path: /etc/kubernetes/pki/users-own.pem, content: kept}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: v1.36.4
  podSubnets: [10.244.0.0/16]
  certificateKey: e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204
  # Its one complaint on a host with control groups of version 1.
  toleratedChecks: [cgroups]
  kubelet:
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
    imageGCHighThresholdPercent: 100
    staticPodURLHeader: {X-Token: [canary-of-an-init-4c1e]}
  kubeProxy:
    conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: CommandsConfig
spec:
  commands:
  - name: greeted
    argv: [kubectl, --kubeconfig=/etc/kubernetes/admin.conf, -n, default, create, configmap, greeted]
    unless: kubectl --kubeconfig=/etc/kubernetes/admin.conf -n default get configmap greeted
";

/// The specification's own template, with its path and mode made root's alone.
fn user_data() -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(DOCUMENTS.as_bytes()).expect("memory takes it");
    let content = BASE64_STANDARD.encode(gzip.finish().expect("memory takes it"));
    format!(
        "#cloud-config\nwrite_files:\n- encoding: gz+b64\n  content: {content}\n  owner: root:root\n  path: {CONFIGURATION}\n  \
         permissions: '0600'\nruncmd:\n- {PROGRAM} --bootstrap --path {CONFIGURATION}\n"
    )
}

fn seeded(bed: &Bed) -> Result<Machine> {
    let machine = bed.machine("node-7", &Profile::node().with_user_data(&user_data()))?;
    let program = machineadm_benches::machine_program().expect("the static program");
    machine.copy_in(&program, PROGRAM)?;
    Ok(machine)
}

/// What cloud-init says of itself once it is through.
fn cloud_init_ends(machine: &Machine) -> Result<String> {
    until("cloud-init's end", Duration::from_secs(600), || {
        let status = machine.run(&["cloud-init", "status", "--long"]).map_err(|error| error.to_string())?;
        let is_over = status.stdout.contains("status: done") || status.stdout.contains("status: error");
        if is_over { Ok(status.stdout) } else { Err(format!("{status:?}")) }
    })
}

fn is_a_node_and_says_so(machine: &Machine) -> Result<()> {
    machine.wait_for_nodes(&["node-7"])?;
    assert_eq!(machine.read(SUCCESS)?, "success\n");
    let status = machine.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with("node-7  SUCCEEDED"), "{status}");
    assert!(status.contains("InitConfig") && status.contains("kubeadm init ran"), "{status}");
    assert_eq!(machine.read("/etc/motd")?, "Managed by machineadm.");
    assert_eq!(machine.read("/etc/kubernetes/pki/users-own.pem")?, "kept");
    machine.kubectl(&["-n", "default", "get", "configmap", "greeted"])?;
    certificates_are_uploaded(machine)?;
    for gone in [KUBEADM_FILE, SAVED] {
        assert_ne!(machine.run(&["test", "-e", gone])?.code, 0, "{gone} is still there");
    }
    let plan = machine.run(&[PROGRAM, "plan", "-f", CONFIGURATION, "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");
    Ok(())
}

/// The cluster has the machine's own keys, encrypted with the key of the configuration.
fn certificates_are_uploaded(machine: &Machine) -> Result<()> {
    let listed = machine.check(&[PROGRAM, "certs", "list", "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    assert!(listed.contains("ca.key") && listed.contains("etcd-ca.key"), "{listed}");
    let secret = ["-n", "kube-system", "get", "secret", "kubeadm-certs", "-o", "jsonpath={.data.ca\\.key}"];
    let entry = BASE64_STANDARD.decode(machine.kubectl(&secret)?).expect("base64");
    let decrypted = certs::entry::decrypt(&KEY.parse().expect("a key"), &entry).expect("its key decrypts it");
    assert_eq!(String::from_utf8_lossy(decrypted.expose()), machine.read("/etc/kubernetes/pki/ca.key")?);
    Ok(())
}

#[test]
fn a_seeded_machine_becomes_a_ready_node_and_survives_a_power_cut() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = seeded(&bed)?;
    machine.power_on()?;
    let done = cloud_init_ends(&machine)?;
    assert!(done.contains("status: done"), "{done}\n{}", machine.read("/var/log/cloud-init-output.log")?);
    machine.judged("cloud-init")?;
    let log = machine.read("/var/log/cloud-init-output.log")?;
    assert!(log.contains("anyone who has this certificate key and can read the Secret"), "the risk is stated: {log}");
    assert_eq!(machine.read(CONFIGURATION)?, DOCUMENTS, "cloud-init decoded and decompressed it");
    assert_eq!(machine.check(&["stat", "-c", "%a %U:%G", CONFIGURATION])?, "600 root:root\n");
    is_a_node_and_says_so(&machine)?;

    machine.kill()?;
    machine.boot()?;
    machine.wait_for_nodes(&["node-7"])?;
    machine.write(CONFIGURATION, DOCUMENTS, 0o600)?;
    let again = machine.run_within(&[PROGRAM, "bootstrap", "-f", CONFIGURATION], Duration::from_secs(300))?;
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stdout.contains("nothing to do"), "{again:?}");
    assert_eq!(machine.read(SUCCESS)?, "success\n");
    bed.down()
}

#[test]
fn a_bootstrap_killed_in_the_middle_of_kubeadm_is_finished_by_a_second_run() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = seeded(&bed)?;
    machine.power_on()?;
    until("the middle of kubeadm init", Duration::from_secs(300), || {
        match machine.shell("test -e /etc/kubernetes/manifests/kube-apiserver.yaml && pgrep -o -x machineadm") {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })?;
    machine.shell("kill -9 $(pgrep -o -x machineadm)")?;
    until("kubeadm's end with machineadm's", Duration::from_secs(30), || {
        match machine.run(&["pgrep", "-x", "kubeadm"]) {
            Ok(output) if output.code == 1 => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })?;
    let done = cloud_init_ends(&machine)?;
    assert!(done.contains("status: error"), "cloud-init took the kill for a success: {done}");
    let status = machine.run(&[PROGRAM, "status"])?;
    assert_eq!(status.code, 1, "{status:?}");
    assert!(status.stdout.starts_with("node-7  INTERRUPTED at InitConfig"), "{status:?}");
    assert_ne!(machine.run(&["test", "-e", SUCCESS])?.code, 0);

    assert!(holders(&machine)?.contains(&KUBEADM_FILE.to_owned()), "the kill came too early or too late");

    let plan = machine.run_within(&[PROGRAM, "plan", "-f", CONFIGURATION], Duration::from_secs(300))?;
    assert!(plan.stdout.contains("again: its first run was interrupted"), "{plan:?}");
    let second = machine.run_within(&[PROGRAM, "bootstrap"], Duration::from_secs(900))?;
    assert_eq!(second.code, 0, "{second:?}");
    is_a_node_and_says_so(&machine)?;
    let of_kubeadm = |file: &String| KUBEADMS_OWN.iter().any(|own| file.starts_with(own));
    let others: Vec<String> = holders(&machine)?.into_iter().filter(|file| !of_kubeadm(file)).collect();
    assert_eq!(others, [CONFIGURATION], "a file besides the given configuration and kubeadm's own holds a secret");
    bed.down()
}

#[test]
fn a_kubeadm_init_that_fails_leaves_no_file_with_a_secret() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = bed.machine("node-7", &Profile::node())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    // kubeadm reads it only after its own preflight.
    machine.write("/etc/kubernetes/pki/ca.crt", "no certificate", 0o644)?;
    machine.write(CONFIGURATION, DOCUMENTS, 0o600)?;
    let run = machine.run_within(&[PROGRAM, "bootstrap", "-f", CONFIGURATION], Duration::from_secs(900))?;
    assert_eq!(run.code, 1, "{run:?}");
    let status = machine.run(&[PROGRAM, "status"])?;
    assert!(status.stdout.starts_with("node-7  FAILED at InitConfig"), "{status:?}");
    assert!(status.stdout.contains("/etc/kubernetes/pki/ca.crt"), "{status:?}");
    assert_eq!(holders(&machine)?, [CONFIGURATION, SAVED]);
    bed.down()
}

/// Where kubeadm itself puts the kubelet's configuration: on the node, and in the cluster, whose disk is etcd's.
const KUBEADMS_OWN: [&str; 2] = ["/var/lib/kubelet/config.yaml", "/var/lib/etcd/member/"];

/// Every file of the machine that holds the canary, wherever it is.
fn holders(machine: &Machine) -> Result<Vec<String>> {
    // The images are the test bed's and can't be written; a device may never end.
    let left_out = ["/proc", "/sys", "/dev", "/opt/images"].map(|path| format!("-path {path}")).join(" -o ");
    let files = format!(r"find / /dev/shm \( {left_out} \) -prune -o -type f -print0");
    // Some files end while they are searched; a search that sees nothing at all misses the configuration.
    let found = machine.shell(&format!("{files} | xargs -0 grep -lsF -e {CANARY} -e {KEY} || true"))?;
    let mut found: Vec<String> = found.lines().map(str::to_owned).collect();
    found.sort();
    Ok(found)
}
