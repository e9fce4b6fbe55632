//! Workers on whole machines: from user data to a Ready node, before the control plane exists and after a kill.
use crate::support::cloud_init_seed::user_data;
use crate::support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::worker::{nothing_is_left, worker};
use host::contract::DELIVERED;
use testbed::{Bed, Machine, Profile, Result, until};

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
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    until("w1 at discovery", LIMIT, || match early.run(&[PROGRAM, "status", "-o", "json"]) {
        Ok(status) if is_at(&status.stdout, "discovery") => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    ends_well(&first, &["bootstrap", "-f", DELIVERED])?;
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
    early.write("/srv/node.yaml", worker(&endpoint, &ca), 0o600)?;
    let plan = early.run(&[PROGRAM, "plan", "-f", "/srv/node.yaml", "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");

    // A second one, by kubeadm's flags, is killed in the middle.
    let second = with_program(bed.machine("w2", &Profile::node())?)?;
    second.boot()?;
    second.write("/srv/token", TOKEN, 0o600)?;
    second.shell("sysctl -w net.ipv4.ip_forward=1")?;
    let join = |pin: &str| {
        format!(
            "{PROGRAM} join {endpoint} --token-file /srv/token --discovery-token-ca-cert-hash {pin} \
             --ignore-preflight-errors SystemVerification"
        )
    };
    a_pin_of_another_cluster_is_the_reason(&second, &join(&Authority::new().pin))?;
    // The middle of kubeadm join is short: a loop on the machine itself waits for it.
    let middle =
        "until test -e /etc/kubernetes/bootstrap-kubelet.conf; do sleep 0.01; done; kill -9 $(pgrep -o -x machineadm)";
    second
        .shell(&format!("systemd-run --unit=killer sh -c '{middle}'; systemd-run --unit=joining {}", join(&ca.pin)))?;
    until("the kill", LIMIT, || match second.run(&["systemctl", "is-failed", "joining"]) {
        Ok(output) if output.stdout == "failed\n" => Ok(()),
        other => Err(format!("{other:?}")),
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

/// Whether a run is at work in this turn.
fn is_at(outcome: &str, name: &str) -> bool {
    let outcome: serde_json::Value = serde_json::from_str(outcome).unwrap_or_default();
    let phases = outcome["phases"].as_array().cloned().unwrap_or_default();
    phases.iter().any(|phase| phase["name"] == name && phase["state"] == "running")
}

/// A node that did not join reports why, and what to do.
fn a_pin_of_another_cluster_is_the_reason(machine: &Machine, join: &str) -> Result<()> {
    let ran = machine.run_within(&["sh", "-c", &format!("{join} --timeout 3s")], LIMIT)?;
    assert_eq!(ran.code, 1, "{ran:?}");
    let status = machine.run(&[PROGRAM, "status"])?;
    assert!(status.stdout.starts_with("w2  FAILED at discovery"), "{status:?}");
    assert!(status.stdout.contains("CA pin") && status.stdout.contains("Then"), "{status:?}");
    let failure = machine.read("/run/cluster-api/bootstrap-failure.json")?;
    assert!(failure.contains("\"phase\":\"discovery\"") && failure.contains("CA pin"), "{failure}");
    Ok(())
}
