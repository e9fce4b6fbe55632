//! Changing the API server of control plane nodes that run: a token webhook in a new static pod, a broken configuration that
//! is rolled back, a power cut, edits by hand, and `kubeadm upgrade`.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, ends_well, with_program};
use crate::support::control_plane::{first_of_several, serves, voters};
use crate::support::further_node::further;
use crate::support::token_webhook::{Certificate, GOOD, api_server, pod};
use host::contract::{CONTROL_PLANE_CHANGE, DELIVERED};
use testbed::{Bed, Machine, Output, Profile, Result, until};

const MANIFEST: &str = "/etc/kubernetes/manifests/kube-apiserver.yaml";
const FILE: &str = "/srv/post.yaml";
const WEBHOOK: &str = "https://127.0.0.1:9443/";
const AUDIT_LOG: &str = "/var/log/kubernetes/audit/audit.log";
/// What the client that reads all the time has read, a word for each answer.
const READS: &str = "/srv/reads";

/// The first control plane node. Its API server does not wait for its clients' watches when it is restarted, which takes
/// half a minute otherwise. Its kubelet looks at pods more often than usual, so that a mirror pod that it could not write
/// while the API server was down is written soon.
fn first_node(bed: &Bed, ca: &Authority) -> Result<(Machine, String)> {
    let first = with_program(bed.machine("cp1", &Profile::node())?)?;
    let endpoint = format!("{}:6443", first.address());
    let settings = "  apiServer: {arguments: {shutdown-send-retry-after: 'true'}}\n  kubelet:\n    syncFrequency: 5s\n";
    let documents = first_of_several(ca, &endpoint).replace("  kubelet:\n", settings);
    first.boot()?;
    first.write(DELIVERED, documents, 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    Ok((first, endpoint))
}

/// What the API server of this very machine answers to a bearer token.
fn answer(machine: &Machine, token: &str) -> Result<String> {
    machine.shell(&format!(
        "curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{{http_code}}' --header 'Authorization: \
         Bearer {token}' https://{}:6443/api/v1/namespaces || true",
        machine.address()
    ))
}

/// The token of the webhook is accepted, and another one is not.
fn asks_the_webhook(machine: &Machine) -> Result<()> {
    until(&format!("{}'s webhook", machine.name()), LIMIT, || match answer(machine, GOOD) {
        Ok(code) if code == "200" => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    assert_eq!(answer(machine, "another-token")?, "401");
    Ok(())
}

fn post(machine: &Machine, documents: &str) -> Result<Output> {
    machine.write(FILE, documents, 0o600)?;
    machine.run_within(&[PROGRAM, "bootstrap", "--mode", "post", "-f", FILE], LIMIT)
}

fn changed(machine: &Machine, documents: &str) -> Result<()> {
    let ran = post(machine, documents)?;
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(machine.run(&["test", "-e", CONTROL_PLANE_CHANGE])?.code, 1, "a finished change leaves no record");
    Ok(())
}

/// Everything that a change is about: manifest, files, kubeadm-config.
fn state(machine: &Machine) -> Result<[String; 3]> {
    let files = machine.shell("cd /etc/kubernetes/machineadm && stat --format='%n %a %U' . * && cat *")?;
    let map = ["--namespace=kube-system", "get", "configmap", "kubeadm-config", "--output=jsonpath={.data}"];
    Ok([machine.read(MANIFEST)?, files, machine.kubectl(&map)?])
}

/// A client that reads all the time, from the API server of any of these machines that answers.
fn start_reading(client: &Machine, machines: [&Machine; 2]) -> Result<()> {
    let [one, other] = machines.map(|machine| {
        let url = format!("--server=https://{}:6443", machine.address());
        format!("kubectl --kubeconfig=/etc/kubernetes/admin.conf {url} --request-timeout=5s get --raw /api/v1/namespaces/default")
    });
    let names = machines.map(Machine::name);
    let script = format!(
        "while :; do if {one} >/dev/null; then echo {}; elif {other} >/dev/null; then echo {}; else echo nobody; fi >>{READS}; \
         done",
        names[0], names[1]
    );
    client.check(&["systemd-run", "--quiet", "--unit=reader", "sh", "-c", &script]).map(drop)
}

/// Ends it; gives who has answered, in order.
fn stop_reading(client: &Machine) -> Result<Vec<String>> {
    client.check(&["systemctl", "stop", "reader"])?;
    Ok(client.read(READS)?.lines().map(str::to_owned).collect())
}

#[test]
fn the_api_server_is_reconfigured_for_a_static_pod_that_authenticates_and_keeps_it() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca, certificate) = (Bed::new()?, Authority::new(), Certificate::new());
    let (first, endpoint) = first_node(&bed, &ca)?;
    assert_eq!(answer(&first, GOOD)?, "401", "nobody knows the token yet");
    let documents = |chance: &str| pod(&certificate) + &api_server(&certificate, WEBHOOK, chance);
    changed(&first, &documents("0.001"))?;
    asks_the_webhook(&first)?;
    audit_log_is_written(&first)?;
    let again = post(&first, &documents("0.001"))?;
    assert!(again.code == 0 && again.stdout.contains("nothing to do"), "{again:?}");

    // kubeadm-config has it: a further control plane node gets it with the same documents.
    let second = with_program(bed.machine("cp2", &Profile::node())?)?;
    second.boot()?;
    second.write(DELIVERED, documents("0.001") + &further(&endpoint, &ca), 0o600)?;
    ends_well(&second, &["bootstrap"])?;
    assert_eq!(voters(&first)?, ["cp1", "cp2"]);
    serves(&second)?;
    asks_the_webhook(&second)?;

    broken_configuration(&first, &second, &certificate)?;
    power_cut(&first, &documents("0.002"))?;
    // The other node follows kubeadm-config, which the first one has changed.
    changed(&second, &documents("0.002"))?;
    asks_the_webhook(&second)?;
    edits_by_hand(&first, &documents("0.002"))?;
    bed.down()
}

fn audit_log_is_written(machine: &Machine) -> Result<()> {
    until("the audit log", LIMIT, || {
        let log = machine.read(AUDIT_LOG).map_err(|error| error.to_string())?;
        let events = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let users: Vec<String> = events.map(|event| event["user"]["username"].to_string()).collect();
        let is_ours = !users.is_empty() && users.iter().all(|user| user == "\"webhook-user\"");
        if is_ours { Ok(()) } else { Err(format!("{users:?}")) }
    })
}

/// An API server that does not start is rolled back with its file and kubeadm-config, and clients of the cluster do not
/// notice.
fn broken_configuration(first: &Machine, second: &Machine, certificate: &Certificate) -> Result<()> {
    let before = state(first)?;
    start_reading(second, [first, second])?;
    let broken = pod(certificate) + &api_server(certificate, "https://127.0.0.1:9444/", "7");
    let ran = post(first, &broken)?;
    let reads = stop_reading(second)?;
    assert_eq!(ran.code, 1, "{ran:?}");
    let reason = "the change was rolled back: kube-apiserver did not become ready: it has ended 2 times: --goaway-chance can \
        not be less than 0 or greater than 0.02; manifest, files and kubeadm-config are as before";
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    assert_eq!(state(first)?, before);
    assert_eq!(first.run(&["test", "-e", CONTROL_PLANE_CHANGE])?.code, 1);
    asks_the_webhook(first)?;
    let by = |name: &str| reads.iter().filter(|read| *read == name).count();
    assert!(
        by("nobody") == 0 && by("cp1") > 0 && by("cp2") > 0,
        "cp1 {}, cp2 {}: {:?}",
        by("cp1"),
        by("cp2"),
        reads.last()
    );
    Ok(())
}

/// A power cut while the new API server starts: the next run finishes.
fn power_cut(first: &Machine, documents: &str) -> Result<()> {
    first.write(FILE, documents, 0o600)?;
    let run = [PROGRAM, "bootstrap", "--mode", "post", "-f", FILE];
    first.check(&[&["systemd-run", "--quiet", "--unit=interrupted"], &run[..]].concat())?;
    until("the new manifest", LIMIT, || match first.read(MANIFEST) {
        Ok(text) if text.contains("--goaway-chance=0.002") => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    first.kill()?;
    first.boot()?;
    assert_eq!(first.run(&["test", "-e", CONTROL_PLANE_CHANGE])?.code, 0, "the cut came too late");
    changed(first, documents)?;
    asks_the_webhook(first)?;
    let [manifest, _, map] = state(first)?;
    assert!(manifest.contains("--goaway-chance=0.002") && map.contains("0.002") && !map.contains("0.001"), "{map}");
    Ok(())
}

/// What stands in the manifest alone is shown and left alone by machineadm, and lost by `kubeadm upgrade`; what machineadm
/// has written into kubeadm-config stays.
fn edits_by_hand(first: &Machine, documents: &str) -> Result<()> {
    let kubeadms = "    - --allow-privileged=true\n";
    let edited = first.read(MANIFEST)?.replace(kubeadms, &format!("{kubeadms}    - --profiling=false\n"));
    first.write(MANIFEST, &edited, 0o600)?;
    let has_flag = |flag: &str, wanted: bool| {
        until(&format!("{flag}: {wanted}"), LIMIT, || {
            let path = "--output=jsonpath={.spec.containers[0].command}";
            let pod = first.kubectl(&["--namespace=kube-system", "get", "pod", "kube-apiserver-cp1", path]);
            let pod = pod.map_err(|error| error.to_string())?;
            if pod.contains(flag) == wanted { Ok(()) } else { Err(pod) }
        })
    };
    has_flag("--profiling=false", true)?;
    serves(first)?;
    let before = state(first)?;
    let refused = post(first, documents)?;
    assert!(refused.code == 6 && refused.stderr.contains("+        - \"--profiling=false\""), "{refused:?}");
    assert_eq!(state(first)?, before);

    let upgrade = ["kubeadm", "upgrade", "apply", "v1.36.4", "--yes", "--ignore-preflight-errors=SystemVerification"];
    let ran = first.run_within(&upgrade, LIMIT)?;
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    has_flag("--profiling=false", false)?;
    let manifest = first.read(MANIFEST)?;
    for kept in ["--authentication-token-webhook-config-file=", "--audit-policy-file=", "--goaway-chance=0.002"] {
        assert!(manifest.contains(kept), "{kept}: {manifest}");
    }
    asks_the_webhook(first)?;
    let after = post(first, documents)?;
    assert!(after.code == 0 && after.stdout.contains("nothing to do"), "{after:?}");
    Ok(())
}
