//! The ways of a worker into a cluster, each on a whole machine, with bare kubeadm beside them: by file, by URL, encrypted,
//! without anonymous access, by the flags of kubeadm's users; in a cluster of kubeadm's and in one of ours.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::{
    machine_search,
    parallel_machines::on_each,
    worker::{nothing_is_left, worker},
};
use host::contract::DELIVERED;
use testbed::{Bed, Machine, Profile, Result, kubeadm};

const CLUSTER: &str = "/srv/cluster.yaml";
const TOKEN_FILE: &str = "/srv/token";
const PASSPHRASE_FILE: &str = "/etc/machineadm/passphrase";
const PASSPHRASE: &str = "a passphrase that is long enough to be no joke";
/// Its one complaint on a host with control groups of version 1.
const TOLERATED: [&str; 2] = ["--ignore-preflight-errors", "SystemVerification"];

/// Machines that are on, the first for the control plane.
fn booted<const N: usize>(bed: &Bed, names: [&str; N]) -> Result<[Machine; N]> {
    let machines: Vec<Machine> =
        names.iter().map(|name| with_program(bed.machine(name, &Profile::node())?)).collect::<Result<_>>()?;
    on_each(&machines.iter().collect::<Vec<_>>(), |machine| {
        machine.boot()?;
        machine.shell("sysctl -w net.ipv4.ip_forward=1").map(drop)
    })?;
    Ok(machines.try_into().unwrap_or_else(|_| unreachable!("one machine for each name")))
}

fn join(machine: &Machine, words: &[&str]) -> Result<()> {
    ends_well(machine, &[&["join"], words, &TOLERATED].concat())
}

/// The whole configuration is one encrypted document: a worker without static pods.
fn encrypted_configuration(machine: &Machine, token: &str) -> Result<()> {
    machine.write(PASSPHRASE_FILE, PASSPHRASE, 0o600)?;
    let documents = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: JoinConfig\nspec:\n  discovery: {{file: {{location: \
         {CLUSTER}}}}}\n  tlsBootstrapToken: {token}\n  toleratedChecks: [cgroups]\n  kubelet: \
         {{staticPodPath: ''}}\n"
    );
    // In memory: the search for what is left shall find nothing of the plain text on disk.
    machine.write("/dev/shm/plain.yaml", documents, 0o600)?;
    let uri = format!("file://{PASSPHRASE_FILE}");
    let text = machine.check(&[PROGRAM, "encrypt", "--passphrase-uri", &uri, "-f", "/dev/shm/plain.yaml"])?;
    machine.check(&["rm", "/dev/shm/plain.yaml"])?;
    assert!(!text.contains(token), "{text}");
    machine.write(DELIVERED, text, 0o600)
}

/// Bare kubeadm with the same file asks for cluster-info anonymously, and gives up.
fn bare_kubeadm_cannot_join(machine: &Machine, token: &str) -> Result<()> {
    let file = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  file: {{kubeConfigPath: \
         {CLUSTER}}}\n  tlsBootstrapToken: {token}\nnodeRegistration: {{ignorePreflightErrors: [SystemVerification]}}\n\
         timeouts: {{discovery: 5s}}\n"
    );
    machine.write("/srv/kubeadm.yaml", file, 0o600)?;
    let ran = machine.run_within(&["kubeadm", "join", "--config", "/srv/kubeadm.yaml"], LIMIT)?;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("Unauthorized"), "{ran:?}");
    Ok(())
}

/// Cuts the power of all machines, the first of which is the control plane, boots them, and waits until their kubelets
/// report again that they are Ready.
fn off_and_on(machines: &[&Machine]) -> Result<()> {
    on_each(machines, Machine::kill)?;
    let off = machines[0].now()?;
    on_each(machines, Machine::boot)?;
    let names: Vec<&str> = machines.iter().map(|machine| machine.name()).collect();
    machines[0].wait_for_nodes_since(&names, &off)
}

