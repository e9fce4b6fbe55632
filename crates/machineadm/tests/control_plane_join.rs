//! Control plane nodes on whole machines: certificates copied by machineadm alone, etcd and API server on each, and all of
//! it again after every machine has lost its power.
mod support {
    pub(crate) mod cluster;
    pub(crate) mod control_plane;
    pub(crate) mod further_node;
}

use host::contract::DELIVERED;
use support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use support::control_plane::{KEY, first_with_token, serves, voters};
use support::further_node::further;
use testbed::{Bed, Profile, Result, until};

#[test]
fn a_second_control_plane_node_joins_with_copied_certificates_and_all_survive_a_power_cut() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, endpoint) = first_with_token(&bed, &ca)?;
    let second = with_program(bed.machine("cp2", &Profile::node())?)?;
    second.boot()?;
    second.write(DELIVERED, further(&endpoint, &ca), 0o600)?;
    ends_well(&second, &["bootstrap"])?;
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
    let status = second.check(&[PROGRAM, "status"])?;
    assert!(status.starts_with("cp2  SUCCEEDED") && !status.contains(KEY), "{status}");
    second.write("/srv/node.yaml", further(&endpoint, &ca), 0o600)?;
    let again = second.run_within(&[PROGRAM, "bootstrap", "-f", "/srv/node.yaml"], LIMIT)?;
    assert!(again.code == 0 && again.stdout.contains("nothing to do"), "{again:?}");

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
