//! Workers on whole machines: from user data to a Ready node, before the control plane exists and after a kill.
use std::{path::Path, process::Command, time::Duration};
use testbed::{Bed, Machine, Profile, Result, judges, until};

const PROGRAM: &str = "/usr/local/bin/machineadm";
const CONFIGURATION: &str = "/etc/machineadm/config.yaml";
const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const LIMIT: Duration = Duration::from_secs(600);

const FORWARDING: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec:
  parameters: {net.ipv4.ip_forward: 1}
---
";

/// The control plane's documents; its CA comes with them, so that its pin is known before it exists.
fn control_plane(ca: &Authority) -> String {
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
  ignoredChecks: [SystemVerification]
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

fn worker(endpoint: &str, ca: &Authority) -> String {
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
      caCertHashes: ['{}']
    timeout: 10m
  labels: {{example.com/rack: r7}}
  taints: [{{key: example.com/dedicated, value: tests, effect: PreferNoSchedule}}]
  ignoredChecks: [SystemVerification]
  kubelet: {{maxPods: 42}}
",
        ca.pin
    )
}

/// A CA of a real openssl.
struct Authority {
    certificate: String,
    key: String,
    pin: String,
}

impl Authority {
    fn new() -> Self {
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

fn with_program(machine: Machine) -> Result<Machine> {
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    Ok(machine)
}

/// cloud-init writes the configuration to disk and calls machineadm.
fn user_data(documents: &str) -> String {
    let content = documents.replace('\n', "\n    ");
    format!(
        "#cloud-config\nwrite_files:\n- path: {CONFIGURATION}\n  owner: root:root\n  permissions: '0600'\n  content: |\n    \
         {content}\nruncmd:\n- {PROGRAM} bootstrap -f {CONFIGURATION}\n"
    )
}

fn ends_well(machine: &Machine, words: &[&str]) -> Result<()> {
    let ran = machine.run_within(&[&[PROGRAM], words].concat(), LIMIT)?;
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    Ok(())
}

#[test]
fn workers_join_before_the_control_plane_exists_and_after_a_kill() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let endpoint = format!("{}:6443", first.address());
    // It boots, and waits for a cluster that is not there.
    let early = bed.machine("w1", &Profile::node().with_user_data(&user_data(&worker(&endpoint, &ca))))?;
    let early = with_program(early)?;
    early.power_on()?;

    first.boot()?;
    first.write(CONFIGURATION, control_plane(&ca), 0o600)?;
    until("w1 at discovery", LIMIT, || match early.run(&[PROGRAM, "status"]) {
        Ok(status) if status.stdout.contains("discovery") => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    ends_well(&first, &["bootstrap", "-f", CONFIGURATION])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;

    first.wait_for_nodes(&["cp", "w1"])?;
    until("w1's own success", LIMIT, || match early.run(&[PROGRAM, "status"]) {
        Ok(status) if status.code == 0 && status.stdout.starts_with("w1  SUCCEEDED") => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let node = first.kubectl_json(&["get", "node", "w1"])?;
    assert_eq!(node["metadata"]["labels"]["example.com/rack"], "r7", "{node}");
    assert_eq!(node["status"]["capacity"]["pods"], "42", "the kubelet's own setting: {node}");
    let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    assert!(
        taints.iter().any(|taint| taint["key"] == "example.com/dedicated" && taint["value"] == "tests"),
        "{taints:?}"
    );
    nothing_is_left(&early)?;
    let plan = early.run(&[PROGRAM, "plan", "-f", CONFIGURATION, "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");

    // A second one, by kubeadm's flags, is killed in the middle.
    let second = with_program(bed.machine("w2", &Profile::node())?)?;
    second.boot()?;
    second.write("/srv/token", TOKEN, 0o600)?;
    second.shell("sysctl -w net.ipv4.ip_forward=1")?;
    let join = format!(
        "{PROGRAM} join {endpoint} --token-file /srv/token --discovery-token-ca-cert-hash {} \
         --ignore-preflight-errors SystemVerification",
        ca.pin
    );
    second.shell(&format!("systemd-run --unit=joining {join}"))?;
    until("the middle of kubeadm join", LIMIT, || {
        let seen = second.shell("test -e /etc/kubernetes/bootstrap-kubelet.conf && kill -9 $(pgrep -o -x machineadm)");
        seen.map_err(|error| error.to_string())
    })?;
    until("kubeadm's end with machineadm's", LIMIT, || match second.run(&["pgrep", "-x", "kubeadm"]) {
        Ok(output) if output.code == 1 => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let status = second.run(&[PROGRAM, "status"])?;
    assert!(status.stdout.starts_with("w2  INTERRUPTED at JoinConfig"), "{status:?}");
    ends_well(&second, &["bootstrap"])?;
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    nothing_is_left(&second)?;

    early.kill()?;
    early.boot()?;
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    bed.down()
}

/// kubeadm's files with the token are gone.
fn nothing_is_left(machine: &Machine) -> Result<()> {
    let files =
        ["/run/machineadm/discovery.conf", "/run/machineadm/kubeadm.yaml", "/etc/kubernetes/bootstrap-kubelet.conf"];
    for gone in files {
        assert_ne!(machine.run(&["test", "-e", gone])?.code, 0, "{gone} is still there");
    }
    Ok(())
}
