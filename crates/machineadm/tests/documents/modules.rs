//! Kernel modules on a whole machine, with its real modprobe.
use testbed::{Bed, Profile, Result};

const PROGRAM: &str = "/usr/bin/machineadm";
const FILE: &str = "/srv/node.yaml";

#[test]
fn a_module_that_is_there_is_kept_for_the_next_boot_and_one_that_is_not_stops_the_run() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = bed.machine("node-7", &Profile::default())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    let ask = |modules: &str| {
        let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: KernelModulesConfig";
        machine.write(FILE, format!("{head}\nspec: {{modules: {modules}}}\n"), 0o600)?;
        machine.run(&[PROGRAM, "bootstrap", "-f", FILE])
    };
    let run = ask("[overlay]")?;
    assert_eq!(run.code, 0, "{run:?}");
    assert!(machine.read("/etc/modules-load.d/90-machineadm.conf")?.ends_with("\noverlay\n"));
    let plan = machine.run(&[PROGRAM, "plan", "-f", FILE, "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");

    let run = ask("[overlay, no_such_module]")?;
    assert_eq!(run.code, 1, "{run:?}");
    let status = machine.run(&[PROGRAM, "status", "-o", "json"])?;
    let outcome: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(outcome["failure"]["step"], "load no_such_module");
    assert!(outcome["failure"]["output"].to_string().contains("no_such_module"), "{outcome}");
    assert_eq!(ask("[overlay]")?.code, 0);
    bed.down()
}
