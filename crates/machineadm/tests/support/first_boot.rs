//! Machines with the user data and the unit of `examples/`, from power on to a run that is done.
use crate::support::{
    cluster::{LIMIT, PROGRAM, with_program},
    example_user_data,
    worker::nothing_is_left,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use host::contract::{CONFIGURATION, DELIVERED, SUCCESS_KEPT};
use testbed::{Bed, Machine, Profile, Result, until};

pub(crate) const UNIT: &str = "machineadm.service";

/// The cloud-config of the examples with these documents.
pub(crate) fn cloud_config(documents: &str) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let example = indented(&example_user_data::of_cloud_init());
    assert!(example_user_data::CLOUD_INIT.contains(&example), "{example}");
    example_user_data::CLOUD_INIT.replace(&example, &indented(documents))
}

/// The Ignition config of the examples with these documents.
fn ignition_config(documents: &str) -> String {
    let example = BASE64_STANDARD.encode(example_user_data::of_ignition());
    assert!(example_user_data::IGNITION.contains(&example), "{example}");
    example_user_data::IGNITION.replace(&example, &BASE64_STANDARD.encode(documents))
}

/// On control groups of version 1 systemd does not notice in a container that a group is empty: it waits for its limit
/// before it restarts a unit whose process was killed.
const FOR_THE_TEST_BED: &str = "[Service]\nTimeoutStopSec=3\n";

/// What an image has: the program and the unit.
fn with_unit(machine: Machine) -> Result<Machine> {
    let machine = with_program(machine)?;
    machine.write(&format!("/usr/lib/systemd/system/{UNIT}"), example_user_data::UNIT, 0o644)?;
    machine.write(&format!("/etc/systemd/system/{UNIT}.d/testbed.conf"), FOR_THE_TEST_BED, 0o644)?;
    Ok(machine)
}

/// A machine that is off and finds this cloud-config at its first boot; its image has the unit, enabled.
pub(crate) fn seeded(bed: &Bed, name: &str, user_data: &str) -> Result<Machine> {
    let machine = with_unit(bed.machine(name, &Profile::node().with_user_data(user_data))?)?;
    machine.check(&["systemctl", "enable", UNIT])?;
    Ok(machine)
}

/// A machine that is off and that Ignition has prepared.
pub(crate) fn ignited(bed: &Bed, name: &str, documents: &str) -> Result<Machine> {
    let machine = with_unit(bed.machine(name, &Profile::node())?)?;
    machine.ignite(&ignition_config(documents))?;
    assert_eq!(machine.check(&["stat", "-c", "%a %U:%G", DELIVERED])?, "600 root:root\n");
    assert_eq!(machine.read(DELIVERED)?, documents);
    Ok(machine)
}

/// Waits until a script on a machine succeeds; a machine that is just going on can't be asked.
pub(crate) fn awaited(machine: &Machine, what: &str, script: &str) -> Result<String> {
    until(&format!("{}: {what}", machine.name()), LIMIT, || machine.shell(script).map_err(|error| error.to_string()))
}

/// A run has succeeded, in this boot or before, and nothing that is secret or half done is left.
pub(crate) fn is_done(machine: &Machine) -> Result<()> {
    awaited(machine, "success", &format!("test -e {SUCCESS_KEPT}"))?;
    let status = machine.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with(&format!("{}  SUCCEEDED", machine.name())), "{status}");
    for gone in [DELIVERED, CONFIGURATION] {
        assert_ne!(machine.run(&["test", "-e", gone])?.code, 0, "{}: {gone} is still there", machine.name());
    }
    nothing_is_left(machine)
}
