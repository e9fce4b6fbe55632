//! Workers with other versions than the usual ones: containerd 1.6, and a kubeadm that is newer than the cluster.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::worker::{nothing_is_left, worker};
use host::contract::DELIVERED;
use testbed::{Bed, Profile, Result, Runtime, Software, programs::KUBEADM_1_37};

#[test]
#[ignore = "long tier: containerd 1.6, and kubeadm 1.37 in a cluster of 1.36"]
fn workers_with_containerd_1_6_and_with_a_newer_kubeadm_join() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), EachPinned(&[&KUBEADM_1_37]));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let endpoint = format!("{}:6443", first.address());
    first.boot()?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;

    let old = Profile { software: Software::Node(Runtime::Debian), ..Profile::default() };
    let old = with_program(bed.machine("old", &old)?)?;
    old.boot()?;
    old.import_images()?;
    old.write(DELIVERED, worker(&endpoint, &ca), 0o600)?;
    ends_well(&old, &["bootstrap"])?;

    let new = with_program(bed.machine("new", &Profile::node())?)?;
    new.copy_in(&KUBEADM_1_37.ensure()?.judge("kubeadm")?, "/usr/local/bin/kubeadm")?;
    new.boot()?;
    // The version of the document would be the cluster's; without it, that of the machine's kubeadm counts.
    new.write(DELIVERED, worker(&endpoint, &ca).replace("  kubernetesVersion: v1.36.4\n", ""), 0o600)?;
    let ran = new.run_within(&[PROGRAM, "bootstrap"], LIMIT)?;
    assert_eq!(ran.code, 0, "{ran:?}");

    first.wait_for_nodes(&["cp", "old", "new"])?;
    nothing_is_left(&old)?;
    nothing_is_left(&new)?;
    let version = |name: &str, field: &str| -> Result<String> {
        let node = first.kubectl_json(&["get", "node", name])?;
        Ok(node["status"]["nodeInfo"][field].as_str().unwrap_or_default().to_owned())
    };
    assert!(version("old", "containerRuntimeVersion")?.starts_with("containerd://1.6."), "{:?}", version("old", ""));
    assert_eq!(
        (version("new", "kubeletVersion")?.as_str(), new.check(&["kubeadm", "version", "-o", "short"])?.trim()),
        ("v1.36.4", "v1.37.1")
    );
    bed.down()
}
