//! Services under a real systemd: restarted when they have not read their files, left alone otherwise.
use serde_json::{Value, json};
use testbed::{Bed, Machine, Output, Profile, Result};

const PROGRAM: &str = "/usr/bin/machineadm";
const FILE: &str = "/srv/node.yaml";

fn booted(bed: &Bed) -> Result<Machine> {
    let machine = bed.machine("node-7", &Profile::default())?;
    let program = machineadm_benches::machine_program().expect("the static program");
    machine.copy_in(&program, PROGRAM)?;
    machine.boot()?;
    Ok(machine)
}

fn proxy(machine: &Machine, port: u16, services: &str) -> Result<()> {
    let text = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ProxyConfig\nspec:\n  \
         httpProxy: http://node:s3cret-word@proxy.example:{port}\n  services: {services}\n"
    );
    machine.write(FILE, text, 0o600)
}

fn machineadm(machine: &Machine, words: &[&str]) -> Result<Output> {
    machine.run(&[&[PROGRAM], words].concat())
}

fn invocation(machine: &Machine, service: &str) -> Result<String> {
    machine.check(&["systemctl", "show", "--property=InvocationID", "--value", service])
}

/// What the running service has in its environment, as the kernel sees it.
fn environment(machine: &Machine, service: &str) -> Result<String> {
    machine.shell(&format!("tr '\\0' '\\n' < /proc/$(systemctl show -p MainPID --value {service})/environ"))
}

#[test]
fn a_running_service_is_restarted_once_and_an_idle_one_is_left_alone() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = booted(&bed)?;
    machine.shell("systemctl start containerd; systemctl stop chrony")?;
    let before = invocation(&machine, "containerd")?;
    proxy(&machine, 3128, "[containerd, chrony]")?;
    let plan = machineadm(&machine, &["plan", "-f", FILE])?;
    assert!(plan.stdout.contains("↻ containerd"), "{plan:?}");
    let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    assert_ne!(invocation(&machine, "containerd")?, before, "containerd was not restarted");
    assert!(environment(&machine, "containerd")?.contains("HTTP_PROXY=http://node:s3cret-word@proxy.example:3128"));
    assert_eq!(machine.run(&["systemctl", "is-active", "chrony"])?.stdout.trim(), "inactive");
    // systemd shows everybody a unit's own variables, so none may be there.
    assert!(!machine.check(&["systemctl", "show", "containerd"])?.contains("s3cret-word"));

    // A second run, a start by somebody else, and a reboot: all have read it.
    let after = invocation(&machine, "containerd")?;
    machine.shell("systemctl start chrony")?;
    for step in ["again", "after a reboot"] {
        let plan = machineadm(&machine, &["plan", "-f", FILE, "--exit-code"])?;
        assert_eq!(plan.code, 0, "{step}: {plan:?}");
        assert_eq!(machineadm(&machine, &["bootstrap", "-f", FILE])?.code, 0);
        if step == "again" {
            assert_eq!(invocation(&machine, "containerd")?, after, "containerd was restarted for nothing");
            assert!(environment(&machine, "chrony")?.contains("HTTP_PROXY="));
            machine.power_off()?;
            machine.boot()?;
        }
    }

    proxy(&machine, 8080, "[containerd, chrony]")?;
    assert_eq!(machineadm(&machine, &["plan", "-f", FILE, "--exit-code"])?.code, 3);
    assert_eq!(machineadm(&machine, &["bootstrap", "-f", FILE])?.code, 0);
    assert!(environment(&machine, "containerd")?.contains("proxy.example:8080"));
    bed.down()
}

#[test]
fn an_unknown_service_stops_the_run_at_its_step_and_the_next_run_finishes() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = booted(&bed)?;
    proxy(&machine, 3128, "[no-such-thing]")?;
    let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 1, "{run:?}");
    let status = machineadm(&machine, &["status", "-o", "json"])?;
    let outcome: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(outcome["failure"]["phase"], "ProxyConfig");
    assert_eq!(outcome["failure"]["step"], "restart no-such-thing");
    assert!(machine.read("/run/cluster-api/bootstrap-failure.json")?.contains("systemd has no such unit"));
    assert!(!machine.read("/var/lib/machineadm/outcome.json")?.contains("s3cret-word"));

    machine.write("/etc/systemd/system/no-such-thing.service", "[Service]\nExecStart=/bin/sleep infinity\n", 0o644)?;
    let run = machineadm(&machine, &["bootstrap"])?;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(machine.read("/run/cluster-api/bootstrap-success.complete")?, "success\n");
    assert_ne!(machine.run(&["test", "-e", "/run/cluster-api/bootstrap-failure.json"])?.code, 0);
    bed.down()
}

fn units(machine: &Machine, entries: &str) -> Result<()> {
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ServicesConfig\n";
    machine.write(FILE, format!("{head}spec: {{services: [{entries}]}}\n"), 0o600)
}

