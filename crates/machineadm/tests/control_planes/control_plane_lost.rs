//! Three control plane nodes on whole machines: two join at the same time, one loses its disk, the API stays writable, the
//! lost member is named and removed, and another machine takes its place.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{members, serves, voters};
use crate::support::first_node::first_with_token;
use crate::support::further_node::further;
use crate::support::parallel_machines::on_each;
use host::contract::DELIVERED;
use testbed::{Bed, Machine, Profile, Result, until};

/// A machine that is on and has its configuration.
fn booted(bed: &Bed, name: &str, documents: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    machine.boot()?;
    machine.write(DELIVERED, documents, 0o600)?;
    Ok(machine)
}

#[test]
#[ignore = "long tier: four control plane nodes, two of which join at once and one of which is lost"]
fn two_join_at_once_one_is_lost_and_removed_and_another_takes_its_place() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, endpoint) = first_with_token(&bed, &ca)?;
    // etcd accepts one new member at a time: the second waits for the first.
    let patient = further(&endpoint, &ca).replace("  timeouts: {etcd: 5s}\n", "");
    let (second, third) = (booted(&bed, "cp2", &patient)?, booted(&bed, "cp3", &patient)?);
    on_each(&[&second, &third], |machine| ends_well(machine, &["bootstrap"]))?;
    first.wait_for_nodes(&["cp1", "cp2", "cp3"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2", "cp3"]);

    third.discard()?;
    first.kubectl(&["create", "configmap", "written-with-two-of-three"])?;
    let fourth = booted(&bed, "cp4", &further(&endpoint, &ca))?;
    let refused = fourth.run_within(&[PROGRAM, "bootstrap"], LIMIT)?;
    assert_eq!(refused.code, 1, "{refused:?}");
    let status = fourth.run(&[PROGRAM, "status"])?.stdout;
    assert!(status.starts_with("cp4  FAILED at control plane"), "{status}");
    assert!(status.contains("cp3") && status.contains("does not answer"), "{status}");
    assert_eq!(fourth.shell("find /etc/kubernetes /var/lib/etcd -type f | wc -l")?.trim(), "0", "nothing was started");
    assert_eq!(members(&first)?.len(), 3);

    // The Node stays Ready for most of a minute after its machine is gone.
    until("cp3 is not Ready", LIMIT, || {
        let removed = first.run(&[PROGRAM, "control-plane", "remove", "cp3", "--yes"]);
        match removed.map_err(|error| error.to_string())? {
            removed if removed.code == 0 => Ok(()),
            removed => Err(format!("{removed:?}")),
        }
    })?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    assert!(first.kubectl(&["get", "node", "cp3"]).is_err(), "the Node is deleted as well");
    ends_well(&fourth, &["bootstrap"])?;
    first.wait_for_nodes(&["cp1", "cp2", "cp4"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2", "cp4"]);
    serves(&fourth)?;
    bed.down()
}
