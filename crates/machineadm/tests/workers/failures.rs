//! Failures of a worker on whole machines: for each `status` names the cause in one line and the next step, the exit code is
//! 1, and a report server gets the same.
use crate::support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::{machine_search, parallel_machines::on_each};
use discovery::{BootstrapToken, ClusterInfo, Pin, certificate::CaBundle, jws};
use host::contract::DELIVERED;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use testbed::{
    Bed, Machine, Profile, Result,
    fake::{self, FakeServer, answer},
    until,
};

/// Where the servers beside the machines are.
const SWITCH: &str = "10.50.0.1";
const REPORT_PORT: u16 = 8443;
const AUTHORIZATION: &str = "Bearer canaryoffailures4711";
/// A token whose Secret the cluster has, and no signature: it may not be used for discovery.
const UNSIGNED: &str = "bbbbbb.0123456789abcdef";
/// The identifier of the cluster's token, with a secret that is not its own.
const INVALID: &str = "ae23dc.0000000000000000";

/// One thing that goes wrong.
struct Failure {
    name: &'static str,
    /// Makes the machine fail.
    before: &'static str,
    /// Makes it good again.
    after: &'static str,
    endpoint: String,
    token: &'static str,
    pin: String,
    /// Further members of the JoinConfig.
    members: &'static str,
    /// Where the run ends.
    phase: &'static str,
    /// What the cause has to say, in one line.
    cause: &'static str,
    /// What the next step has to say.
    advice: &'static str,
}

fn documents(failure: &Failure, machine: &Machine, reports: &FakeServer) -> String {
    let authority = reports.authority().pem().replace('\n', "\n    ");
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ReportConfig
spec:
  uri: https://{SWITCH}:{REPORT_PORT}{}
  authorization: {AUTHORIZATION}
  timeout: 10s
  certificateAuthority: |
    {authority}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
spec:
  discovery:
    token: {{endpoints: ['{}'], token: {}, caPins: ['{}']}}
    timeout: 4s
  toleratedChecks: [cgroups]
  {}
",
        path_of(failure, machine),
        failure.endpoint,
        failure.token,
        failure.pin,
        failure.members
    )
}

/// Takes reports from those who may send some.
fn report_server(bed: &Bed) -> Result<FakeServer> {
    let authority = Arc::new(fake::Authority::new());
    let config = authority.serves(&[SWITCH]);
    bed.fake_server(REPORT_PORT, authority, config, |seen, tls| match seen.header("authorization") {
        Some(AUTHORIZATION) => answer(tls, "204 No Content", "", ""),
        _ => answer(tls, "401 Unauthorized", "", ""),
    })
}

/// A fake API server of the year 2040: so far off is the clock of a machine that asks it. It has what a cluster shows to
/// machines that join.
struct FutureCluster(FakeServer);

impl FutureCluster {
    fn new(bed: &Bed) -> Result<Self> {
        let authority = Arc::new(fake::Authority::new());
        let bundle = CaBundle::read(authority.pem().into_bytes()).expect("a CA certificate");
        let kubeconfig =
            ClusterInfo::new(format!("https://{SWITCH}:6443"), bundle, None).expect("a cluster").kubeconfig();
        let token: BootstrapToken = TOKEN.parse().expect("a token");
        let data = json!({"kubeconfig": kubeconfig, "jws-kubeconfig-ae23dc": jws::sign(&token, kubeconfig.as_bytes())});
        let metadata = json!({"name": "cluster-info", "namespace": "kube-public"});
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}).to_string();
        let config = authority.serves_between(&[SWITCH], 2039, 2041);
        let headers = "Date: Sun, 01 Jan 2040 00:00:00 GMT\r\nContent-Type: application/json\r\n";
        bed.fake_server(6443, authority, config, move |_, tls| answer(tls, "200 OK", headers, &body)).map(Self)
    }

    fn port(&self) -> u16 {
        self.0.port()
    }

    fn pin(&self) -> String {
        let bundle = CaBundle::read(self.0.authority().pem().into_bytes()).expect("a CA certificate");
        Pin::of(&bundle.certificates()[0]).to_string()
    }
}

