//! How long the API server of a control plane node is down when one of its arguments changes: by `machineadm bootstrap
//! --mode post`, and by a new manifest that is moved into its place by hand, in pairs.
use machineadm_benches::static_machineadm;
use std::{path::Path, time::Duration};
use testbed::{Bed, Machine, Profile, Result, until};

/// Pairs that are measured; the sort that goes first alternates.
const PAIRS: usize = 5;
const PROGRAM: &str = "/usr/bin/machineadm";
const MANIFEST: &str = "/etc/kubernetes/manifests/kube-apiserver.yaml";
const ANSWERS: &str = "/run/answers";
const LIMIT: Duration = Duration::from_secs(300);

fn main() -> std::result::Result<(), String> {
    let program = static_machineadm()?;
    measure(&program).map_err(|error| error.to_string())
}

/// Who changes the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Machineadm,
    Hand,
}

fn measure(program: &Path) -> Result<()> {
    let bed = Bed::new()?;
    let machine = bed.machine("cp1", &Profile::node())?;
    machine.copy_in(program, PROGRAM)?;
    machine.boot()?;
    machine.shell("sysctl -w net.ipv4.ip_forward=1")?;
    machine.write("/etc/machineadm/config.yaml", INIT, 0o600)?;
    machine.check(&[PROGRAM, "bootstrap"])?;
    machine.wait_for_nodes(&["cp1"])?;
    // Neither is the first change of the machine.
    change(Sort::Machineadm, &machine, 0)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let order = if pair % 2 == 0 { [Sort::Hand, Sort::Machineadm] } else { [Sort::Machineadm, Sort::Hand] };
        for (at, sort) in order.into_iter().enumerate() {
            let seconds = change(sort, &machine, 1 + 2 * pair + at)?;
            eprintln!("pair {pair}: {sort:?} {seconds:.2}");
            if sort == Sort::Machineadm { ours.push(seconds) } else { theirs.push(seconds) }
        }
    }
    bed.down()?;
    println!("| API server down, {PAIRS} changes each | median | shortest | longest | times by hand (medians) |");
    println!("|---|---|---|---|---|");
    let ratio = format!("{:.3}", median(&ours) / median(&theirs));
    for (name, seconds, beside) in [("machineadm", &ours, ratio.as_str()), ("by hand", &theirs, "1")] {
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = seconds.iter().copied().fold(0.0, f64::max);
        println!("| {name} | {:.2} s | {least:.2} s | {most:.2} s | {beside} |", median(seconds));
    }
    println!("\ntarget: no longer than by hand");
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Changes an argument to another value; gives for how many seconds `/readyz` did not answer.
fn change(sort: Sort, machine: &Machine, number: usize) -> Result<f64> {
    let flag = format!("--goaway-chance=0.{:03}", number + 1);
    let url = format!("https://{}:6443/readyz", machine.address());
    let asks = format!(
        "while :; do if [ \"$(curl --silent --insecure --max-time 2 {url})\" = ok ]; then echo $(date +%s.%N) ok; else echo \
         $(date +%s.%N) none; fi; done >{ANSWERS}"
    );
    machine.check(&["systemd-run", "--quiet", "--collect", "--unit=asks", "sh", "-c", &asks])?;
    match sort {
        Sort::Machineadm => {
            machine.write("/srv/post.yaml", document(number + 1), 0o600)?;
            machine.run_within(&[PROGRAM, "bootstrap", "--mode", "post", "-f", "/srv/post.yaml"], LIMIT)?;
        }
        Sort::Hand => drop(machine.shell(&format!(
            "sed 's/--goaway-chance=.*/{}/' {MANIFEST} >/srv/manifest && mv /srv/manifest {MANIFEST}",
            flag.replace('/', "\\/")
        ))?),
    }
    until(&format!("an API server with {flag}"), LIMIT, || {
        let found = machine.run(&["pgrep", "--full", &format!("^kube-apiserver .*{flag}")]);
        let answers = machine.read(ANSWERS).map_err(|error| error.to_string())?;
        let last = answers.lines().last().unwrap_or_default();
        match found {
            Ok(output) if output.code == 0 && last.ends_with(" ok") && answers.contains(" none") => Ok(()),
            other => Err(format!("{other:?} {last}")),
        }
    })?;
    // The mirror pod is written later; what comes next must find the kubelet at rest.
    until("the mirror pod", LIMIT, || {
        let path = "--output=jsonpath={.spec.containers[0].command}{.status.conditions[?(@.type=='Ready')].status}";
        let pod = machine.kubectl(&["--namespace=kube-system", "get", "pod", "kube-apiserver-cp1", path]);
        let pod = pod.map_err(|error| error.to_string())?;
        if pod.contains(&flag) && pod.ends_with("True") { Ok(()) } else { Err(pod) }
    })?;
    machine.check(&["systemctl", "stop", "asks"])?;
    Ok(down(&machine.read(ANSWERS)?))
}

/// From the last answer before the first silence to the first answer after the last one.
fn down(answers: &str) -> f64 {
    let answers: Vec<(f64, bool)> = answers
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(time, answer)| Some((time.parse().ok()?, answer == "ok")))
        .collect();
    let is_silent = |(_, is_ok): &(f64, bool)| !is_ok;
    let first = answers.iter().position(is_silent).unwrap_or_default().saturating_sub(1);
    let last = answers.iter().rposition(is_silent).unwrap_or_default() + 1;
    answers.get(last).zip(answers.get(first)).map_or(0.0, |(after, before)| after.0 - before.0)
}

fn document(thousandths: usize) -> String {
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ControlPlaneConfig
spec:
  arguments: {{goaway-chance: '0.{thousandths:03}'}}
"
    )
}

const INIT: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: v1.36.4
  podSubnets: [10.244.0.0/16]
  toleratedChecks: [cgroups]
  kubelet:
    syncFrequency: 5s
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
    imageGCHighThresholdPercent: 100
  kubeProxy:
    conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
";
