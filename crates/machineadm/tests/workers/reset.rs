//! `machineadm reset` on whole machines: an operator's own files survive it, a kill in the middle is continued, and the
//! machine can become a node again.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::worker::{nothing_is_left, worker};
use testbed::{
    Bed, Machine, Profile, Result, Snapshot,
    kubeadm::{self, Part},
    until,
};

const CONFIGURATION: &str = "/srv/node.yaml";
/// The Node of the second machine, which has another host name.
const NODE: &str = "worker-1";

/// Files of an operator, where kubeadm has its own. A manifest whose name starts with a dot is none for the kubelet.
fn write_own_files(machine: &Machine) -> Result<()> {
    machine.write("/etc/kubernetes/pki/.own.key", "the operator's key", 0o600)?;
    machine.write("/etc/kubernetes/manifests/.own.yaml", "the operator's pod", 0o644)?;
    machine.write("/etc/kubernetes/audit/policy.yaml", "the operator's policy", 0o640)?;
    machine.write("/var/lib/kubelet/config.json", "{}", 0o600)?;
    machine.shell(
        "mkdir -m 0710 /etc/kubernetes/pki/own && chown 7:8 /etc/kubernetes/pki/own /etc/kubernetes/pki/.own.key && \
         ln -s ../audit /etc/kubernetes/pki/own/link && chmod 0700 /var/lib/kubelet",
    )?;
    Ok(())
}

/// What a reset must leave as it was.
fn tree(machine: &Machine) -> Result<Snapshot> {
    for path in ["/var/lib/machineadm", "/run/cluster-api/bootstrap-success.complete"] {
        assert_ne!(machine.run(&["test", "-e", path])?.code, 0, "{path} exists");
    }
    assert_eq!(machine.shell("ls -A /var/lib/etcd")?, "", "etcd has data");
    machine.snapshot(&["/etc", "/var/lib/kubelet", "/var/lib/etcd"])
}

fn is_as_before(machine: &Machine, before: &Snapshot) -> Result<()> {
    assert_eq!(before.changes(&tree(machine)?), [""; 0]);
    let containers = machine.shell("ctr --namespace k8s.io tasks list --quiet")?;
    assert_eq!(containers, "", "containers still run");
    Ok(())
}

#[test]
fn a_reset_leaves_a_machine_as_it_was_and_ready_to_become_a_node_again() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, second) = (bed.machine("cp", &Profile::node())?, bed.machine("w1", &Profile::node())?);
    let (first, second) = (with_program(first)?, with_program(second)?);
    let mut before = Vec::new();
    for machine in [&first, &second] {
        machine.boot()?;
        write_own_files(machine)?;
        before.push(tree(machine)?);
    }
    let forwarding = first.read("/proc/sys/net/ipv4/ip_forward")?;
    first.write(CONFIGURATION, control_plane(&ca), 0o600)?;
    let joining = worker(&format!("{}:6443", first.address()), &ca);
    let joining = joining.replacen("  discovery:\n", &format!("  nodeName: {NODE}\n  discovery:\n"), 1);
    second.write(CONFIGURATION, joining, 0o600)?;
    ends_well(&first, &["bootstrap", "-f", CONFIGURATION])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    // A worker's preflight refuses pki/ca.crt alone.
    ends_well(&second, &["bootstrap", "-f", CONFIGURATION])?;
    first.wait_for_nodes(&["cp", NODE])?;
    nothing_is_left(&second)?;

    an_init_that_others_have_joined_is_finished(&first)?;
    a_plan_changes_nothing(&first)?;
    let plan = second.run(&[PROGRAM, "reset", "--dry-run"])?;
    assert!(plan.stdout.contains(&format!("kubectl delete node {NODE}\n")), "{plan:?}");
    ends_well(&second, &["reset", "--force"])?;
    is_as_before(&second, &before[1])?;
    assert!(second.read("/etc/kubernetes/pki/.own.key")?.contains("the operator's key"));

    killed_in_the_middle(&first)?;
    let stopped = first.run(&[PROGRAM, "bootstrap", "-f", CONFIGURATION])?;
    assert!(stopped.code == 6 && stopped.stderr.contains("machineadm reset"), "{stopped:?}");
    ends_well(&first, &["reset", "--force"])?;
    is_as_before(&first, &before[0])?;
    assert_eq!(first.read("/proc/sys/net/ipv4/ip_forward")?, forwarding);

    // It is a new machine: for machineadm, and for kubeadm alone.
    ends_well(&first, &["bootstrap", "-f", CONFIGURATION])?;
    first.wait_for_nodes(&["cp"])?;
    ends_well(&first, &["reset", "--force"])?;
    is_as_before(&first, &before[0])?;
    nodes_of_kubeadm_alone_are_reset(&first, &second)?;
    bed.down()
}