/// Lets a run fail, and looks at everything that an operator could look at; returns what is missing there.
fn missing_after(machine: &Machine, failure: &Failure, reports: &FakeServer) -> Result<Vec<String>> {
    let Failure { name, phase, cause, advice, .. } = failure;
    machine.shell(failure.before)?;
    machine.write(DELIVERED, documents(failure, machine, reports), 0o600)?;
    let ran = machine.run_within(&[PROGRAM, "bootstrap", "-f", DELIVERED], LIMIT)?;
    machine.shell(failure.after)?;
    let status = machine.run(&[PROGRAM, "status"])?.stdout;
    let sent = reports.seen().into_iter().rfind(|seen| seen.path() == path_of(failure, machine));
    let report: Value = sent.and_then(|seen| serde_json::from_slice(&seen.body).ok()).unwrap_or_default();
    let has_line = |words: &str| status.lines().any(|line| line.contains(words));
    let found = [
        ("exit code 1", ran.code == 1),
        ("its phase", status.starts_with(&format!("{}  FAILED at {phase}", machine.name()))),
        ("its cause", has_line(cause)),
        ("the next step", has_line(advice)),
        ("a report", report["state"] == "failed"),
        ("a report with its cause", report["failure"]["cause"].as_str().is_some_and(|sent| sent.contains(cause))),
        ("a report with the next step", report["failure"].to_string().contains(advice)),
    ];
    let missing = found.iter().filter(|(_, is_there)| !is_there);
    Ok(missing.map(|(what, _)| format!("{name}: {what} is missing: {ran:?}\n{status}\n{report:#}")).collect())
}

/// Where a failure is reported.
fn path_of(failure: &Failure, machine: &Machine) -> String {
    format!("/{}/{}", machine.name(), failure.name.replace(' ', "-"))
}

