//! The ways of a control plane node into a cluster: in a cluster of bare kubeadm's by the flags of kubeadm's users, and bare
//! kubeadm in a cluster of ours, by what `init` prints; what is in the way is named, and nothing is started.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{KEY, etcd, members, serves, voters};
use crate::support::first_node::first_with_token;
use crate::support::further_node::further;
use host::contract::DELIVERED;
use testbed::{Bed, Machine, Output, Profile, Result, kubeadm};

/// Its one complaint on a host with control groups of version 1.
const TOLERATED: &str = "--ignore-preflight-errors=SystemVerification";
/// A file that static pods of the cluster mount.
const MOUNTED: &str = "/etc/audit-policy.yaml";

/// Reads the arguments of all processes as often as the machine can, until the run has ended.
const SAMPLER: &str = "#!/bin/sh
exec > /srv/arguments 2> /dev/null
while test -e /srv/joining; do
    for process in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $process; echo; done
done
";

/// Everything of kubeadm and etcd on a machine.
fn kubernetes(machine: &Machine) -> Result<String> {
    machine.shell("find /etc/kubernetes /var/lib/etcd /var/lib/kubelet -type f | sort")
}

/// `machineadm join --control-plane`, with the certificate key on standard input, while every process's arguments are
/// read; gives the run, and the arguments that held the key.
fn join(machine: &Machine, words: &str, key: &str) -> Result<(Output, String)> {
    machine.write("/srv/key", key, 0o600)?;
    machine.write("/srv/sampler", SAMPLER, 0o755)?;
    machine.shell("touch /srv/joining; systemd-run --quiet --unit=sampler /srv/sampler")?;
    let script = format!("{PROGRAM} join {words} --control-plane --certificate-key-file - {TOLERATED} < /srv/key");
    let ran = machine.run_within(&["sh", "-c", &script], LIMIT)?;
    machine.shell("rm /srv/joining; while systemctl is-active --quiet sampler; do sleep 0.1; done")?;
    let held = machine.shell(&format!("grep -cF {key} /srv/arguments || true"))?;
    machine.shell("systemctl reset-failed sampler 2>/dev/null || true")?;
    Ok((ran, held.trim().to_owned()))
}

