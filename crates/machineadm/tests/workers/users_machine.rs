//! What users' machines are: control groups of version 2 alone, containerd with the systemd driver, default settings of
//! the kubelet and no tolerated check. `testbed/tests/cgroup_v2.rs` runs this in a virtual machine. A host that has control
//! groups of version 1 as well needs what every document of these tests has there, and shows nothing of the above.
use crate::support::cluster::{Authority, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::worker::{nothing_is_left, worker};
use host::contract::DELIVERED;
use std::path::Path;
use testbed::{Bed, Machine, Profile, Result};

/// Whether this host has control groups of version 2 alone.
fn has_version_2() -> bool {
    Path::new("/sys/fs/cgroup/cgroup.controllers").exists()
}

/// Documents without what only control groups of version 1 need: tolerated checks, and settings of the kubelet.
fn with_defaults(documents: &str) -> String {
    if !has_version_2() {
        return documents.to_owned();
    }
    let mut kept = String::new();
    let mut is_left_out = false;
    for line in documents.lines() {
        let is_field = line.starts_with("  ") && !line.starts_with("   ");
        if is_field || !line.starts_with(' ') {
            is_left_out = ["  toleratedChecks:", "  kubelet:"].iter().any(|field| line.starts_with(field));
        }
        if !is_left_out {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A machine whose containerd uses the systemd driver, where there is one driver for all groups.
fn machine(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    if has_version_2() {
        machine.shell("sed -i 's/SystemdCgroup = false/SystemdCgroup = true/' /etc/containerd/config.toml")?;
        // kubeadm's SystemVerification reads the kernel's configuration, which machines share with their host.
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let config = format!("/boot/config-{}", release.trim());
        if Path::new(&config).exists() {
            machine.copy_in(Path::new(&config), &config)?;
        }
    }
    machine.boot()?;
    Ok(machine)
}

#[test]
#[ignore = "long tier: init and join as on users' machines, in the virtual machine of cgroup_v2"]
fn a_control_plane_and_a_worker_need_no_tolerated_check_and_no_setting_of_the_kubelet() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = machine(&bed, "cp")?;
    let endpoint = format!("{}:6443", first.address());
    first.write(DELIVERED, with_defaults(&control_plane(&ca)), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    let second = machine(&bed, "w1")?;
    second.write(DELIVERED, with_defaults(&worker(&endpoint, &ca)), 0o600)?;
    ends_well(&second, &["bootstrap"])?;
    first.wait_for_nodes(&["cp", "w1"])?;
    nothing_is_left(&second)?;
    if has_version_2() {
        for machine in [&first, &second] {
            let configuration = machine.read("/var/lib/kubelet/config.yaml")?;
            assert!(configuration.contains("cgroupDriver: systemd"), "{configuration}");
            let warned = machine.run(&[PROGRAM, "status"])?;
            assert!(!warned.stdout.contains("tolerated"), "{warned:?}");
        }
    }
    bed.down()
}

#[test]
fn only_what_old_control_groups_need_is_left_out() {
    let documents =
        "spec:\n  a: 1\n  toleratedChecks: [cgroups]\n  kubelet:\n    x: y\n  kubeProxy: {}\n---\nkind: B\n";
    let expected = match has_version_2() {
        true => "spec:\n  a: 1\n  kubeProxy: {}\n---\nkind: B\n",
        false => documents,
    };
    assert_eq!(with_defaults(documents), expected);
}
