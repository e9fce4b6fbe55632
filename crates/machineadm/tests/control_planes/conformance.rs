//! Kubernetes' own conformance cases, on a cluster whose control plane and workers machineadm has made.
use crate::support::cluster::{Authority, FORWARDING, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use host::contract::DELIVERED;
use serde_json::Value;
use std::io::Write;
use std::time::{Duration, Instant};
use testbed::programs::CONFORMANCE;
use testbed::{Bed, Error, FurtherImages, Machine, Profile, Result};

/// How long all cases together may take.
const LIMIT: Duration = Duration::from_secs(40 * 60);
/// Cases that run at once: most of their time they wait for pods.
const AT_ONCE: &str = "--procs=6";
/// What the name of every case has that counts.
const MARK: &str = "[Conformance]";

/// The variable that names a file for the list of all cases.
const LIST: &str = "MACHINEADM_CONFORMANCE_LIST";

/// Why cases are not tried, and parts of their names. What the images lack: `nc`, `wget`, `hexdump`, `sysctl`, the
/// certificate of agnhost's https server, and a shell that passes on variables such as `data-1` and knows `[[`.
const NOT_TRIED: &[(&str, &[&str])] = &[
    (
        "need images that cannot be made here",
        &[
            "Should be able to support the 1.17 Sample API Server",
            "DNS should provide ",
            "DNS should resolve DNS ",
            "Deployment RecreateDeployment",
            "ImageVolume",
            "pod generation should start at 1",
            "for Pods matching a Service",
            "should create and stop a replication controller",
            "should not allow privilege escalation when false",
            "should run the lifecycle of a Deployment",
            "should run through the lifecycle of Pods and PodStatus",
            "should scale a replication controller",
            "should test the lifecycle of a ReplicationController",
        ],
    ),
    (
        "need a command, a file or busybox's shell that the images made here lack",
        &[
            "ConfigMap binary data should be reflected in volume",
            "HostPort validates",
            "PreStop should call prestop",
            "Proxy version v1 should proxy through a service and a pod",
            "Services should be able to change the type",
            "Services should be able to create a functioning NodePort service",
            "Services should be able to switch session affinity",
            "Services should have session affinity",
            "Services should serve ",
            "node-pod communication: udp",
            "pod failure policy to ignore failure matching on DisruptionTarget",
            "should be consumable as environment variable names",
            "should be consumable via the environment",
            "should not write to root filesystem",
            "should support sysctls",
            "when tasks sometimes fail and are locally restarted",
        ],
    ),
    (
        "run alone or take minutes each",
        &[
            "[Serial]",
            "[Slow]",
            "CronJob",
            "StatefulSet",
            "issue 500 podspec updates",
            "monotonically increasing restart count",
            "should *not* be restarted",
            "should apply changes to a resourcequota status",
            "that fails should never be ready and never restart",
        ],
    ),
];

/// A case, as the report has it.
struct Case {
    name: String,
    state: String,
    seconds: f64,
    failure: String,
}

/// A worker's documents, without labels and taints, since the cases put their own.
fn worker(endpoint: &str, ca: &Authority) -> String {
    format!(
        "{FORWARDING}apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
metadata: {{name: worker}}
spec:
  kubernetesVersion: v1.36.4
  discovery:
    token:
      endpoints: ['{endpoint}']
      token: {TOKEN}
      caPins: ['{}']
  toleratedChecks: [cgroups]
",
        ca.pin
    )
}

/// A control plane and two workers, by machineadm, with the images that the cases' pods run.
fn cluster(bed: &Bed) -> Result<Vec<Machine>> {
    let ca = Authority::new();
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let endpoint = format!("{}:6443", first.address());
    first.boot()?;
    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;
    let mut machines = vec![first];
    let documents = worker(&endpoint, &ca);
    for name in ["w1", "w2"] {
        let machine = with_program(bed.machine(name, &Profile::node())?)?;
        machine.boot()?;
        machine.write(DELIVERED, &documents, 0o600)?;
        ends_well(&machine, &["bootstrap"])?;
        machine.import_further_images(FurtherImages::Conformance)?;
        machines.push(machine);
    }
    machines[0].wait_for_nodes(&["cp", "w1", "w2"])?;
    machines[0].wait_for_deployment("kube-system", "coredns")?;
    Ok(machines)
}

/// A text as Ginkgo's patterns have it.
fn literal(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            (!letter.is_ascii_alphanumeric() && letter != ' ').then_some('\\').into_iter().chain([letter])
        })
        .collect()
}

