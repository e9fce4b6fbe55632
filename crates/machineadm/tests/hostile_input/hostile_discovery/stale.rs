//! A machine that was off while its cluster changed: it is told how to discover the cluster again, and that works.
use super::{
    kept::joined,
    stage::{Cluster, Stage},
    watched::{ANSWERED, Machine, by_token, has},
};

const REMEDY: &str = "remedy: if the address or the CA certificates of the cluster have changed, discover it again: \
                      machineadm discover ENDPOINT --token TOKEN --discovery-token-ca-cert-hash HASH --store; \
                      on the cluster, machineadm token create --print-join-command prints these values\n";

/// The refresh fails for this reason with the remedy; the saved cluster is unchanged.
fn is_stale(machine: &Machine, reason: &str) {
    let before = machine.kept();
    let output = machine.discover(&["--refresh", "--timeout", ANSWERED]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(reason) && said.ends_with(REMEDY), "{said}");
    assert_eq!(machine.kept(), before);
}

/// The command of the remedy, with the values of the cluster as it is now, saves it; from then on it can be refreshed.
fn is_discovered_again(machine: &Machine, cluster: &Cluster) {
    let found = by_token(machine, cluster, "1m").output().unwrap();
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    let saved = machine.kept().unwrap();
    assert!(has(&saved, &cluster.tap.place()) && has(&saved, &cluster.pin()), "{}", String::from_utf8_lossy(&saved));
    let refreshed = machine.discover(&["--refresh", "--timeout", "1m"]).output().unwrap();
    assert_eq!(refreshed.status.code(), Some(0), "{refreshed:?}");
}

#[test]
fn a_machine_whose_cluster_moved_to_another_address_is_told_how_to_discover_it_again() {
    let (cluster, mut moved) = (Cluster::new(), Cluster::new());
    let machine = joined(&cluster);
    moved.authority = cluster.authority.clone();
    let stage = Stage::tells(&moved.authority, moved.honest());
    moved.tap.lead_to(stage.port);
    // Port 9 is nobody's here.
    cluster.tap.lead_to(9);
    is_stale(&machine, "the cluster cannot be reached; the saved cluster is unchanged");
    is_discovered_again(&machine, &moved);
}

#[test]
fn a_machine_whose_cluster_replaced_its_ca_certificates_is_told_how_to_discover_it_again() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let rotated = Cluster { authority: Cluster::new().authority, tap: cluster.tap };
    let stage = Stage::tells(&rotated.authority, rotated.honest());
    rotated.tap.lead_to(stage.port);
    is_stale(&machine, "it is signed by an unknown authority");
    is_discovered_again(&machine, &rotated);
}

/// The saved CA certificates have verified whoever answers so: discovering again would change nothing.
#[test]
fn a_cluster_that_answers_at_its_address_is_not_stale() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let stage = Stage::answers(&cluster.authority, "503 Service Unavailable", "", "{}".to_owned());
    cluster.tap.lead_to(stage.port);
    let output = machine.discover(&["--refresh", "--timeout", ANSWERED]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && !said.contains("discover it again"), "{said}");
}
