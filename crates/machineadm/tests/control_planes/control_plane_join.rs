//! Control plane nodes on whole machines, from user data of cloud-init: certificates copied by machineadm alone, etcd and API server on each, and all of
//! it again after every machine has lost its power.
use crate::support::cloud_init_seed::user_data;
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{KEY, first_of_several, serves, voters};
use crate::support::further_node::further;
use testbed::{Bed, Machine, Profile, Result, judges, until};

/// Certificates that kubeadm issues on each control plane node; the copy has none of them.
const OWN: [&str; 6] = [
    "apiserver.crt",
    "apiserver-kubelet-client.crt",
    "apiserver-etcd-client.crt",
    "etcd/server.crt",
    "etcd/peer.crt",
    "etcd/healthcheck-client.crt",
];
/// Those of them that name the machine for its clients and peers.
const NAMED: [&str; 3] = ["apiserver.crt", "etcd/server.crt", "etcd/peer.crt"];

/// What cloud-init reads at the first boot.
const USER_DATA: &str = "/var/lib/cloud/seed/nocloud/user-data";

#[test]
fn two_control_plane_nodes_boot_from_user_data_and_survive_a_power_cut() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    // The address of the first machine is known before it boots, as behind a load balancer.
    let seeded = |name: &str| with_program(bed.machine(name, &Profile::node().with_user_data("#cloud-config\n"))?);
    let (first, second) = (seeded("cp1")?, seeded("cp2")?);
    let endpoint = format!("{}:6443", first.address());
    first.write(USER_DATA, user_data(&first_of_several(&ca, &endpoint)), 0o600)?;
    second.write(USER_DATA, user_data(&further(&endpoint, &ca)), 0o600)?;
    for machine in [&first, &second] {
        machine.power_on()?;
    }
    for machine in [&first, &second] {
        until(&format!("{}'s success", machine.name()), LIMIT, || match machine.run(&[PROGRAM, "status"]) {
            Ok(status) if status.code == 0 && status.stdout.contains("SUCCEEDED") => Ok(()),
            other => Err(format!("{other:?}")),
        })?;
    }
    first.wait_for_nodes(&["cp1", "cp2"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    let node = first.kubectl_json(&["get", "node", "cp2"])?;
    assert!(node["metadata"]["labels"].get("node-role.kubernetes.io/control-plane").is_some(), "{node}");
    for file in ["ca.key", "sa.key", "front-proxy-ca.key", "etcd/ca.key"] {
        let path = format!("/etc/kubernetes/pki/{file}");
        assert_eq!(second.read(&path)?, first.read(&path)?, "{path}");
        assert_eq!(second.check(&["stat", "-c", "%a %U:%G", &path])?, "600 root:root\n");
    }
    has_certificates_of_its_own(&second, &first)?;
    let status = second.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with("cp2  SUCCEEDED") && !status.contains(KEY), "{status}");
    second.write("/srv/node.yaml", further(&endpoint, &ca), 0o600)?;
    let again = second.run_within(&[PROGRAM, "bootstrap", "-f", "/srv/node.yaml"], LIMIT)?;
    assert!(again.code == 0 && again.stdout.contains("nothing to do"), "{again:?}");
    first.write("/srv/node.yaml", first_of_several(&ca, &endpoint), 0o600)?;
    ends_well(&first, &["bootstrap", "-f", "/srv/node.yaml"])?;

    let moment = first.now()?;
    for machine in [&first, &second] {
        machine.kill()?;
    }
    for machine in [&first, &second] {
        machine.power_on()?;
    }
    until("the API server after the power cut", LIMIT, || {
        first.kubectl(&["get", "--raw", "/readyz"]).map(drop).map_err(|error| error.to_string())
    })?;
    first.wait_for_nodes_since(&["cp1", "cp2"], &moment)?;
    serves(&second)?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    bed.down()
}

/// A node that joins issues its certificates itself, with its own names and addresses.
fn has_certificates_of_its_own(machine: &Machine, other: &Machine) -> Result<()> {
    for file in OWN {
        let path = format!("/etc/kubernetes/pki/{file}");
        assert_ne!(machine.read(&path)?, other.read(&path)?, "{path}");
    }
    for file in NAMED {
        let (own, of_other) = (names(machine, file)?, names(other, file)?);
        for (found, whose, foreign) in [(&own, machine, other), (&of_other, other, machine)] {
            let [name, address] = [format!("DNS:{}", whose.name()), format!("IP Address:{}", whose.address())];
            assert!(found.contains(&name) && found.contains(&address), "{file}: {found:?}");
            assert!(!found.contains(&format!("DNS:{}", foreign.name())), "{file}: {found:?}");
        }
    }
    Ok(())
}

/// The names and addresses in a certificate, by a real openssl.
fn names(machine: &Machine, file: &str) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().expect("a directory");
    let copy = folder.path().join("own.crt");
    machine.copy_out(&format!("/etc/kubernetes/pki/{file}"), &copy)?;
    let mut openssl = judges::command("openssl").expect("openssl");
    let output =
        openssl.args(["x509", "-noout", "-ext", "subjectAltName", "-in"]).arg(&copy).output().expect("openssl");
    let printed = String::from_utf8(output.stdout).expect("text");
    let list = printed.lines().nth(1).unwrap_or_else(|| panic!("{file}: {printed}"));
    Ok(list.split(',').map(|name| name.trim().to_owned()).collect())
}