#[test]
fn every_failure_has_its_cause_and_the_next_step_in_status_and_in_the_report() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (reports, future) = (report_server(&bed)?, FutureCluster::new(&bed)?);
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let (refused, broken) = (bed.machine("w1", &Profile::node())?, bed.machine("w2", &Profile::node())?);
    let (refused, broken) = (with_program(refused)?, with_program(broken)?);
    on_each(&[&first, &refused, &broken], |machine| {
        machine.boot()?;
        machine.shell("sysctl -w net.ipv4.ip_forward=1").map(drop)
    })?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    let create = [PROGRAM, "token", "create", "--kubeconfig", "/etc/kubernetes/admin.conf"];
    first.check(&[&create[..], &[TOKEN]].concat())?;
    first.check(&[&create[..], &[UNSIGNED, "--usages", "authentication"]].concat())?;
    let signature = ["--namespace=kube-public", "get", "configmap", "cluster-info", "--output=jsonpath={.data}"];
    until("a signature", LIMIT, || match first.kubectl(&signature) {
        Ok(data) if data.contains("jws-kubeconfig-ae23dc") => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let endpoint = format!("{}:6443", first.address());
    let usual = |name| Failure {
        name,
        before: "true",
        after: "true",
        endpoint: endpoint.clone(),
        token: TOKEN,
        pin: ca.pin.clone(),
        members: "",
        phase: "discovery",
        cause: "",
        advice: "",
    };
    let failures = [
        Failure { token: INVALID, cause: "the signature is invalid", advice: "token list", ..usual("invalid token") },
        Failure {
            pin: Authority::new().pin,
            cause: "not among the CA pins",
            advice: "compare the CA pin",
            ..usual("wrong pin")
        },
        Failure { token: UNSIGNED, cause: "no signature", advice: "token create", ..usual("no signature") },
        Failure {
            endpoint: "10.50.0.250:6443".to_owned(),
            cause: "10.50.0.250:6443 cannot be reached",
            advice: "check the address, and the network",
            ..usual("unreachable endpoint")
        },
        Failure {
            before: "systemd-run --quiet --unit=taken socat TCP-LISTEN:10250,fork /dev/null; \
                     until ss -ltn | grep -q :10250; do sleep 0.01; done",
            after: "systemctl stop taken",
            phase: "preflight",
            cause: "port 10250 is in use",
            advice: "stop it",
            ..usual("port in use")
        },
        Failure {
            // containerd has it under its digest as well.
            before: "images() { ctr -n k8s.io images ls; }; \
                     digest=$(images | awk '$1 == \"registry.k8s.io/pause:3.10.2\" { print $3 }'); \
                     images | awk -v digest=$digest '$3 == digest { print $1 }' | xargs ctr -n k8s.io images rm --sync",
            after: "ctr -n k8s.io images import /opt/images/pause_3.10.2.tar",
            members: "imagePull: Never",
            phase: "preflight",
            cause: "has no sandbox image",
            advice: "import the image",
            ..usual("image missing")
        },
        Failure {
            before: "printf 'Filename Type Size Used Priority\\n/fake-swap file 1024 0 -2\\n' > /srv/fake-swaps; \
                     mount --bind /srv/fake-swaps /proc/swaps",
            after: "umount /proc/swaps",
            phase: "preflight",
            cause: "swap is on (/fake-swap)",
            advice: "swapoff",
            ..usual("swap on")
        },
        Failure {
            before: "mount -t tmpfs -o size=100m tmpfs /var/lib/kubelet",
            after: "umount --lazy /var/lib/kubelet",
            phase: "preflight",
            cause: "/var/lib/kubelet has 100 MiB free",
            advice: "free some space",
            ..usual("disk full")
        },
        Failure {
            endpoint: format!("{SWITCH}:{}", future.port()),
            pin: future.pin(),
            cause: "behind the clock of the server",
            advice: "set the clock",
            ..usual("clock far off")
        },
    ];
    let kubelet = Failure {
        before: "echo KUBELET_EXTRA_ARGS=--no-such-flag > /etc/default/kubelet",
        members: "timeouts: {kubelet: 5s}",
        phase: "JoinConfig",
        cause: "the kubelet does not start: failed to parse kubelet flag: unknown flag: --no-such-flag",
        advice: "journalctl -u kubelet",
        ..usual("kubelet that does not start")
    };
    let missing = Mutex::new(Vec::new());
    on_each(&[&refused, &broken], |machine| {
        machine_search::sample(machine)?;
        let failures = if machine.name() == "w1" { &failures[..] } else { std::slice::from_ref(&kubelet) };
        for failure in failures {
            let found = missing_after(machine, failure, &reports)?;
            missing.lock().expect("no test has failed yet").extend(found);
        }
        Ok(())
    })?;
    let missing = missing.into_inner().expect("no test has failed");
    assert!(missing.is_empty(), "{}", missing.join("\n"));

    // What stood in the way is gone: the same machines join without help, and nothing secret is left on them.
    broken.check(&["rm", "/etc/default/kubelet"])?;
    on_each(&[&refused, &broken], |machine| {
        match machine.name() {
            "w1" => {
                machine.write(DELIVERED, documents(&usual("nothing"), machine, &reports), 0o600)?;
                ends_well(machine, &["bootstrap", "-f", DELIVERED])?;
            }
            _ => ends_well(machine, &["bootstrap"])?,
        }
        let holders = machine_search::holders(machine, &[TOKEN, UNSIGNED, INVALID, AUTHORIZATION], PROGRAM)?;
        assert_eq!(holders, [""; 0], "{}", machine.name());
        Ok(())
    })?;
    first.wait_for_nodes(&["cp", "w1", "w2"])?;
    bed.down()
}
