//! Units where systemd does not run: below `--root` and in a container, the root's own systemctl works on unit files.
use crate::support::{documents::document, sandbox::Sandbox};
use std::fs;

const UNIT: &str = "/etc/systemd/system/agent.service";
const WANTS: &str = "/etc/systemd/system/multi-user.target.wants/agent.service";

fn services(entries: &str) -> String {
    document("ServicesConfig", &format!("{{services: [{entries}]}}"))
}

/// A document that writes the unit file.
fn unit_file() -> String {
    let content = "[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n";
    document("FilesConfig", &format!("{{files: [{{path: {UNIT}, content: \"{content}\"}}]}}"))
}

fn is_link(sandbox: &Sandbox, path: &str) -> bool {
    fs::symlink_metadata(sandbox.at(path)).is_ok_and(|found| found.is_symlink())
}

#[test]
fn a_unit_of_an_earlier_document_is_enabled_without_a_service_manager_and_not_started() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let documents = [unit_file(), services("{name: agent, enabled: true, state: started}")].concat();
    fs::write(sandbox.at("/srv/configuration.yaml"), &documents).unwrap();
    let plan = sandbox.machineadm(&["plan", "-f", "/srv/configuration.yaml"]);
    assert!(plan.stdout.contains("known after document 1 (FilesConfig)"), "{}{}", plan.stdout, plan.stderr);
    let ran = sandbox.bootstrap(&documents);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(is_link(&sandbox, WANTS));
    assert!(sandbox.text(UNIT).unwrap().contains("WantedBy=multi-user.target"));
    let plan = sandbox.machineadm(&["plan", "-f", "/srv/configuration.yaml", "--exit-code"]);
    assert_eq!(plan.code, Some(0), "{}", plan.stdout);
    let remark = "agent.service is neither started nor stopped: systemd does not run here";
    assert!(plan.stdout.contains(remark), "{}", plan.stdout);

    let off = [unit_file(), services("{name: agent, enabled: false, masked: false}")].concat();
    assert_eq!(sandbox.bootstrap(&off).code, Some(0));
    assert!(!is_link(&sandbox, WANTS));
}

#[test]
fn below_a_root_its_own_systemctl_enables_and_masks_inside_that_root() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir -p /mnt/root; mount --bind / /mnt/root");
    let documents = [unit_file(), services("{name: agent, enabled: true, state: started}, {name: gone, masked: true}")];
    fs::write(sandbox.at("/srv/configuration.yaml"), documents.concat()).unwrap();
    let root = ["--root", "/mnt/root", "-f", "/srv/configuration.yaml"];
    let ran = sandbox.machineadm(&[&["bootstrap"], &root[..]].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(is_link(&sandbox, WANTS));
    let masked = fs::read_link(sandbox.at("/etc/systemd/system/gone.service")).unwrap();
    assert_eq!(masked.to_str(), Some("/dev/null"));
    let plan = sandbox.machineadm(&[&["plan", "--exit-code"], &root[..]].concat());
    assert_eq!(plan.code, Some(0), "{}", plan.stdout);
    assert!(plan.stdout.contains("take effect when this root file system boots"), "{}", plan.stdout);
}

#[test]
fn an_unknown_unit_and_a_root_without_systemctl_are_errors_at_plan() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    fs::write(sandbox.at("/srv/configuration.yaml"), services("{name: no-such-thing, enabled: true}")).unwrap();
    let plan = sandbox.machineadm(&["plan", "-f", "/srv/configuration.yaml"]);
    assert_eq!(plan.code, Some(1), "{}", plan.stdout);
    assert!(plan.stderr.contains("no-such-thing.service: systemd has no such unit"), "{}", plan.stderr);
    sandbox.sh("mkdir -p /mnt/empty/etc");
    let plan = sandbox.machineadm(&["plan", "--root", "/mnt/empty", "-f", "/srv/configuration.yaml"]);
    assert_eq!(plan.code, Some(1), "{}", plan.stdout);
    assert!(plan.stderr.contains("this system has no systemctl"), "{}", plan.stderr);
}
