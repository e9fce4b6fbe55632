//! First boot on whole machines with the user data and the unit that we ship: real Ignition, real cloud-init, power cuts.
mod support {
    pub(crate) mod cluster;
    pub(crate) mod user_data;
    pub(crate) mod worker;
}

use base64::{Engine, prelude::BASE64_STANDARD};
use host::contract::{CONFIGURATION, DELIVERED, SUCCESS, SUCCESS_KEPT};
use support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use support::user_data;
use support::worker::{nothing_is_left, worker};
use testbed::{Bed, Machine, Profile, Result, until};

const UNIT: &str = "machineadm.service";

/// The cloud-config of the examples with these documents.
fn cloud_config(documents: &str) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let example = indented(&user_data::of_cloud_init());
    assert!(user_data::CLOUD_INIT.contains(&example), "{example}");
    user_data::CLOUD_INIT.replace(&example, &indented(documents))
}

/// The Ignition config of the examples with these documents.
fn ignition_config(documents: &str) -> String {
    let example = BASE64_STANDARD.encode(user_data::of_ignition());
    assert!(user_data::IGNITION.contains(&example), "{example}");
    user_data::IGNITION.replace(&example, &BASE64_STANDARD.encode(documents))
}

/// What an image has: the program and the unit.
fn with_unit(machine: Machine) -> Result<Machine> {
    let machine = with_program(machine)?;
    machine.write(&format!("/usr/lib/systemd/system/{UNIT}"), user_data::UNIT, 0o644)?;
    Ok(machine)
}

/// Waits until a script on a machine succeeds; a machine that is just going on can't be asked.
fn awaited(machine: &Machine, what: &str, script: &str) -> Result<String> {
    until(&format!("{}: {what}", machine.name()), LIMIT, || machine.shell(script).map_err(|error| error.to_string()))
}

/// Cuts the power once a script succeeds, while the unit's machineadm is at work.
fn cut_power_at(machine: &Machine, what: &str, script: &str) -> Result<()> {
    awaited(machine, what, &format!("{script} && pgrep -x machineadm"))?;
    machine.kill()?;
    assert_ne!(machine.run(&["test", "-e", SUCCESS_KEPT])?.code, 0, "{what}: the cut came too late");
    assert_eq!(machine.run(&["test", "-e", CONFIGURATION])?.code, 0, "{what}: the cut came too early");
    machine.power_on()
}

/// Lets a loop on the machine stop kubeadm and machineadm in the middle of the join, which is too short to be met from
/// outside.
fn stop_in_the_middle(machine: &Machine) -> Result<()> {
    let middle = "until test -e /etc/kubernetes/bootstrap-kubelet.conf; do sleep 0.01; done; pkill -STOP -x kubeadm; \
                  pkill -STOP -x machineadm; touch /srv/stopped";
    awaited(machine, "the loop", &format!("systemd-run --unit=stopper sh -c '{middle}'")).map(drop)
}

/// The unit has succeeded in this boot, and nothing that is secret or half done is left.
fn is_done(machine: &Machine) -> Result<()> {
    awaited(machine, "the unit's success", &format!("systemctl is-active {UNIT} && test -e {SUCCESS}"))?;
    let status = machine.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with(&format!("{}  SUCCEEDED", machine.name())), "{status}");
    for gone in [DELIVERED, CONFIGURATION] {
        assert_ne!(machine.run(&["test", "-e", gone])?.code, 0, "{}: {gone} is still there", machine.name());
    }
    nothing_is_left(machine)
}

/// What journal and console of all boots have of ordering cycles: systemd reports one when it drops a unit from a boot for
/// it, and does so before its journal runs.
fn ordering_cycles(machine: &Machine) -> Result<Vec<String>> {
    machine.wait_until_running()?;
    machine.shell("journalctl --sync")?;
    let printed = [machine.journal(None)?, machine.whole_console()].concat();
    assert!(printed.contains("Reached target"), "systemd reports its boot: {printed}");
    Ok(printed.lines().filter(|line| line.to_lowercase().contains("ordering cycle")).map(str::to_owned).collect())
}

/// Shows that the search for cycles finds one, and why the unit has no such order.
#[test]
fn a_unit_that_waits_for_cloud_init_is_an_ordering_cycle() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = bed.machine("m1", &Profile::default().with_user_data("#cloud-config\n{}\n"))?;
    let unit = user_data::UNIT.replace("After=", "After=cloud-final.service ");
    machine.write(&format!("/usr/lib/systemd/system/{UNIT}"), unit, 0o644)?;
    machine.check(&["systemctl", "enable", UNIT])?;
    machine.boot()?;
    let cycles = ordering_cycles(&machine)?;
    assert!(!cycles.is_empty(), "{}", machine.whole_console());
    bed.down()
}

#[test]
fn workers_of_ignition_and_cloud_init_join_without_help_also_after_power_cuts() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), Judge("ignition"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let documents = worker(&format!("{}:6443", first.address()), &ca);
    let ignited = with_unit(bed.machine("w1", &Profile::node())?)?;
    ignited.ignite(&ignition_config(&documents))?;
    assert_eq!(ignited.check(&["stat", "-c", "%a %U:%G", DELIVERED])?, "600 root:root\n");
    assert_eq!(ignited.read(DELIVERED)?, documents);
    let seeded = Profile::node().with_user_data(&cloud_config(&documents));
    let seeded = with_unit(bed.machine("w2", &seeded)?)?;
    seeded.check(&["systemctl", "enable", UNIT])?;

    // Both boot before their cluster exists.
    ignited.power_on()?;
    seeded.power_on()?;
    first.boot()?;
    // Its documents are read, and all that they ask for but the cluster, which is not there, can be done.
    cut_power_at(&seeded, "a run that has begun", &format!("{PROGRAM} status -o json | grep -q '\"discovery\"'"))?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    stop_in_the_middle(&seeded)?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    cut_power_at(&seeded, "the middle of kubeadm join", "test -e /srv/stopped")?;

    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    for machine in [&ignited, &seeded] {
        is_done(machine)?;
        assert_eq!(ordering_cycles(machine)?, [""; 0], "{}", machine.name());
    }
    let boots = seeded.shell("journalctl --list-boots --no-pager | grep -c '^ *-*[0-9]'")?;
    assert_eq!(boots.trim(), "3", "two power cuts");
    let log = seeded.read("/var/log/cloud-init.log")?;
    assert!(log.contains("config-write-files already ran"), "cloud-init wrote the file at the first boot only: {log}");
    let cloud_init = seeded.run(&["cloud-init", "status", "--wait", "--long"])?;
    assert!(cloud_init.stdout.contains("status: done"), "{cloud_init:?}");
    seeded.judged("cloud-init")?;

    ignited.kill()?;
    ignited.boot()?;
    let condition = ignited.check(&["systemctl", "show", "--property=ActiveState,ConditionResult", UNIT])?;
    assert_eq!(condition, "ActiveState=inactive\nConditionResult=no\n", "not after a success");
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    bed.down()
}
