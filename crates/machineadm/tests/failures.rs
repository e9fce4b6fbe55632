//! Failures of a worker on whole machines: for each `status` names the cause in one line and the next step, the exit code is
//! 1, and a report server gets the same.
mod support {
    pub(crate) mod cluster;
    pub(crate) mod forms;
    pub(crate) mod machines;
    pub(crate) mod spread;
}

use host::contract::{CONFIGURATION, DELIVERED};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use support::cluster::{Authority, LIMIT, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use support::{machines::on_each, spread};
use testbed::{
    Bed, Machine, Profile, Result,
    fake::{self, FakeServer, answer},
    until,
};

const REPORT_PORT: u16 = 8443;
const AUTHORIZATION: &str = "Bearer canaryoffailures4711";
/// A token whose Secret the cluster has, and no signature: it may not be used for discovery.
const UNSIGNED: &str = "bbbbbb.0123456789abcdef";
/// The identifier of the cluster's token, with a secret that is not its own.
const INVALID: &str = "ae23dc.0000000000000000";

/// kubeadm, with less patience for a kubelet that never answers; its file has no other way to say so.
const HASTY_KUBEADM: &str = "\
#!/bin/sh
sed '/^kind: \"JoinConfiguration\"$/a timeouts: {kubeletHealthCheck: 5s}' /run/machineadm/kubeadm.yaml > /run/hasty.yaml
[ \"$1\" = join ] || exec /usr/bin/kubeadm \"$@\"
exec /usr/bin/kubeadm join --config /run/hasty.yaml
";

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
  uri: https://10.50.0.1:{REPORT_PORT}{}
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
",
        path_of(failure, machine),
        failure.endpoint,
        failure.token,
        failure.pin
    )
}

/// Takes reports from those who may send some.
fn report_server(bed: &Bed) -> Result<FakeServer> {
    let authority = Arc::new(fake::Authority::new());
    let config = authority.serves(&["10.50.0.1"]);
    bed.fake_server(REPORT_PORT, authority, config, |seen, tls| match seen.header("authorization") {
        Some(AUTHORIZATION) => answer(tls, "204 No Content", "", ""),
        _ => answer(tls, "401 Unauthorized", "", ""),
    })
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
    let reports = report_server(&bed)?;
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
            cause: "port 10250",
            advice: "",
            ..usual("port in use")
        },
    ];
    let kubelet = Failure {
        before: "echo KUBELET_EXTRA_ARGS=--no-such-flag > /etc/default/kubelet",
        phase: "JoinConfig",
        cause: "kubelet",
        advice: "journalctl",
        ..usual("kubelet that does not start")
    };
    broken.write("/usr/local/bin/kubeadm", HASTY_KUBEADM, 0o755)?;
    let missing = Mutex::new(Vec::new());
    on_each(&[&refused, &broken], |machine| {
        spread::sample(machine)?;
        let failures = if machine.name() == "w1" { &failures[..] } else { std::slice::from_ref(&kubelet) };
        for failure in failures {
            let found = missing_after(machine, failure, &reports)?;
            missing.lock().expect("no test has failed yet").extend(found);
        }
        Ok(())
    })?;
    let missing = missing.into_inner().expect("no test has failed");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    for machine in [&refused, &broken] {
        let holders = spread::holders(machine, &[TOKEN, UNSIGNED, INVALID, AUTHORIZATION], PROGRAM)?;
        // As long as a run has not succeeded, the configuration is there for the next one.
        assert_eq!(holders, [DELIVERED, CONFIGURATION], "{}", machine.name());
    }
    bed.down()
}
