//! Chaos: machineadm is killed, or the power is cut, at a random moment of a first boot; the unit, or the next boot,
//! finishes without help, whatever the moment.
use crate::support::cluster::{Authority, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::first_boot::{awaited, cloud_config, ignited, is_done, seeded};
use crate::support::parallel_machines::on_each;
use crate::support::worker::worker;
use host::contract::{DELIVERED, SUCCESS_KEPT};
use serde_json::Value;
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};
use testbed::{Bed, Machine, Profile, Result, random::Random};

/// How many bootstraps the long tier has, if not its usual number.
const BOOTSTRAPS: &str = "MACHINEADM_CHAOS_BOOTSTRAPS";
/// As many machines boot at once.
const AT_ONCE: usize = 3;
/// Where a machine says that its machineadm was killed.
const KILLED: &str = "/srv/killed";

/// What happens to a machine in its first boot.
#[derive(Debug, Clone, Copy)]
enum Blow {
    PowerCut,
    Kill,
}

/// The tool of the first boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    CloudInit,
    Ignition,
}

/// How long a bootstrap takes when nothing happens.
#[derive(Debug, Clone, Copy)]
struct Usual {
    tool: Tool,
    /// From power on to success.
    whole: Duration,
    /// machineadm's own run.
    run: Duration,
}

/// One bootstrap: what its machine boots with, and what happens at which part of the usual time.
#[derive(Debug)]
struct Attempt {
    name: String,
    tool: Tool,
    blow: Blow,
    part: f64,
}

impl Attempt {
    /// A random one.
    fn drawn(random: &mut Random, number: usize) -> Self {
        Self {
            name: format!("w{number}"),
            tool: if random.below(2) == 0 { Tool::CloudInit } else { Tool::Ignition },
            blow: if random.below(2) == 0 { Blow::PowerCut } else { Blow::Kill },
            part: random.part(),
        }
    }
}

fn new_machine(bed: &Bed, name: &str, tool: Tool, documents: &str) -> Result<Machine> {
    match tool {
        Tool::CloudInit => seeded(bed, name, &cloud_config(documents)),
        Tool::Ignition => ignited(bed, name, documents),
    }
}

/// Kills machineadm so long after it was started; once.
fn kill_after(machine: &Machine, moment: Duration) -> Result<()> {
    let script = format!(
        "until pid=$(pgrep -o -x machineadm); do sleep 0.01; done; sleep {:.3}; kill -9 $pid; touch {KILLED}",
        moment.as_secs_f64()
    );
    // A dollar is systemd's own unless it is doubled.
    let script = script.replace('$', "$$");
    let unit = format!(
        "[Unit]\nDefaultDependencies=no\nConditionPathExists=!{KILLED}\n[Service]\nExecStart=/bin/sh -c '{script}'\n\
         [Install]\nWantedBy=sysinit.target\n"
    );
    machine.write("/etc/systemd/system/killer.service", unit, 0o644)?;
    machine.check(&["systemctl", "enable", "killer.service"]).map(drop)
}

/// Boots a machine, lets the blow fall, and waits until its run is done and its node Ready. After a power cut it is booted
/// again; after a kill nobody does anything.
fn survives(machine: &Machine, attempt: &Attempt, usual: &Usual, first: &Machine) -> Result<()> {
    let moment = match attempt.blow {
        Blow::PowerCut => usual.whole.mul_f64(attempt.part),
        Blow::Kill => usual.run.mul_f64(attempt.part),
    };
    match attempt.blow {
        Blow::PowerCut => {
            machine.power_on()?;
            // The moment is drawn: there is nothing to wait for.
            std::thread::sleep(moment);
            machine.kill()?;
        }
        Blow::Kill => {
            kill_after(machine, moment)?;
            machine.power_on()?;
            // A run that was faster than usual was over before.
            awaited(machine, "the kill", &format!("test -e {KILLED} || test -e {SUCCESS_KEPT}"))?;
        }
    }
    let was_done = machine.run(&["test", "-e", SUCCESS_KEPT])?.code == 0;
    // A kubelet that was not restarted repeats its status every five minutes only; the Node of a new machine is new.
    let since = if matches!(attempt.blow, Blow::PowerCut) { first.now()? } else { String::new() };
    eprintln!("{attempt:?}: {:.1} s, {}", moment.as_secs_f64(), if was_done { "was done" } else { "was not done" });
    if matches!(attempt.blow, Blow::PowerCut) {
        machine.boot()?;
    }
    is_done(machine)?;
    first.wait_for_node_since(machine.name(), &since)
}

/// Boots one machine for each tool, both at once, and measures.
fn undisturbed(bed: &Bed, documents: &str) -> Result<Vec<Usual>> {
    let tools = [Tool::CloudInit, Tool::Ignition];
    let machines = tools.map(|tool| new_machine(bed, &format!("{tool:?}").to_lowercase(), tool, documents));
    let machines: Vec<Machine> = machines.into_iter().collect::<Result<_>>()?;
    let measured = Mutex::new(Vec::new());
    on_each(&machines.iter().collect::<Vec<_>>(), |machine| {
        let began = Instant::now();
        machine.power_on()?;
        awaited(machine, "success", &format!("test -e {SUCCESS_KEPT}"))?;
        let whole = began.elapsed();
        is_done(machine)?;
        let report: Value = serde_json::from_str(&machine.read("/run/machineadm/report.json")?).expect("JSON");
        let run = Duration::from_secs_f64(report["seconds"].as_f64().expect("a report has a time"));
        let tool = if machine.name() == "ignition" { Tool::Ignition } else { Tool::CloudInit };
        measured.lock().expect("no measure has failed").push(Usual { tool, whole, run });
        Ok(())
    })?;
    machines.into_iter().try_for_each(Machine::discard)?;
    Ok(measured.into_inner().expect("no measure has failed"))
}

fn chaos(bootstraps: usize) -> Result<()> {
    let mut random = Random::of_this_run();
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    first.boot()?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    let documents = worker(&format!("{}:6443", first.address()), &ca);
    let usual = undisturbed(&bed, &documents)?;
    eprintln!("undisturbed: {usual:.1?}");
    let attempts: Vec<Attempt> = (1..=bootstraps).map(|number| Attempt::drawn(&mut random, number)).collect();
    for wave in attempts.chunks(AT_ONCE) {
        let machines = wave.iter().map(|attempt| new_machine(&bed, &attempt.name, attempt.tool, &documents));
        let machines: Vec<Machine> = machines.collect::<Result<_>>()?;
        on_each(&machines.iter().collect::<Vec<_>>(), |machine| {
            let attempt = wave.iter().find(|attempt| attempt.name == machine.name());
            let attempt = attempt.expect("each machine has its attempt");
            let usual = usual.iter().find(|usual| usual.tool == attempt.tool).expect("each tool was measured");
            survives(machine, attempt, usual, &first)
        })?;
        for machine in machines {
            first.kubectl(&["delete", "node", machine.name()])?;
            machine.discard()?;
        }
    }
    bed.down()
}

#[test]
fn three_bootstraps_survive_chaos() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), Judge("ignition"));
    chaos(AT_ONCE)
}

#[test]
#[ignore = "long tier: a hundred bootstraps, each killed or cut at a random moment"]
fn a_hundred_bootstraps_survive_chaos() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), Judge("ignition"));
    let asked = std::env::var(BOOTSTRAPS).ok().map(|text| text.parse().expect("a number of bootstraps"));
    chaos(asked.unwrap_or(100))
}
