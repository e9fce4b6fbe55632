//! `docs/getting-started.md`, line by line, on whole machines with real kubeadm.
use std::{fs, path::Path, time::Duration};
use testbed::{Bed, Machine, Profile, Result};

const PROGRAM: &str = "/usr/local/bin/machineadm";
/// The user data and the unit of the page.
const CLOUD_INIT: &str = include_str!("../../../../examples/cloud-init.yaml");
const UNIT: &str = include_str!("../../../../examples/machineadm.service");
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
    a_worker_boots_from_the_example(&bed, &machine, &printed)?;
    for shown in ["no problems", "InitConfig first", "node-7  SUCCEEDED", "control-plane", "Do not edit."] {
        assert!(printed.contains(shown), "{shown}: {printed}");
    }
    bed.down()
}

/// The user data of the example, with the three values that the page's command has printed.
fn a_worker_boots_from_the_example(bed: &Bed, first: &Machine, printed: &str) -> Result<()> {
    let command = printed.lines().find(|line| line.starts_with("kubeadm join ")).expect("a join command");
    let words: Vec<&str> = command.split_whitespace().collect();
    let after = |flag: &str| words[words.iter().position(|word| *word == flag).expect(flag) + 1];
    let values = [
        ("10.0.0.10:6443", words[2]),
        ("abcdef.0123456789abcdef", after("--token")),
        (
            "sha256:7d6f10c3ba2e4a1f8f6a0c9b5d3e2147a8b9c0d1e2f30415263748596a7b8c9d",
            after("--discovery-token-ca-cert-hash"),
        ),
    ];
    let mut user_data = CLOUD_INIT.to_owned();
    for (example, value) in values {
        assert!(user_data.contains(example), "{example}");
        user_data = user_data.replace(example, value);
    }
    let for_the_test_bed = "spec:\n      kubernetesVersion: v1.36.4\n";
    assert!(user_data.contains(for_the_test_bed));
    let user_data =
        user_data.replace(for_the_test_bed, &format!("{for_the_test_bed}      toleratedChecks: [cgroups]\n"));
    let worker = bed.machine("worker", &Profile::node().with_user_data(&user_data))?;
    worker.copy_in(&machineadm_benches::machine_program().expect("the static program"), "/usr/bin/machineadm")?;
    worker.write("/usr/lib/systemd/system/machineadm.service", UNIT, 0o644)?;
    worker.power_on()?;
    first.wait_for_nodes(&["node-7", "worker"])
}