#[test]
fn units_are_enabled_started_masked_and_a_failed_start_shows_its_log() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = booted(&bed)?;
    machine.shell("systemctl disable --now chrony; systemctl stop containerd")?;
    units(&machine, "{name: chrony, enabled: true, state: started}, {name: containerd, masked: true, state: stopped}")?;
    let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(machine.check(&["systemctl", "is-active", "chrony"])?.trim(), "active");
    assert_eq!(machine.check(&["systemctl", "is-enabled", "chrony"])?.trim(), "enabled");
    assert_eq!(machine.run(&["systemctl", "is-enabled", "containerd"])?.stdout.trim(), "masked");
    let plan = machineadm(&machine, &["plan", "-f", FILE, "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");

    let unit = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c 'echo the reason; exit 7'\n";
    machine.write("/etc/systemd/system/broken.service", unit, 0o644)?;
    units(&machine, "{name: broken, state: started}")?;
    let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("systemctl start broken.service failed with result exit-code"), "{run:?}");
    assert!(run.stderr.contains("the reason"), "{run:?}");
    machine.write("/etc/systemd/system/broken.service", unit.replace("exit 7", "exit 0"), 0o644)?;
    assert_eq!(machineadm(&machine, &["bootstrap"])?.code, 0);
    assert_eq!(machine.check(&["systemctl", "is-active", "broken"])?.trim(), "active");
    bed.down()
}

const RECORD: &str = "/var/lib/machineadm/services/containerd.json";
const SECOND_FILE: &str = "/etc/containerd/second.toml";

/// Two proxies for two services, and a file that a document of another kind has.
fn three_documents(machine: &Machine, port: u16) -> Result<()> {
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind:";
    let proxy = |name: &str, port: u16, service: &str| {
        let spec = format!("{{httpProxy: 'http://proxy.example:{port}', services: [{service}]}}");
        format!("{head} ProxyConfig\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n")
    };
    let file = format!("{head} FilesConfig\nspec: {{files: [{{path: {SECOND_FILE}, content: second}}]}}\n");
    machine.write(FILE, [proxy("runtime", port, "containerd"), proxy("clock", 3128, "chrony"), file].concat(), 0o600)
}

fn record(machine: &Machine) -> Result<Value> {
    Ok(serde_json::from_str(&machine.read(RECORD)?).expect("the record is JSON"))
}

/// Records that containerd has read a second file at its present start. No kind but ProxyConfig restarts services yet:
/// the entry is written here as machineadm writes those of a proxy's files.
fn note_second_file(machine: &Machine) -> Result<()> {
    let mut record = record(machine)?;
    let sha256 = machine.check(&["sha256sum", SECOND_FILE])?;
    let boot = machine.read("/proc/sys/kernel/random/boot_id")?;
    let start = invocation(machine, "containerd")?;
    let digest = sha256.split(' ').next().unwrap_or_default();
    record["files"][SECOND_FILE] = json!({"digest": digest, "boot": boot.trim(), "start": start.trim()});
    machine.write(RECORD, record.to_string(), 0o600)
}

/// What systemd tells of the starts of both services.
#[derive(Debug, PartialEq, Eq)]
struct Starts {
    containerd: String,
    chrony: String,
    /// How often it has started containerd since the boot.
    of_containerd: usize,
}

fn starts(machine: &Machine) -> Result<Starts> {
    machine.check(&["journalctl", "--sync"])?;
    let journal = machine.check(&["journalctl", "--boot", "--unit=containerd", "--output=cat", "--no-pager"])?;
    let of_containerd = journal.lines().filter(|line| line.starts_with("Started containerd.service")).count();
    Ok(Starts { containerd: invocation(machine, "containerd")?, chrony: invocation(machine, "chrony")?, of_containerd })
}

#[test]
fn two_documents_with_different_files_of_one_service_do_not_restart_it_for_each_other() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = booted(&bed)?;
    machine.shell("systemctl start containerd chrony")?;
    three_documents(&machine, 3128)?;
    let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    note_second_file(&machine)?;

    let (recorded, before) = (record(&machine)?, starts(&machine)?);
    assert_eq!(recorded["files"].as_object().map(serde_json::Map::len), Some(3), "{recorded}");
    for _ in 0..2 {
        let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
        assert!(run.code == 0 && run.stdout.contains("nothing to do"), "{run:?}");
    }
    assert_eq!((record(&machine)?, starts(&machine)?), (recorded, before), "a run restarted for nothing");

    a_change_of_one_file_restarts_once(&machine)?;
    a_prune_of_both_files_restarts_once(&machine)?;
    bed.down()
}

/// By that restart it has read its other files as well.
fn a_change_of_one_file_restarts_once(machine: &Machine) -> Result<()> {
    let before = starts(machine)?;
    three_documents(machine, 8080)?;
    let run = machineadm(machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    let after = starts(machine)?;
    assert_eq!((&after.chrony, after.of_containerd), (&before.chrony, before.of_containerd + 1), "{run:?}");
    let recorded = record(machine)?;
    assert!(recorded["files"][SECOND_FILE].is_object(), "{recorded}");
    for (file, read) in recorded["files"].as_object().expect("the record lists files") {
        assert_eq!(read["start"], after.containerd.trim(), "{file}");
    }
    let run = machineadm(machine, &["bootstrap", "-f", FILE])?;
    assert!(run.stdout.contains("nothing to do"), "{run:?}");
    assert_eq!(starts(machine)?, after);
    Ok(())
}

fn a_prune_of_both_files_restarts_once(machine: &Machine) -> Result<()> {
    let before = starts(machine)?;
    proxy(machine, 3128, "[chrony]")?;
    let run = machineadm(machine, &["bootstrap", "--mode", "post", "--prune", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(starts(machine)?.of_containerd, before.of_containerd + 1, "{run:?}");
    assert!(!environment(machine, "containerd")?.contains("HTTP_PROXY"));
    Ok(())
}
