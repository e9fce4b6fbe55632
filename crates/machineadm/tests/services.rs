//! Services under a real systemd: restarted when they have not read their files, left alone otherwise.
use testbed::{Bed, Machine, Output, Profile, Result};

const PROGRAM: &str = "/usr/bin/machineadm";
const FILE: &str = "/srv/node.yaml";

fn booted(bed: &Bed) -> Result<Machine> {
    let machine = bed.machine("node-7", &Profile::default())?;
    let program = machineadm_benches::static_machineadm().expect("the static program");
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
    let bed = Bed::new()?;
    let machine = booted(&bed)?;
    proxy(&machine, 3128, "[no-such-thing]")?;
    let run = machineadm(&machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 1, "{run:?}");
    let status = machineadm(&machine, &["status", "-o", "json"])?;
    let outcome: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(outcome["failure"]["phase"], "proxy");
    assert_eq!(outcome["failure"]["step"], "restart no-such-thing");
    assert!(machine.read("/run/cluster-api/bootstrap-failure.json")?.contains("systemd knows no such unit"));
    assert!(!machine.read("/var/lib/machineadm/outcome.json")?.contains("s3cret-word"));

    machine.write("/etc/systemd/system/no-such-thing.service", "[Service]\nExecStart=/bin/sleep infinity\n", 0o644)?;
    let run = machineadm(&machine, &["bootstrap"])?;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(machine.read("/run/cluster-api/bootstrap-success.complete")?, "success\n");
    assert_ne!(machine.run(&["test", "-e", "/run/cluster-api/bootstrap-failure.json"])?.code, 0);
    bed.down()
}