/// Runs the cases on the control plane's machine and reads their report.
fn run(machine: &Machine) -> Result<Vec<Case>> {
    let programs = CONFORMANCE.ensure()?;
    for name in ["e2e.test", "ginkgo"] {
        machine.copy_in(&programs.judge(name)?, &format!("/srv/{name}"))?;
    }
    let focus = format!("--focus={}", literal(MARK));
    let skipped: Vec<String> =
        NOT_TRIED.iter().flat_map(|(_, parts)| *parts).map(|part| format!("--skip={}", literal(part))).collect();
    let mut words = vec!["/srv/ginkgo", "run", AT_ONCE, "--no-color", "--seed=1", "--timeout=38m", "--silence-skips"];
    words.extend(["--output-dir=/srv", "--json-report=report.json", &focus]);
    words.extend(skipped.iter().map(String::as_str));
    words.extend(["/srv/e2e.test", "--", "--kubeconfig=/etc/kubernetes/admin.conf", "--provider=local"]);
    words.extend(["--kubectl-path=/usr/bin/kubectl", "--dump-logs-on-failure=false"]);
    let ran = machine.run_within(&words, LIMIT)?;
    let unreadable = |found: String| Error::Unreadable { what: "Ginkgo's report".to_owned(), found };
    let report = machine.read("/srv/report.json").map_err(|_| unreadable(format!("{ran:?}")))?;
    let report: Value = serde_json::from_str(&report).map_err(|error| unreadable(error.to_string()))?;
    let specs = report.as_array().into_iter().flatten().flat_map(|suite| suite["SpecReports"].as_array());
    Ok(specs
        .flatten()
        .filter(|spec| spec["LeafNodeType"] == "It")
        .map(case)
        .filter(|case| case.name.contains(MARK))
        .collect())
}

fn case(spec: &Value) -> Case {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut names: Vec<String> = spec["ContainerHierarchyTexts"].as_array().into_iter().flatten().map(text).collect();
    names.push(text(&spec["LeafNodeText"]));
    Case {
        name: names.join(" "),
        state: text(&spec["State"]),
        seconds: spec["RunTime"].as_f64().unwrap_or_default() / 1e9,
        failure: text(&spec["Failure"]["Message"]),
    }
}

/// Why a case is not tried.
fn reason(name: &str) -> Option<&'static str> {
    NOT_TRIED.iter().find(|(_, parts)| parts.iter().any(|part| name.contains(part))).map(|(reason, _)| *reason)
}

/// Writes every case with its state and time, for whoever extends what is tried.
fn write_list(cases: &[Case]) {
    let Some(file) = std::env::var_os(LIST) else { return };
    let line = |case: &Case| {
        let failure = case.failure.lines().next().unwrap_or_default();
        format!("{}\t{:.1}\t{}\t{failure}\n", case.state, case.seconds, case.name)
    };
    std::fs::write(file, cases.iter().map(line).collect::<String>()).expect("the list");
}

#[test]
#[ignore = "long tier: Kubernetes' own conformance cases that need no image from a registry"]
fn conformance_cases_pass_on_a_cluster_of_machineadm() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), Pinned(&CONFORMANCE));
    let bed = Bed::new()?;
    let machines = cluster(&bed)?;
    let began = Instant::now();
    let cases = run(&machines[0])?;
    let took = began.elapsed();
    write_list(&cases);
    let passed = cases.iter().filter(|case| case.state == "passed").count();
    let (not_tried, tried): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| reason(&case.name).is_some());
    let mut note =
        format!("conformance: {passed} of {} cases passed in {took:.0?}, {} not tried", cases.len(), not_tried.len());
    for (why, _) in NOT_TRIED {
        let count = not_tried.iter().filter(|case| reason(&case.name) == Some(*why)).count();
        note += &format!("; {count} {why}");
    }
    // Past the harness, which keeps back what a test prints that passes.
    writeln!(std::io::stdout(), "note: {note}").expect("standard output");
    let failed: Vec<String> = tried
        .iter()
        .filter(|case| case.state != "passed")
        .map(|case| format!("{} {}: {}", case.state, case.name, case.failure))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passed > 100, "{note}");
    bed.down()
}
