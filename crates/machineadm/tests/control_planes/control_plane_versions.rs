//! Control planes by kubeadm 1.30, which joins etcd after the kubelet has its certificate, where newer ones do that before:
//! an init and a join that are killed, and a kubeadm that would add a voter to the only one at once.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{Listed, first_of_several, members, voters};
use crate::support::further_node::further;
use crate::support::killed_join::{Seen, is_killed, joined, list_and_data_agree, start, until_member};
use host::contract::DELIVERED;
use std::collections::{BTreeMap, BTreeSet};
use testbed::programs::{ETCD_3_5, FAKE_CRICTL, KUBEADM_1_30, KUBERNETES_1_30, Set};
use testbed::{Bed, FurtherImages, Machine, Profile, Result, until};

const GATE: &str = "EtcdLearnerMode";
const PROGRAMS: &[&Set] = &[&KUBEADM_1_30, &KUBERNETES_1_30, &ETCD_3_5, &FAKE_CRICTL];

/// A machine of 1.30 that is on.
fn machine(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    machine.copy_in(&KUBEADM_1_30.ensure()?.judge("kubeadm")?, "/usr/bin/kubeadm")?;
    machine.copy_in(&KUBERNETES_1_30.ensure()?.judge("kubelet")?, "/usr/bin/kubelet")?;
    machine.copy_in(&FAKE_CRICTL.ensure()?.path("fake-crictl"), "/usr/bin/crictl")?;
    machine.boot()?;
    machine.import_further_images(FurtherImages::Kubernetes1_30)?;
    Ok(machine)
}

/// The documents for 1.30, whose kubelet has no `failCgroupV1` yet. kubeadm wants the image of CoreDNS also where it is left
/// out, and the bed has another version; built with Go 1.26 it refuses every network (HTTPProxyCIDR).
fn of_1_30(documents: &str) -> String {
    let documents = documents.replace("v1.36.4", "v1.30.14").replace("    failCgroupV1: false\n", "");
    documents.replace("toleratedChecks: [cgroups]", "toleratedChecks: [all]")
}

/// Stops machineadm and lets kubeadm go on: it cannot end before it is killed.
fn hold(machine: &Machine) -> Result<()> {
    machine.shell("kill -STOP $(pgrep -o -x machineadm)").map(drop)
}

fn is_interrupted(machine: &Machine, at: &str) -> Result<()> {
    let status = machine.run(&[PROGRAM, "status"])?;
    let expected = format!("{}  INTERRUPTED at {at}", machine.name());
    assert!(status.stdout.starts_with(&expected), "the kill came too late: {status:?}");
    Ok(())
}

#[test]
#[ignore = "long tier: Kubernetes 1.30.14 with its etcd"]
fn a_control_plane_of_1_30_is_finished_after_kills_and_never_gets_a_second_voter_at_once() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), EachPinned(PROGRAMS));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = machine(&bed, "cp1")?;
    let endpoint = format!("{}:6443", first.address());
    let gate = format!("  featureGates: {{{GATE}: false}}\n  without: [coreDNS]\n  controlPlaneEndpoint:");
    let documents = of_1_30(&first_of_several(&ca, &endpoint)).replacen("  controlPlaneEndpoint:", &gate, 1);
    first.write(DELIVERED, documents, 0o600)?;
    start(&first, "init")?;
    let is_at_etcd = "test -d /var/lib/etcd/member || systemctl is-failed --quiet init";
    until("etcd's data", LIMIT, || match first.run(&["sh", "-c", is_at_etcd]) {
        Ok(output) if output.code == 0 => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let was_killed = is_killed(&first)?;
    is_interrupted(&first, "InitConfig")?;
    assert!(was_killed);
    ends_well(&first, &["bootstrap"])?;
    first.wait_for_nodes(&["cp1"])?;

    // Without the gate this kubeadm adds a voter that does not run yet.
    let second = machine(&bed, "cp2")?;
    second.write(DELIVERED, of_1_30(&further(&endpoint, &ca)), 0o600)?;
    let refused = second.run_within(&[PROGRAM, "bootstrap"], LIMIT)?;
    assert_eq!(refused.code, 1, "{refused:?}");
    let command = refused.stderr.lines().find_map(|line| line.find("machineadm config edit-map").map(|at| &line[at..]));
    let command = command.unwrap_or_else(|| panic!("no remedy: {refused:?}")).to_owned();
    assert_eq!(voters(&first)?, ["cp1"]);
    assert_ne!(second.run(&["test", "-e", "/etc/kubernetes/pki/ca.crt"])?.code, 0, "nothing is begun");
    // What the message says, as it stands.
    first.shell(&command)?;

    start(&second, "learner")?;
    until_member(&first, &second, Seen::Learner)?;
    assert!(is_killed(&second)?);
    let learners = |found: BTreeMap<String, Listed>| {
        found.into_values().filter(|member| member.is_learner).map(|member| member.id).collect::<BTreeSet<_>>()
    };
    let left = learners(members(&first)?);
    assert_eq!(left.len(), 1, "the kill came too late");
    let certificate = second.run(&["test", "-e", "/var/lib/kubelet/pki/kubelet-client-current.pem"])?;
    assert_eq!(certificate.code, 0, "kubeadm 1.30 joins etcd after the kubelet has its certificate");
    list_and_data_agree(&first, &second, 1)?;

    // The learner is removed, and another one added. kubeadm 1.30 ends as soon as that one votes.
    start(&second, "voter")?;
    until("the next learner", LIMIT, || match members(&first).map(learners) {
        Ok(found) if !found.is_subset(&left) => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    hold(&second)?;
    until_member(&first, &second, Seen::Voter)?;
    assert!(is_killed(&second)?);
    is_interrupted(&second, "JoinConfig")?;
    list_and_data_agree(&first, &second, 2)?;
    let promoted = members(&first)?;

    ends_well(&second, &["bootstrap"])?;
    joined(&first, &second)?;
    assert_eq!(members(&first)?, promoted, "a member that votes is not removed: its join is finished");
    ends_well(&second, &["reset", "--force"])?;
    assert_eq!(voters(&first)?, ["cp1"]);
    bed.down()
}
