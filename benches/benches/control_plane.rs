//! A control plane of two machines: `init` and the join of a second node, by machineadm and by kubeadm alone, in pairs.
use machineadm_benches::static_machineadm;
use std::{
    path::Path,
    time::{Duration, Instant},
};
use testbed::{
    Bed, Machine, Profile, Result,
    kubeadm::{self, Part},
    until,
};

/// Pairs that are measured; each is a cluster of either sort, and the sort that goes first alternates.
const PAIRS: usize = 5;
const PROGRAM: &str = "/usr/bin/machineadm";
/// How long the controllers may take.
const LIMIT: Duration = Duration::from_secs(120);
const CONFIGURATION: &str = "/etc/machineadm/config.yaml";

fn main() -> std::result::Result<(), String> {
    let program = static_machineadm()?;
    measure(&program).map_err(|error| error.to_string())
}

/// Who makes a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Kubeadm,
    Machineadm,
}

/// How long it took, in seconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    init: f64,
    join: f64,
}

fn measure(program: &Path) -> Result<()> {
    // Neither is the first to fill the caches of the host.
    [Sort::Kubeadm, Sort::Machineadm].iter().try_for_each(|sort| cluster(*sort, program).map(drop))?;
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let order = if pair % 2 == 0 { [Sort::Kubeadm, Sort::Machineadm] } else { [Sort::Machineadm, Sort::Kubeadm] };
        for sort in order {
            let times = cluster(sort, program)?;
            eprintln!("pair {pair}: {sort:?} {times:.2?}");
            if sort == Sort::Kubeadm { theirs.push(times) } else { ours.push(times) }
        }
    }
    println!("| {PAIRS} clusters each | median | fastest | slowest | times kubeadm (medians) | median of the pairs |");
    println!("|---|---|---|---|---|---|");
    table("init", &ours, &theirs, |times| times.init);
    table("join of a control plane node", &ours, &theirs, |times| times.join);
    println!("\ntarget: at most 1.05 times kubeadm alone, each; certificates are uploaded between the two");
    Ok(())
}

fn table(what: &str, ours: &[Times], theirs: &[Times], of: impl Fn(&Times) -> f64) {
    let (ours, theirs): (Vec<f64>, Vec<f64>) = (ours.iter().map(&of).collect(), theirs.iter().map(&of).collect());
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    let beside = format!("{:.3} | {:.3}", median(&ours) / median(&theirs), median(&ratios));
    for (name, seconds, beside) in [("machineadm", &ours, beside.as_str()), ("kubeadm alone", &theirs, "1 | 1")] {
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = seconds.iter().copied().fold(0.0, f64::max);
        println!("| {what}, {name} | {:.2} s | {least:.2} s | {most:.2} s | {beside} |", median(seconds));
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Makes a cluster of two control plane nodes on new machines that have booted.
fn cluster(sort: Sort, program: &Path) -> Result<Times> {
    let bed = Bed::new()?;
    let [first, second] = ["cp1", "cp2"].map(|name| booted(&bed, name, program));
    let (first, second) = (first?, second?);
    let times = match sort {
        Sort::Kubeadm => by_kubeadm(&first, &second)?,
        Sort::Machineadm => by_machineadm(&first, &second)?,
    };
    first.wait_for_nodes(&["cp1", "cp2"])?;
    bed.down()?;
    Ok(times)
}

fn booted(bed: &Bed, name: &str, program: &Path) -> Result<Machine> {
    let machine = bed.machine(name, &Profile::node())?;
    machine.copy_in(program, PROGRAM)?;
    machine.boot()?;
    machine.shell("sysctl -w net.ipv4.ip_forward=1")?;
    Ok(machine)
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work().map(|()| began.elapsed().as_secs_f64())
}

/// A join waits for the controllers of the cluster, which are still starting after `init`: they sign cluster-info.
fn settled(first: &Machine) -> Result<()> {
    first.wait_for_nodes(&["cp1"])?;
    until("a signed cluster-info", LIMIT, || {
        let map = first.kubectl(&["--namespace=kube-public", "get", "configmap", "cluster-info", "-o", "yaml"]);
        match map.map_err(|error| error.to_string())? {
            map if map.contains("jws-kubeconfig-") => Ok(()),
            map => Err(map),
        }
    })
}

fn by_kubeadm(first: &Machine, second: &Machine) -> Result<Times> {
    let key = kubeadm::configure(first, "")?;
    let words: Vec<&str> = kubeadm::INIT.into_iter().filter(|word| *word != "--upload-certs").collect();
    let init = timed(|| first.check(&words).map(drop))?;
    let invitation = kubeadm::invite(first, key)?;
    settled(first)?;
    first.shell("kubeadm init phase upload-certs --upload-certs --config /srv/kubeadm.yaml")?;
    let join = timed(|| kubeadm::join(second, &invitation, Part::ControlPlane))?;
    Ok(Times { init, join })
}

fn by_machineadm(first: &Machine, second: &Machine) -> Result<Times> {
    let key = first.check(&[PROGRAM, "certs", "key"])?.trim().to_owned();
    let endpoint = format!("{}:6443", first.address());
    first.write(CONFIGURATION, init(&endpoint), 0o600)?;
    let init = timed(|| first.check(&[PROGRAM, "bootstrap"]).map(drop))?;
    let invitation = kubeadm::invite(first, key)?;
    settled(first)?;
    first.write("/srv/key", invitation.certificate_key(), 0o600)?;
    first.shell(&format!("{PROGRAM} certs upload --certificate-key-file /srv/key"))?;
    let words = invitation.words();
    let after = |flag: &str| words.iter().skip_while(|word| **word != flag).nth(1).copied().unwrap_or_default();
    let (token, pin) = (after("--token"), after("--discovery-token-ca-cert-hash"));
    let document = joining(&endpoint, token, pin, invitation.certificate_key());
    second.write(CONFIGURATION, document, 0o600)?;
    let join = timed(|| second.check(&[PROGRAM, "bootstrap"]).map(drop))?;
    Ok(Times { init, join })
}

/// The same cluster as `testbed/files/kubeadm.yaml`.
fn init(endpoint: &str) -> String {
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: v1.36.4
  controlPlaneEndpoint: {endpoint}
  podSubnets: [10.244.0.0/16]
  toleratedChecks: [cgroups]
  kubelet:
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {{memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}}
    imageGCHighThresholdPercent: 100
  kubeProxy:
    conntrack: {{maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}}
"
    )
}

fn joining(endpoint: &str, token: &str, pin: &str, key: &str) -> String {
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: JoinConfig
spec:
  discovery: {{token: {{endpoints: ['{endpoint}'], token: {token}, caPins: ['{pin}']}}}}
  controlPlane: {{certificateKey: {key}}}
  toleratedChecks: [cgroups]
"
    )
}
