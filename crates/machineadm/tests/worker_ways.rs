//! Further ways for a worker into a cluster: a bare kubeadm's cluster, a discovery file, no anonymous access, an encrypted
//! configuration; and a bare kubeadm into a cluster of ours.
mod support {
    pub(crate) mod cluster;
}

use host::contract::DELIVERED;
use support::cluster::{
    Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, nothing_is_left, with_program, worker,
};
use testbed::{Bed, Machine, Profile, Result, kubeadm, until};

fn booted(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    machine.boot()?;
    machine.shell("sysctl -w net.ipv4.ip_forward=1")?;
    Ok(machine)
}

/// Lets anonymous clients ask for nothing but the API server's health, which the kubelet watches.
fn end_anonymous_access(first: &Machine) -> Result<()> {
    let configuration = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous:\n  enabled: true\n  \
                         conditions: [{path: /livez}, {path: /readyz}, {path: /healthz}]\n";
    // The directory is mounted into the API server already.
    first.write("/etc/kubernetes/pki/authentication.yaml", configuration, 0o600)?;
    let manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml";
    let flag = "    - --authentication-config=/etc/kubernetes/pki/authentication.yaml";
    first.shell(&format!("sed '/^    - kube-apiserver$/a\\{flag}' {manifest} > /srv/m && cp /srv/m {manifest}"))?;
    until("no anonymous access", LIMIT, || {
        let url = "https://127.0.0.1:6443/api/v1/namespaces/kube-public/configmaps/cluster-info";
        let asked = first.shell(&format!("curl -sk -o /dev/null -w '%{{http_code}}' {url}"));
        match asked {
            Ok(code) if code == "401" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
}

#[test]
#[ignore = "long tier: workers by file, encrypted and without anonymous access, in a cluster of a bare kubeadm"]
fn workers_join_a_bare_kubeadms_cluster_by_file_without_anonymous_access() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let first = booted(&bed, "cp")?;
    kubeadm::init(&first)?;
    let token = first.check(&["kubeadm", "token", "create"])?.trim().to_owned();
    let info = ["--namespace=kube-public", "get", "configmap", "cluster-info", "--output=jsonpath={.data.kubeconfig}"];
    let cluster = first.kubectl(&info)?;
    end_anonymous_access(&first)?;

    let by_flags = booted(&bed, "w1")?;
    by_flags.write("/srv/cluster.yaml", &cluster, 0o600)?;
    by_flags.write("/srv/token", &token, 0o600)?;
    let words = ["join", "--discovery-file", "/srv/cluster.yaml", "--tls-bootstrap-token-file", "/srv/token"];
    ends_well(&by_flags, &[&words[..], &["--ignore-preflight-errors", "SystemVerification"]].concat())?;

    // The whole configuration is one encrypted document.
    let encrypted = booted(&bed, "w2")?;
    encrypted.write("/srv/cluster.yaml", &cluster, 0o600)?;
    encrypted.write("/etc/machineadm/passphrase", "a passphrase that is long enough to be no joke", 0o600)?;
    let documents = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: JoinConfig\nspec:\n  discovery: {{file: {{location: \
         /srv/cluster.yaml}}}}\n  tlsBootstrapToken: {token}\n  toleratedChecks: [cgroups]\n  kubelet: \
         {{staticPodPath: ''}}\n"
    );
    encrypted.write("/srv/plain.yaml", documents, 0o600)?;
    let uri = "file:///etc/machineadm/passphrase";
    let text = encrypted.check(&[PROGRAM, "encrypt", "--passphrase-uri", uri, "-f", "/srv/plain.yaml"])?;
    encrypted.check(&["rm", "/srv/plain.yaml"])?;
    assert!(!text.contains(&token), "{text}");
    encrypted.write(DELIVERED, text, 0o600)?;
    ends_well(&encrypted, &["bootstrap", "-f", DELIVERED])?;
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    nothing_is_left(&by_flags)?;
    nothing_is_left(&encrypted)?;
    assert!(encrypted.read("/var/lib/kubelet/config.yaml")?.contains("staticPodPath: \"\""), "no static pods");

    // What bare kubeadm does later on works on machines that we joined.
    by_flags.check(&["kubeadm", "upgrade", "node", "--ignore-preflight-errors=SystemVerification"])?;
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    for machine in [&by_flags, &encrypted] {
        machine.kill()?;
        machine.boot()?;
    }
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    bed.down()
}

#[test]
#[ignore = "long tier: a bare kubeadm in a cluster of ours"]
fn a_bare_kubeadm_joins_a_cluster_that_machineadm_created() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let bed = Bed::new()?;
    let (first, bare) = (booted(&bed, "cp")?, booted(&bed, "w1")?);
    let ca = Authority::new();
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    let create =
        [PROGRAM, "token", "create", TOKEN, "--print-join-command", "--kubeconfig", "/etc/kubernetes/admin.conf"];
    let command = first.check(&create)?;
    assert!(command.contains(&ca.pin), "{command}");
    let kubeadm = command.trim().strip_prefix("kubeadm ").expect("a command of kubeadm");
    bare.shell(&format!("kubeadm {kubeadm} --ignore-preflight-errors=SystemVerification"))?;
    first.wait_for_nodes(&["cp", "w1"])?;
    first.check(&["kubeadm", "certs", "check-expiration"])?;
    // For us the machine has joined, whoever did it.
    bare.write("/srv/node.yaml", worker(&format!("{}:6443", first.address()), &ca), 0o600)?;
    let plan = bare.check(&[PROGRAM, "plan", "-f", "/srv/node.yaml"])?;
    assert!(plan.contains("2 documents, 1 change") && !plan.contains("kubeadm join"), "{plan}");
    bed.down()
}