#[test]
fn a_control_plane_node_joins_a_bare_kubeadms_cluster_once_nothing_is_in_the_way() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let [first, second] = ["cp1", "cp2"].map(|name| with_program(bed.machine(name, &Profile::node())?));
    let (first, second) = (first?, second?);
    first.boot()?;
    second.boot()?;
    second.shell("sysctl -w net.ipv4.ip_forward=1")?;
    let policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n";
    first.write(MOUNTED, policy, 0o600)?;
    let volume = format!("{{name: audit, hostPath: {MOUNTED}, mountPath: {MOUNTED}, readOnly: true, pathType: File}}");
    let argument = format!("{{name: audit-policy-file, value: {MOUNTED}}}");
    let api_server = format!("apiServer: {{extraArgs: [{argument}], extraVolumes: [{volume}]}}\n");
    let invitation = kubeadm::init_with(&first, &api_server)?;
    let words = invitation.words().join(" ");

    // A learner that nobody promotes, and a file that is missing here: both are named, and nothing is started.
    etcd(&first, "cluster/member/add", "{\"peerURLs\":[\"https://10.50.0.250:2380\"],\"isLearner\":true}")?;
    let before = kubernetes(&second)?;
    let script = format!("{PROGRAM} join {words} --control-plane --print-config {TOLERATED}");
    let document = second.shell(&format!("{script} --certificate-key {}", invitation.certificate_key()))?;
    second.write("/srv/node.yaml", document.trim_end().to_owned() + "\n  timeouts: {etcd: 2s}\n", 0o600)?;
    let refused = second.run_within(&[PROGRAM, "bootstrap", "-f", "/srv/node.yaml"], LIMIT)?;
    assert_eq!(refused.code, 1, "{refused:?}");
    let status = second.run(&[PROGRAM, "status"])?.stdout;
    assert!(status.starts_with("cp2  FAILED at control plane"), "{status}");
    assert!(status.contains("https://10.50.0.250:2380") && status.contains("is a learner"), "{status}");
    assert!(status.contains("machineadm control-plane remove https://10.50.0.250:2380"), "{status}");
    assert!(status.contains(&format!("{MOUNTED} is missing here, and kube-apiserver")), "{status}");
    assert_eq!(kubernetes(&second)?, before, "nothing was started");
    assert_eq!(members(&first)?.len(), 2, "and etcd has no member of this machine");

    first.check(&[PROGRAM, "control-plane", "remove", "https://10.50.0.250:2380", "--yes"])?;
    assert_eq!(voters(&first)?, ["cp1"]);
    second.write(MOUNTED, policy, 0o600)?;
    let (ran, held) = join(&second, &words, invitation.certificate_key())?;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(held, "0", "no process had the certificate key among its arguments");
    assert_ne!(second.shell("grep -c 'kubeadm join' /srv/arguments")?.trim(), "0", "the sampler saw kubeadm");
    first.wait_for_nodes(&["cp1", "cp2"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    bed.down()
}

#[test]
fn bare_kubeadm_joins_a_control_plane_node_to_a_cluster_of_ours() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, _) = first_with_token(&bed, &ca)?;
    let second = bed.machine("cp2", &Profile::node())?;
    second.boot()?;
    let command = first.check(&[
        PROGRAM,
        "token",
        "create",
        "--print-join-command",
        "--certificate-key",
        KEY,
        "--kubeconfig",
        "/etc/kubernetes/admin.conf",
    ])?;
    assert!(command.contains(&ca.pin), "{command}");
    assert!(command.starts_with("kubeadm join ") && command.contains("--control-plane --certificate-key"), "{command}");
    second.shell(&format!("{} {TOLERATED}", command.trim()))?;
    first.wait_for_nodes(&["cp1", "cp2"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    bed.down()
}

#[test]
#[ignore = "long tier: machineadm waits two minutes for a Node of the same name"]
fn a_join_under_the_name_of_another_control_plane_node_leaves_its_node_alone() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, endpoint) = first_with_token(&bed, &ca)?;
    let second = with_program(bed.machine("cp2", &Profile::node())?)?;
    second.boot()?;
    let node = || first.kubectl(&["get", "node", "cp1", "--output=jsonpath={.metadata.uid}"]);
    first.wait_for_nodes(&["cp1"])?;
    let before = node()?;
    let of_another = further(&endpoint, &ca).replace("  toleratedChecks", "  nodeName: cp1\n  toleratedChecks");
    second.write(DELIVERED, &of_another, 0o600)?;
    for text in ["already exists in the cluster", "kubeadm refuses to join while this Node is Ready"] {
        let refused = second.run_within(&[PROGRAM, "bootstrap"], LIMIT)?;
        assert_eq!(refused.code, 1, "{refused:?}");
        let status = second.run(&[PROGRAM, "status"])?.stdout;
        assert!(status.contains(text), "{text}: {status}");
        assert_eq!((node()?, voters(&first)?), (before.clone(), vec!["cp1".to_owned()]), "{text}");
    }
    second.write("/srv/node.yaml", further(&endpoint, &ca), 0o600)?;
    ends_well(&second, &["bootstrap", "-f", "/srv/node.yaml"])?;
    first.wait_for_nodes(&["cp1", "cp2"])?;
    assert_eq!(node()?, before);

    // Its kubelet has a certificate by now, for its own Node alone. As if the join had not finished:
    let journal = "/var/lib/machineadm/journal.json";
    second.shell(&format!(
        "rm /etc/kubernetes/manifests/kube-scheduler.yaml; sed -i 's/\"kubeadm join\": \"ended\"/\"kubeadm join\": \
         \"began\"/' {journal}; grep began {journal}"
    ))?;
    second.write("/srv/another.yaml", of_another, 0o600)?;
    let refused = second.run_within(&[PROGRAM, "bootstrap", "-f", "/srv/another.yaml"], LIMIT)?;
    assert_eq!(refused.code, 1, "{refused:?}");
    let status = second.run(&[PROGRAM, "status"])?.stdout;
    assert!(status.contains("kubeadm refuses to join while this Node is Ready"), "{status}");
    assert_eq!((node()?, voters(&first)?), (before.clone(), vec!["cp1".to_owned()]));
    assert!(first.kubectl(&["get", "node", "cp2"]).is_err(), "the Node that it had registered is deleted");
    ends_well(&second, &["bootstrap", "-f", "/srv/node.yaml"])?;
    first.wait_for_nodes(&["cp1", "cp2"])?;
    assert_eq!((node()?, voters(&first)?), (before, vec!["cp1".to_owned(), "cp2".to_owned()]));
    bed.down()
}

/// The kubelet of such a host.
const KUBELET: &str = "\
cgroupDriver: cgroupfs
failCgroupV1: false
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
";

/// A machine that is on, and whose kubelet can be configured by patches.
fn booted(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    machine.boot()?;
    machine.shell("sysctl -w net.ipv4.ip_forward=1")?;
    machine.write("/srv/patches/kubeletconfiguration+merge.yaml", KUBELET, 0o644)?;
    Ok(machine)
}

/// Runs a command line, which must succeed, and gives what it printed.
fn succeeds(machine: &Machine, command: &str) -> Result<String> {
    let ran = machine.run_within(&["sh", "-c", command], LIMIT)?;
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    Ok(ran.stdout)
}

#[test]
fn what_init_prints_joins_a_control_plane_node_and_a_worker() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let [first, second, worker] = ["cp1", "cp2", "w1"].map(|name| booted(&bed, name));
    let (first, second, worker) = (first?, second?, worker?);
    let init = format!(
        "{PROGRAM} init --control-plane-endpoint {} --upload-certs --patches /srv/patches {TOLERATED}",
        first.address()
    );
    let printed = succeeds(&first, &init)?;
    let commands: Vec<&str> =
        printed.lines().map(str::trim).filter(|line| line.starts_with("machineadm join ")).collect();
    let [control_plane, of_worker] = commands[..] else { panic!("{printed}") };
    // The key was generated: it is in the printed command and nowhere on the machine.
    let (_, key) = control_plane.split_once("--control-plane --certificate-key ").expect("a key");
    assert_eq!(first.files_with(&[key])?, [""; 0]);
    succeeds(&second, &format!("{control_plane} --patches /srv/patches {TOLERATED}"))?;
    succeeds(&worker, &format!("{of_worker} --patches /srv/patches {TOLERATED}"))?;
    first.wait_for_nodes(&["cp1", "cp2", "w1"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    bed.down()
}