/// The journal says that the init did not finish, and a part of its work is missing: the worker keeps its cluster.
fn an_init_that_others_have_joined_is_finished(machine: &Machine) -> Result<()> {
    let cluster = || machine.kubectl(&["get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}"]);
    let before = cluster()?;
    machine.kubectl(&["delete", "deployment", "coredns", "--namespace=kube-system"])?;
    let journal = "/var/lib/machineadm/journal.json";
    machine.shell(&format!("sed -i 's/\"kubeadm init\": \"ended\"/\"kubeadm init\": \"began\"/' {journal}"))?;
    assert!(machine.read(journal)?.contains("began"));
    ends_well(machine, &["bootstrap", "-f", CONFIGURATION])?;
    assert_eq!(cluster()?, before);
    machine.kubectl(&["get", "deployment", "coredns", "--namespace=kube-system"])?;
    machine.wait_for_nodes(&["cp", NODE])
}

/// The second control plane node first: with its member registered and gone, the first could not write any more.
fn nodes_of_kubeadm_alone_are_reset(first: &Machine, second: &Machine) -> Result<()> {
    for machine in [first, second] {
        machine.shell("sysctl -w net.ipv4.ip_forward=1")?;
    }
    let invitation = kubeadm::init(first)?;
    kubeadm::join(second, &invitation, Part::ControlPlane)?;
    first.wait_for_nodes(&["cp", "w1"])?;
    let plan = second.run(&[PROGRAM, "reset", "--dry-run"])?;
    assert!(plan.code == 0 && plan.stdout.contains("kubeadm was started here without machineadm"), "{plan:?}");
    assert!(plan.stdout.contains("- etcd member w1") && plan.stdout.contains("1 voter remains"), "{plan:?}");
    ends_well(second, &["reset", "--force"])?;
    first.kubectl(&["create", "configmap", "written", "--namespace=default"])?;
    let plan = first.run(&[PROGRAM, "reset", "--dry-run"])?;
    assert!(plan.stdout.contains("the cluster and all its data are deleted"), "{plan:?}");
    ends_well(first, &["reset", "--force"])?;
    for machine in [first, second] {
        for gone in
            ["/etc/kubernetes/admin.conf", "/etc/kubernetes/pki/ca.key", "/var/lib/etcd/member", "/var/lib/machineadm"]
        {
            assert_ne!(machine.run(&["test", "-e", gone])?.code, 0, "{gone} exists");
        }
    }
    Ok(())
}

/// Neither does a reset that nobody confirms.
fn a_plan_changes_nothing(machine: &Machine) -> Result<()> {
    let before = machine.snapshot(&["/etc", "/var/lib/machineadm"])?;
    let plan = machine.run(&[PROGRAM, "reset", "--dry-run"])?;
    assert_eq!(plan.code, 0, "{plan:?}");
    for line in [
        "the cluster and all its data are deleted",
        "+ /etc/kubernetes/pki/.own.key",
        "- /var/lib/etcd/member/",
        "- /etc/kubernetes/pki/ca.crt",
        "kubectl delete node cp",
    ] {
        assert!(plan.stdout.contains(line), "{line}: {}", plan.stdout);
    }
    assert!(!plan.stdout.contains("operator's") && plan.stderr.contains("Nothing was changed."), "{plan:?}");
    let json = machine.run(&[PROGRAM, "reset", "--dry-run", "-o", "json"])?;
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&json["kind"], &json["isDone"]), (&"Reset".into(), &false.into()));
    let unconfirmed = machine.run(&[PROGRAM, "reset"])?;
    assert!(unconfirmed.code == 2 && unconfirmed.stderr.contains("pass --force"), "{unconfirmed:?}");
    let denied = machine.shell(&format!("printf 'n\\n' | script -qc '{PROGRAM} reset' /dev/null"))?;
    assert!(
        denied.contains("Reset this machine? [y/N]") && denied.contains("not confirmed: nothing was changed"),
        "{denied}"
    );
    assert_eq!(before.changes(&machine.snapshot(&["/etc", "/var/lib/machineadm"])?), [""; 0]);
    machine.wait_for_nodes(&["cp", NODE])
}

/// A loop on the machine itself waits for the middle: kubeadm has deleted the first of its files.
fn killed_in_the_middle(machine: &Machine) -> Result<()> {
    let middle =
        "while test -e /etc/kubernetes/manifests/etcd.yaml; do sleep 0.01; done; kill -9 $(pgrep -o -x machineadm)";
    machine.shell(&format!(
        "systemd-run --unit=killer sh -c '{middle}'; systemd-run --unit=resetting {PROGRAM} reset --force"
    ))?;
    until("the kill", LIMIT, || match machine.run(&["systemctl", "is-failed", "resetting"]) {
        Ok(output) if output.stdout == "failed\n" => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    until("kubeadm's end with machineadm's", LIMIT, || match machine.run(&["pgrep", "-x", "kubeadm"]) {
        Ok(output) if output.code == 1 => Ok(()),
        other => Err(format!("{other:?}")),
    })
}
