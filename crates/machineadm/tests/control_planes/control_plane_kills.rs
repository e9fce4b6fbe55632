//! A control plane join that is killed: while it downloads certificates, after its etcd member was added, after the member
//! was promoted, and at random moments. The next run finishes, and etcd never loses its quorum.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{Listed, members, voters};
use crate::support::first_node::first_with_token;
use crate::support::further_node::further;
use crate::support::killed_join::{Seen, is_killed, joined, list_and_data_agree, start, until_member};
use host::contract::DELIVERED;
use std::time::{Duration, Instant};
use testbed::{Bed, Machine, Profile, Result, random::Random, until};

#[test]
fn a_control_plane_join_that_is_killed_at_each_turn_of_etcd_is_finished_by_the_next_run() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, endpoint) = first_with_token(&bed, &ca)?;
    let second = with_program(bed.machine("cp2", &Profile::node())?)?;
    second.boot()?;
    // Files of the operator, where kubeadm and the certificates copy have theirs.
    second.write("/etc/kubernetes/pki/.own.key", "the operator's key", 0o600)?;
    second.write("/etc/kubernetes/manifests/.own.yaml", "the operator's pod", 0o644)?;
    let tree = || second.snapshot(&["/etc/kubernetes", "/var/lib/kubelet", "/var/lib/etcd"]);
    let own = tree()?;
    second.write(DELIVERED, further(&endpoint, &ca), 0o600)?;

    // While certificates are downloaded: the journal is written just before.
    let started =
        "until grep -qs download-certs /var/lib/machineadm/journal.json; do :; done; kill -9 $(pgrep -o -x machineadm)";
    // It comes before everything else on a busy machine: some files later kubeadm starts.
    second.shell(&format!("systemd-run --quiet --unit=killer --nice=-15 sh -c '{started}'"))?;
    start(&second, "downloading")?;
    until("the kill", LIMIT, || match second.run(&["systemctl", "is-failed", "downloading"]) {
        Ok(output) if output.stdout == "failed\n" => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let journal = second.read("/var/lib/machineadm/journal.json")?;
    assert!(!journal.contains("kubeadm join"), "the kill came too late: {journal}");
    list_and_data_agree(&first, &second, 1)?;

    // After the member was added, before its promotion.
    start(&second, "learner")?;
    until_member(&first, &second, Seen::Learner)?;
    assert!(is_killed(&second)?);
    let learner = members(&first)?;
    assert!(learner.values().any(|member| member.is_learner), "the kill came too late: {learner:?}");
    list_and_data_agree(&first, &second, 2)?;
    let before: Vec<String> = learner.values().map(|member| member.id.clone()).collect();

    // After its promotion.
    start(&second, "voter")?;
    until_member(&first, &second, Seen::Voter)?;
    assert!(is_killed(&second)?);
    let status = second.run(&[PROGRAM, "status"])?;
    assert!(status.stdout.starts_with("cp2  INTERRUPTED at JoinConfig"), "the kill came too late: {status:?}");
    list_and_data_agree(&first, &second, 3)?;
    let promoted = members(&first)?;
    let is_new = |member: &&Listed| !before.contains(&member.id);
    assert_eq!(promoted.values().filter(is_new).count(), 1, "the learner of the first try was removed: {promoted:?}");

    ends_well(&second, &["bootstrap"])?;
    joined(&first, &second)?;
    assert_eq!(members(&first)?, promoted, "a member that votes is not removed: its join is finished");
    ends_well(&second, &["reset", "--force"])?;
    assert_eq!(voters(&first)?, ["cp1"]);
    assert_eq!(own.changes(&tree()?), [""; 0], "a reset leaves what was there before the join");
    bed.down()
}

/// Kills joins at random moments, each of a new machine's; every one is finished by the next run. A join that was quicker than
/// its moment counts for nothing.
fn at_random(kills: usize) -> Result<()> {
    let mut random = Random::of_this_run();
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, endpoint) = first_with_token(&bed, &ca)?;
    // How long a join takes when nothing happens.
    let mut usual = Duration::from_secs(15);
    let (mut killed, mut joins) = (0, 0);
    while killed < kills {
        joins += 1;
        assert!(joins <= 4 * kills, "only {killed} of {joins} joins were killed");
        let second = with_program(bed.machine("cp2", &Profile::node())?)?;
        second.boot()?;
        second.write(DELIVERED, further(&endpoint, &ca), 0o600)?;
        let part = random.part();
        let began = Instant::now();
        start(&second, "joining")?;
        // The moment is drawn: there is nothing to wait for.
        std::thread::sleep(usual.mul_f64(part));
        let was_killed = is_killed(&second)?;
        list_and_data_agree(&first, &second, joins)?;
        let again = second.run(&[PROGRAM, "status"])?;
        if !again.stdout.starts_with("cp2  SUCCEEDED") {
            killed += usize::from(was_killed);
            ends_well(&second, &["bootstrap"])?;
        }
        eprintln!("killed at {part:.2}: whole after {:.1?}", began.elapsed());
        usual = usual.min(began.elapsed());
        joined(&first, &second)?;
        leave(&first, second)?;
    }
    bed.down()
}

/// The machine leaves the cluster as an operator would have it, and is gone.
fn leave(first: &Machine, machine: Machine) -> Result<()> {
    ends_well(&machine, &["reset", "--force"])?;
    assert_eq!(voters(first)?, ["cp1"]);
    first.kubectl(&["delete", "node", machine.name()])?;
    machine.discard()
}

#[test]
fn two_control_plane_joins_that_are_killed_at_random_are_finished_by_the_next_run() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    at_random(2)
}

#[test]
#[ignore = "long tier: twenty control plane joins, each killed at a random moment"]
fn twenty_control_plane_joins_that_are_killed_at_random_are_finished_by_the_next_run() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    at_random(20)
}
