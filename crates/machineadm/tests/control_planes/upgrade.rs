//! An upgrade on a whole machine: machineadm edits the kubeadm-config ConfigMap from 1.36 to 1.37, kubeadm upgrades the
//! control plane by it, and a further control plane node of the new version joins by machineadm.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{KEY, serves, voters};
use crate::support::first_node::first_with_token;
use crate::support::further_node::further;
use host::contract::DELIVERED;
use serde_json::Value;
use testbed::programs::{COREDNS_1_14_6, ETCD_3_7, KUBEADM_1_37, KUBERNETES_1_37};
use testbed::{Bed, FurtherImages, Machine, Output, Profile, Result, until};

const ADMIN: &str = "/etc/kubernetes/admin.conf";
/// kubeadm 1.36 knows it, kubeadm 1.37 refuses a configuration that names it.
const GATE: &str = "NodeLocalCRISocket";
/// An argument that the upgrade brings to the API server.
const ARGUMENT: &str = "audit-log-maxage";

/// Programs and images of 1.37.1 on a machine that is on. The kubelet that runs is not restarted.
fn install_1_37(machine: &Machine) -> Result<()> {
    machine.import_further_images(FurtherImages::Kubernetes1_37)?;
    machine.copy_in(&KUBEADM_1_37.ensure()?.judge("kubeadm")?, "/usr/bin/kubeadm")?;
    machine.copy_in(&KUBERNETES_1_37.ensure()?.judge("kubelet")?, "/usr/bin/kubelet")
}

/// `machineadm config edit-map` in the cluster; gives what it printed.
fn edit(machine: &Machine, words: &[&str]) -> Result<String> {
    machine.check(&[&[PROGRAM, "config", "edit-map", "--kubeconfig", ADMIN], words].concat())
}

/// The ClusterConfiguration in the ConfigMap.
fn map(machine: &Machine) -> Result<String> {
    let path = "--output=jsonpath={.data.ClusterConfiguration}";
    machine.kubectl(&["--namespace=kube-system", "get", "configmap", "kubeadm-config", path])
}

/// What the machine's kubeadm says of the ConfigMap's document.
fn validated(machine: &Machine) -> Result<Output> {
    machine.write("/srv/cluster.yaml", map(machine)?, 0o600)?;
    machine.run(&["kubeadm", "config", "validate", "--config", "/srv/cluster.yaml"])
}

/// The image and the arguments of a static pod's container, as the API server lists it.
fn static_pod(machine: &Machine, name: &str) -> Result<(String, Vec<String>)> {
    let pod = machine.kubectl_json(&["--namespace=kube-system", "get", "pod", name])?;
    let container = &pod["spec"]["containers"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let words = container["command"].as_array().into_iter().flatten();
    Ok((text(&container["image"]), words.map(text).collect()))
}

/// The kubelet of a node reports this version.
fn kubelet_is(machine: &Machine, node: &str, version: &str) -> Result<()> {
    until(&format!("{node} with a kubelet {version}"), LIMIT, || {
        let node = machine.kubectl_json(&["get", "node", node]).map_err(|error| error.to_string())?;
        let found = &node["status"]["nodeInfo"]["kubeletVersion"];
        if found == version { Ok(()) } else { Err(found.to_string()) }
    })
}

#[test]
#[ignore = "long tier: Kubernetes 1.37.1 with its etcd and CoreDNS"]
fn kubeadm_upgrades_a_cluster_by_the_edited_map_and_a_control_plane_node_joins_it() -> Result<()> {
    testbed::needs!(
        Nodes,
        Judge("openssl"),
        EachPinned(&[&KUBEADM_1_37, &KUBERNETES_1_37, &ETCD_3_7, &COREDNS_1_14_6])
    );
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, endpoint) = first_with_token(&bed, &ca)?;
    first.wait_for_nodes(&["cp1"])?;
    edit(&first, &["--kubernetes-version", "1.36.4", "--feature-gate", &format!("{GATE}=true")])?;
    assert_eq!(validated(&first)?.code, 0, "kubeadm 1.36 knows the gate");

    // The next kubeadm refuses the map as it is, and reads it when it is edited.
    install_1_37(&first)?;
    let refused = validated(&first)?;
    assert!(refused.code != 0 && refused.stderr.contains(GATE), "{refused:?}");
    let words = ["--kubernetes-version", "1.37.1", "--api-server-arg", &format!("{ARGUMENT}=7")];
    let diff = edit(&first, &words)?;
    for line in ["-kubernetesVersion: \"v1.36.4\"", "+kubernetesVersion: \"v1.37.1\""] {
        assert!(diff.lines().any(|found| found == line), "{line}: {diff}");
    }
    let edited = map(&first)?;
    assert!(!edited.contains(GATE) && edited.contains(ARGUMENT), "{edited}");
    let accepted = validated(&first)?;
    assert_eq!(accepted.code, 0, "{accepted:?}");

    let upgrade = ["kubeadm", "upgrade", "apply", "v1.37.1", "--yes", "--ignore-preflight-errors=SystemVerification"];
    let ran = first.run_within(&upgrade, LIMIT)?;
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("upgraded to \"v1.37.1\""), "{ran:?}");
    is_upgraded(&first, "cp1")?;
    let moment = first.now()?;
    first.check(&["systemctl", "restart", "kubelet"])?;
    kubelet_is(&first, "cp1", "v1.37.1")?;
    first.wait_for_nodes_since(&["cp1"], &moment)?;

    first.write("/srv/key", KEY, 0o600)?;
    let upload = ["certs", "upload", "--certificate-key-file", "/srv/key", "--skip-certificate-key-print"];
    first.check(&[&[PROGRAM], &upload[..]].concat())?;
    let second = with_program(bed.machine("cp2", &Profile::node())?)?;
    second.boot()?;
    install_1_37(&second)?;
    second.write(DELIVERED, further(&endpoint, &ca).replace("v1.36.4", "v1.37.1"), 0o600)?;
    ends_well(&second, &["bootstrap"])?;
    first.wait_for_nodes(&["cp1", "cp2"])?;
    kubelet_is(&first, "cp2", "v1.37.1")?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    is_upgraded(&second, "cp2")?;
    bed.down()
}

/// The control plane on a node is that of 1.37.1, with what the map says, and so is the map.
fn is_upgraded(machine: &Machine, node: &str) -> Result<()> {
    until(&format!("the API server v1.37.1 of {node}"), LIMIT, || {
        let url = format!("--server=https://{}:6443", machine.address());
        let version = machine.kubectl(&[&url, "get", "--raw", "/version"]).map_err(|error| error.to_string())?;
        if version.contains("\"gitVersion\": \"v1.37.1\"") { Ok(()) } else { Err(version) }
    })?;
    for (component, tag) in [
        ("kube-apiserver", "v1.37.1"),
        ("kube-controller-manager", "v1.37.1"),
        ("kube-scheduler", "v1.37.1"),
        ("etcd", "3.7.0-0"),
    ] {
        let (image, _) = static_pod(machine, &format!("{component}-{node}"))?;
        assert!(image.ends_with(&format!("/{component}:{tag}")), "{image}");
    }
    let (_, words) = static_pod(machine, &format!("kube-apiserver-{node}"))?;
    assert!(words.contains(&format!("--{ARGUMENT}=7")), "{words:?}");
    let map = map(machine)?;
    assert!(map.contains("kubernetesVersion: v1.37.1") && map.contains(ARGUMENT) && !map.contains(GATE), "{map}");
    Ok(())
}
