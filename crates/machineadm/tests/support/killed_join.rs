//! A control plane join that is killed from outside, and what has to hold after every kill.
use crate::support::cluster::{LIMIT, PROGRAM};
use crate::support::control_plane::{members, serves, voters};
use testbed::{Machine, Result, until};

/// Starts a run that nobody waits for.
pub(crate) fn start(machine: &Machine, unit: &str) -> Result<()> {
    machine.shell(&format!("systemd-run --quiet --unit={unit} {PROGRAM} bootstrap")).map(drop)
}

/// Kills machineadm, and waits until kubeadm has ended with it. Whether it was there to be killed.
pub(crate) fn is_killed(machine: &Machine) -> Result<bool> {
    let killed = machine.run(&["sh", "-c", "kill -9 $(pgrep -o -x machineadm)"])?.code == 0;
    until("kubeadm's end with machineadm's", LIMIT, || match machine.run(&["pgrep", "-x", "kubeadm|machineadm"]) {
        Ok(output) if output.code == 1 => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    Ok(killed)
}

/// What etcd says of a machine that joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Learner,
    Voter,
}

/// Waits on the first machine until etcd lists the other one so. A loop of the machine's own is quick enough for that.
pub(crate) fn until_member(first: &Machine, other: &Machine, seen: Seen) -> Result<()> {
    let peer = format!("https://{}:2380", other.address());
    until(&format!("{} as {seen:?}", other.name()), LIMIT, || {
        let found = members(first).map_err(|error| error.to_string())?;
        match found.get(&peer) {
            Some(member) if member.is_learner == (seen == Seen::Learner) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
}

/// After every kill: the cluster takes writes, and the machine has data of etcd if and only if etcd has a member for it,
/// or has not got so far as to start it.
pub(crate) fn list_and_data_agree(first: &Machine, other: &Machine, number: usize) -> Result<()> {
    first.kubectl(&["create", "configmap", &format!("after-kill-{number}")])?;
    let found = members(first)?;
    let peer = format!("https://{}:2380", other.address());
    let has_data = other.run(&["test", "-d", "/var/lib/etcd/member"])?.code == 0;
    let votes = found.get(&peer).is_some_and(|member| !member.is_learner);
    assert!(found.contains_key(&peer) || !has_data, "data without a member: {found:?}");
    assert!(has_data || !votes, "a voter without its data: {found:?}");
    assert!(found.values().any(|member| member.name == first.name() && !member.is_learner), "{found:?}");
    Ok(())
}

pub(crate) fn joined(first: &Machine, other: &Machine) -> Result<()> {
    first.wait_for_nodes(&["cp1", "cp2"])?;
    assert_eq!(voters(first)?, ["cp1", "cp2"]);
    serves(other)?;
    let node = first.kubectl_json(&["get", "node", "cp2"])?;
    assert!(node["metadata"]["labels"].get("node-role.kubernetes.io/control-plane").is_some(), "{node}");
    let status = other.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with("cp2  SUCCEEDED"), "{status}");
    Ok(())
}
