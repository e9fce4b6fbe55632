//! First boot on whole machines with the user data and the unit that we ship: real Ignition, real cloud-init, power cuts.
use crate::support::cluster::{Authority, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::first_boot::{UNIT, awaited, cloud_config, ignited, is_done, seeded};
use crate::support::parallel_machines::on_each;
use crate::support::{example_user_data, worker::worker};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use host::contract::{CONFIGURATION, DELIVERED, SUCCESS, SUCCESS_KEPT};
use std::io::Write;
use testbed::{Bed, Machine, Profile, Result};

/// Where a machine says that it is where its power shall be cut.
const HERE: &str = "/srv/here";
/// What cloud-init writes before it runs the module that writes files.
const SEMAPHORE: &str = "/var/lib/cloud/instance/sem/config_write_files";

/// Cuts the power once a script succeeds, while the unit's machineadm is at work.
fn cut_power_at(machine: &Machine, what: &str, script: &str) -> Result<()> {
    awaited(machine, what, &format!("{script} && pgrep -x machineadm"))?;
    machine.kill()?;
    assert_ne!(machine.run(&["test", "-e", SUCCESS_KEPT])?.code, 0, "{what}: the cut came too late");
    assert_eq!(machine.run(&["test", "-e", CONFIGURATION])?.code, 0, "{what}: the cut came too early");
    machine.power_on()
}

/// Cuts the power of a machine that is on where it said, and puts it back on.
fn cut_power_here(machine: &Machine) -> Result<()> {
    awaited(machine, "the moment of the cut", &format!("test -e {HERE}"))?;
    machine.kill()
}

/// Lets the first start of a unit wait before it does anything, for the cut.
fn wait_in(machine: &Machine, unit: &str) -> Result<()> {
    let drop_in =
        format!("[Service]\nExecStartPre=/bin/sh -c 'test -e {HERE} || {{ touch {HERE}; sleep infinity; }}'\n");
    machine.write(&format!("/etc/systemd/system/{unit}.d/cut.conf"), drop_in, 0o644)
}

/// Lets a loop, which runs from the start of the first boot on, stop cloud-init between the semaphore of the module that
/// writes files and the configuration. A large file before it makes that longer than the loop takes.
fn wait_while_files_are_written(machine: &Machine) -> Result<()> {
    let script = format!("until test -e {SEMAPHORE}; do :; done; pkill -STOP -x cloud-init; touch {HERE}");
    let unit = format!(
        "[Unit]\nDefaultDependencies=no\nConditionPathExists=!{HERE}\n[Service]\nExecStart=/bin/sh -c '{script}'\n\
         [Install]\nWantedBy=sysinit.target\n"
    );
    machine.write("/etc/systemd/system/stopper.service", unit, 0o644)?;
    machine.check(&["systemctl", "enable", "stopper.service"]).map(drop)
}

/// User data that writes a large file before the configuration.
fn with_large_file(user_data: &str) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&vec![0; 64 << 20]).expect("memory takes it");
    let content = BASE64_STANDARD.encode(gzip.finish().expect("memory takes it"));
    let files = "write_files:\n";
    assert!(user_data.contains(files), "{user_data}");
    user_data.replace(files, &format!("{files}- {{path: /srv/large, encoding: gz+b64, content: {content}}}\n"))
}

/// The configuration is lost unless something delivers it again.
fn is_cut_while_files_are_written(machine: &Machine) -> Result<()> {
    cut_power_here(machine)?;
    machine.check(&["test", "-e", SEMAPHORE])?;
    assert_ne!(machine.run(&["test", "-e", DELIVERED])?.code, 0, "the cut came too late");
    machine.power_on()
}

/// Lets a loop on the machine stop machineadm as soon as kubeadm has begun, and wait for kubeadm's own end: machineadm never
/// learns of it.
fn stop_before_the_end(machine: &Machine) -> Result<()> {
    let after = format!(
        "until test -e /etc/kubernetes/bootstrap-kubelet.conf; do sleep 0.01; done; pkill -STOP -x machineadm; until test -e \
         /var/lib/kubelet/pki/kubelet-client-current.pem && ! pgrep -r R,S,D -x kubeadm; do sleep 0.01; done; touch {HERE}2"
    );
    awaited(machine, "the loop", &format!("systemd-run --unit=stopper2 sh -c '{after}'")).map(drop)
}

/// Lets a loop on the machine stop kubeadm and machineadm in the middle of the join, which is too short to be met from
/// outside.
fn stop_in_the_middle(machine: &Machine) -> Result<()> {
    let middle = "until test -e /etc/kubernetes/bootstrap-kubelet.conf; do sleep 0.01; done; pkill -STOP -x kubeadm; \
                  pkill -STOP -x machineadm; touch /srv/stopped";
    awaited(machine, "the loop", &format!("systemd-run --unit=stopper sh -c '{middle}'")).map(drop)
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
    let unit = example_user_data::UNIT.replace("After=", "After=cloud-final.service ");
    machine.write(&format!("/usr/lib/systemd/system/{UNIT}"), unit, 0o644)?;
    machine.check(&["systemctl", "enable", UNIT])?;
    machine.boot()?;
    let cycles = ordering_cycles(&machine)?;
    assert!(!cycles.is_empty(), "{}", machine.whole_console());
    bed.down()
}

