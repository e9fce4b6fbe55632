//! `docs/getting-started.md`, line by line, on a whole machine with real kubeadm.
use std::{fs, path::Path, time::Duration};
use testbed::{Bed, Machine, Profile, Result};

const PROGRAM: &str = "/usr/local/bin/machineadm";
const CONFIGURATION: &str = "/etc/machineadm/node.yaml";

/// What a machine of the test bed needs beside what the page says: it is a container on a host with control groups of
/// version 1, whose kernel has `br_netfilter` built in and does not list it, and whose disk is the host's.
const FOR_THE_TEST_BED: &str = "
  toleratedChecks: [cgroups]
  kubelet:
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
    imageGCHighThresholdPercent: 100
  kubeProxy:
    conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
";

/// The page's shell blocks, in order.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/getting-started.md");
    let text = fs::read_to_string(page).expect("the page");
    text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn adapt(machine: &Machine) -> Result<()> {
    let generated = machine.read(CONFIGURATION)?;
    let adapted = generated.replace("[overlay, br_netfilter]", "[overlay]") + FOR_THE_TEST_BED;
    assert!(adapted.contains("modules: [overlay]\n") && generated.ends_with("#   maxPods: 110\n"), "{generated}");
    machine.write(CONFIGURATION, adapted, 0o600)
}

#[test]
fn the_page_leads_from_a_fresh_machine_to_a_ready_node() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = bed.machine("node-7", &Profile::node())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    let blocks = blocks();
    assert!(blocks.len() >= 7, "{blocks:?}");
    let mut printed = String::new();
    for block in &blocks {
        let script = format!("set -eux; export PATH=/usr/local/bin:$PATH\n{block}");
        let ran = machine.run_within(&["sh", "-c", &script], Duration::from_secs(900))?;
        assert_eq!(ran.code, 0, "{block}\n{}\n{}", ran.stdout, ran.stderr);
        printed += &ran.stdout;
        if block.contains("machineadm generate") {
            adapt(&machine)?;
        }
    }
    machine.wait_for_nodes(&["node-7"])?;
    for shown in ["no problems", "InitConfig first", "node-7  SUCCEEDED", "control-plane", "Do not edit."] {
        assert!(printed.contains(shown), "{shown}: {printed}");
    }
    bed.down()
}