#[test]
fn workers_join_a_bare_kubeadms_cluster_by_file_by_url_and_encrypted_without_anonymous_access() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let server = bed.file_server()?;
    let [first, by_file, by_url, encrypted] = booted(&bed, ["cp", "w1", "w2", "w3"])?;
    kubeadm::init_without_anonymous_access(&first)?;
    let token = first.check(&["kubeadm", "token", "create"])?.trim().to_owned();
    let info = ["--namespace=kube-public", "get", "configmap", "cluster-info", "--output=jsonpath={.data.kubeconfig}"];
    let cluster = first.kubectl(&info)?;
    server.put("/cluster.yaml", cluster.as_bytes());

    on_each(&[&by_file, &by_url, &encrypted], |machine| match machine.name() {
        "w1" => {
            machine.write(CLUSTER, &cluster, 0o600)?;
            machine.write(TOKEN_FILE, &token, 0o600)?;
            bare_kubeadm_cannot_join(machine, &token)?;
            machine.check(&["rm", "/srv/kubeadm.yaml"])?;
            machine_search::sample(machine)?;
            join(machine, &["--discovery-file", CLUSTER, "--tls-bootstrap-token-file", TOKEN_FILE])
        }
        "w2" => {
            machine.write("/usr/local/share/ca-certificates/testbed.crt", server.authority(), 0o644)?;
            machine.check(&["update-ca-certificates"])?;
            machine.write(TOKEN_FILE, &token, 0o600)?;
            let url = server.url("/cluster.yaml");
            machine_search::sample(machine)?;
            join(machine, &["--discovery-file", &url, "--tls-bootstrap-token-file", TOKEN_FILE])
        }
        _ => {
            machine.write(CLUSTER, &cluster, 0o600)?;
            encrypted_configuration(machine, &token)?;
            machine_search::sample(machine)?;
            ends_well(machine, &["bootstrap", "-f", DELIVERED])
        }
    })?;
    first.wait_for_nodes(&["cp", "w1", "w2", "w3"])?;
    assert!(server.requests().iter().any(|line| line.starts_with("GET /cluster.yaml ")), "{:?}", server.requests());
    assert!(encrypted.read("/var/lib/kubelet/config.yaml")?.contains("staticPodPath: \"\""), "no static pods");
    for (machine, holder) in [(&by_file, TOKEN_FILE), (&by_url, TOKEN_FILE), (&encrypted, PASSPHRASE_FILE)] {
        nothing_is_left(machine)?;
        assert_eq!(machine_search::holders(machine, &[&token, PASSPHRASE], "kubeadm")?, [holder], "{}", machine.name());
    }

    // What bare kubeadm does later on works on machines that we joined.
    by_file.check(&["kubeadm", "upgrade", "node", "--ignore-preflight-errors=SystemVerification"])?;
    off_and_on(&[&first, &by_file, &by_url, &encrypted])?;
    bed.down()
}

#[test]
fn bare_kubeadm_and_workers_by_kubeadms_flags_join_a_cluster_that_machineadm_created() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let bed = Bed::new()?;
    let ca = Authority::new();
    let [first, bare, by_discovery_token, by_token_alone] = booted(&bed, ["cp", "w1", "w2", "w3"])?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    let create =
        [PROGRAM, "token", "create", TOKEN, "--print-join-command", "--kubeconfig", "/etc/kubernetes/admin.conf"];
    let command = first.check(&create)?;
    assert!(command.contains(&ca.pin), "{command}");
    let endpoint = format!("{}:6443", first.address());

    on_each(&[&bare, &by_discovery_token, &by_token_alone], |machine| match machine.name() {
        "w1" => {
            let kubeadm = command.trim().strip_prefix("kubeadm ").expect("a command of kubeadm");
            machine.shell(&format!("kubeadm {kubeadm} --ignore-preflight-errors=SystemVerification")).map(drop)
        }
        "w2" => {
            let words =
                ["--discovery-token", TOKEN, "--discovery-token-ca-cert-hash", &ca.pin, "--tls-bootstrap-token"];
            join(machine, &[&[endpoint.as_str()], &words[..], &[TOKEN]].concat())
        }
        _ => {
            // An endpoint and a token are enough, and whoever else has the token could pose as the cluster.
            let refused = machine.run(&[PROGRAM, "join", "--token", TOKEN, &endpoint])?;
            assert_eq!(refused.code, 2, "{refused:?}");
            assert!(refused.stderr.contains("--discovery-token-unsafe-skip-ca-verification"), "{refused:?}");
            join(machine, &["--token", TOKEN, &endpoint, "--discovery-token-unsafe-skip-ca-verification"])
        }
    })?;
    first.wait_for_nodes(&["cp", "w1", "w2", "w3"])?;
    // For us the machine has joined, whoever did it.
    bare.write("/srv/node.yaml", worker(&endpoint, &ca), 0o600)?;
    let plan = bare.check(&[PROGRAM, "plan", "-f", "/srv/node.yaml"])?;
    assert!(plan.contains("2 documents, 1 change") && !plan.contains("kubeadm join"), "{plan}");

    // What bare kubeadm does later on works on the control plane that we created and on workers that we joined.
    let expiration = first.check(&["kubeadm", "certs", "check-expiration"])?;
    assert!(expiration.contains("apiserver-kubelet-client"), "{expiration}");
    by_discovery_token.check(&["kubeadm", "upgrade", "node", "--ignore-preflight-errors=SystemVerification"])?;
    for machine in [&by_discovery_token, &by_token_alone] {
        nothing_is_left(machine)?;
    }
    off_and_on(&[&first, &bare, &by_discovery_token, &by_token_alone])?;
    bed.down()
}