/// cloud-init takes a module for done before it has run it: why the example has a command that each boot runs.
#[test]
fn a_power_cut_while_cloud_init_writes_files_loses_what_nothing_delivers_again() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let user_data = "#cloud-config\nwrite_files:\n- {path: /etc/machineadm/config.yaml, content: 'kind: Nothing'}\n";
    let machine = bed.machine("m1", &Profile::default().with_user_data(&with_large_file(user_data)))?;
    wait_while_files_are_written(&machine)?;
    machine.power_on()?;
    is_cut_while_files_are_written(&machine)?;
    machine.wait_until_running()?;
    assert_ne!(machine.run(&["test", "-e", DELIVERED])?.code, 0, "then the example needs no such command");
    bed.down()
}

/// A machine is cut in each stage of cloud-init at its first boot, or in each stage of a run of ours:
///
/// | machine | cuts |
/// |---|---|
/// | w1 | none: Ignition, which is through before the boot |
/// | w2 | cloud-init's local stage; before machineadm runs; at discovery; in the middle of kubeadm |
/// | w3 | cloud-init's network stage, in the middle of the module that writes files |
/// | w4 | cloud-init's config stage; after kubeadm's end, before machineadm has seen it |
/// | w5 | cloud-init's final stage, which runs machineadm, since no unit is enabled |
#[test]
fn workers_of_ignition_and_cloud_init_join_without_help_also_after_power_cuts() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), Judge("ignition"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let documents = worker(&format!("{}:6443", first.address()), &ca);
    let user_data = cloud_config(&documents);
    let by_ignition = ignited(&bed, "w1", &documents)?;
    let ours = seeded(&bed, "w2", &user_data)?;
    wait_in(&ours, "cloud-init-local.service")?;
    let in_network = seeded(&bed, "w3", &with_large_file(&user_data))?;
    wait_while_files_are_written(&in_network)?;
    let in_config = seeded(&bed, "w4", &user_data)?;
    wait_in(&in_config, "cloud-config.service")?;
    let in_final = seeded(&bed, "w5", &user_data)?;
    in_final.check(&["systemctl", "disable", UNIT])?;

    // All boot before their cluster exists.
    let at_discovery = format!("{PROGRAM} status -o json | grep -q '\"discovery\"'");
    on_each(&[&first, &by_ignition, &ours, &in_network, &in_config, &in_final], |machine| {
        machine.power_on()?;
        match machine.name() {
            "w2" => {
                cut_power_here(machine)?;
                machine.check(&["rm", HERE])?;
                machine.check(&["rm", "-r", "/etc/systemd/system/cloud-init-local.service.d"])?;
                wait_in(machine, UNIT)?;
                machine.power_on()?;
                cut_power_here(machine)?;
                assert_ne!(machine.run(&["test", "-e", CONFIGURATION])?.code, 0, "the cut came too late");
                machine.power_on()?;
                // Its documents are read, and all that they ask for but the cluster, which is not there, can be done.
                cut_power_at(machine, "a run that has begun", &at_discovery)
            }
            "w3" => is_cut_while_files_are_written(machine),
            "w4" => {
                cut_power_here(machine)?;
                machine.power_on()
            }
            "w5" => {
                let in_stage = "systemctl show --property=ActiveState cloud-final | grep -q activating";
                cut_power_at(machine, "the final stage", &format!("{in_stage} && {at_discovery}"))
            }
            "cp" => machine.wait_until_running(),
            _ => Ok(()),
        }
    })?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    stop_in_the_middle(&ours)?;
    stop_before_the_end(&in_config)?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    cut_power_at(&ours, "the middle of kubeadm join", "test -e /srv/stopped")?;
    cut_power_at(&in_config, "the end of kubeadm join", &format!("test -e {HERE}2"))?;

    first.wait_for_nodes(&["cp", "w1", "w2", "w3", "w4", "w5"])?;
    for (machine, cuts) in [(&by_ignition, 0), (&ours, 4), (&in_network, 1), (&in_config, 2), (&in_final, 1)] {
        awaited(machine, "the unit's success", &format!("systemctl is-active {UNIT} && test -e {SUCCESS}"))?;
        is_done(machine)?;
        assert_eq!(ordering_cycles(machine)?, [""; 0], "{}", machine.name());
        let boots = machine.whole_console().matches("Welcome to").count();
        assert_eq!(boots, cuts + 1, "{}: power cuts", machine.name());
    }
    let cloud_init = ours.run(&["cloud-init", "status", "--wait", "--long"])?;
    assert!(cloud_init.stdout.contains("status: done"), "{cloud_init:?}");
    ours.judged("cloud-init")?;

    // After a success nothing runs again, and nothing delivers the configuration, with its secrets, again.
    let since = first.now()?;
    on_each(&[&by_ignition, &ours], |machine| {
        machine.kill()?;
        machine.boot()?;
        let condition = machine.check(&["systemctl", "show", "--property=ActiveState,ConditionResult", UNIT])?;
        assert_eq!(condition, "ActiveState=inactive\nConditionResult=no\n", "not after a success");
        is_done(machine)?;
        first.wait_for_node_since(machine.name(), &since)
    })?;
    bed.down()
}
