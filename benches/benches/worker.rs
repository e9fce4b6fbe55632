//! From nothing to a Ready node: a machine boots from user data and joins, by machineadm and by kubeadm alone, in pairs.
use machineadm_benches::static_machineadm;
use std::{
    path::{Path, PathBuf},
    time::Instant,
};
use testbed::{Bed, Error, Machine, Profile, Result, kubeadm};

/// Pairs that are measured; each is a machine of either sort, and the sort that goes first alternates.
const PAIRS: usize = 9;
const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const PROGRAM: &str = "/usr/bin/machineadm";

fn main() -> std::result::Result<(), String> {
    let program = static_machineadm()?;
    measure(&program).map_err(|error| error.to_string())
}

fn measure(program: &Path) -> Result<()> {
    let bench = Bench::start(program)?;
    // Neither is the first to fill the caches of the host.
    [Sort::Kubeadm, Sort::Machineadm].iter().try_for_each(|sort| bench.run(*sort, "warm").map(drop))?;
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let order = if pair % 2 == 0 { [Sort::Kubeadm, Sort::Machineadm] } else { [Sort::Machineadm, Sort::Kubeadm] };
        for sort in order {
            let seconds = bench.run(sort, &pair.to_string())?;
            eprintln!("pair {pair}: {sort:?} {seconds:.2} s");
            if sort == Sort::Kubeadm { theirs.push(seconds) } else { ours.push(seconds) }
        }
    }
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    let own = bench.own_cost()?;
    println!("| {PAIRS} machines each, from power on to Ready | median | fastest | slowest |\n|---|---|---|---|");
    row("cloud-init and machineadm", &ours);
    row("cloud-init and kubeadm alone", &theirs);
    println!(
        "\nmachineadm beside kubeadm: {:.3} times (medians), {:.3} times (median of the pairs); target: at most 1.05",
        median(&ours) / median(&theirs),
        median(&ratios)
    );
    println!("machineadm itself, without kubeadm: {own}");
    bench.bed.down()
}

fn row(name: &str, seconds: &[f64]) {
    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = seconds.iter().copied().fold(0.0, f64::max);
    println!("| {name} | {:.2} s | {least:.2} s | {most:.2} s |", median(seconds));
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Who joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Kubeadm,
    Machineadm,
}

/// A cluster of kubeadm's, which machines join one after the other.
struct Bench {
    first: Machine,
    program: PathBuf,
    pin: String,
    bed: Bed,
}

impl Bench {
    fn start(program: &Path) -> Result<Self> {
        let bed = Bed::new()?;
        let first = bed.machine("cp", &Profile::node())?;
        first.boot()?;
        kubeadm::init(&first)?;
        let printed = first.check(&["kubeadm", "token", "create", TOKEN, "--print-join-command"])?;
        let pin = printed.split_whitespace().find(|word| word.starts_with("sha256:")).map(str::to_owned);
        let pin = pin.ok_or_else(|| Error::Misused("kubeadm printed no hash of its CA".to_owned()))?;
        first.wait_for_nodes(&["cp"])?;
        Ok(Self { first, program: program.to_owned(), pin, bed })
    }

    /// How long a new machine takes, in seconds.
    fn run(&self, sort: Sort, number: &str) -> Result<f64> {
        let name = format!("{}{number}", if sort == Sort::Kubeadm { "k" } else { "m" });
        let machine = self.machine(&name, &self.user_data(sort, ""))?;
        let began = Instant::now();
        machine.power_on()?;
        self.wait_until_ready(&name)?;
        let seconds = began.elapsed().as_secs_f64();
        self.remove(machine, &name)?;
        Ok(seconds)
    }

    fn machine(&self, name: &str, user_data: &str) -> Result<Machine> {
        let machine = self.bed.machine(name, &Profile::node().with_user_data(user_data))?;
        machine.copy_in(&self.program, PROGRAM)?;
        Ok(machine)
    }

    /// Both watch: neither polls.
    fn wait_until_ready(&self, name: &str) -> Result<()> {
        let wait = |what: &str| {
            format!("kubectl --kubeconfig=/etc/kubernetes/admin.conf wait --for={what} node/{name} --timeout=300s")
        };
        self.first.shell(&format!("{} && {}", wait("create"), wait("condition=Ready"))).map(drop)
    }

    fn remove(&self, machine: Machine, name: &str) -> Result<()> {
        machine.kill()?;
        self.first.kubectl(&["delete", "node", name]).map(drop)
    }

    /// The same steps for both: forwarding, then the join.
    fn user_data(&self, sort: Sort, before: &str) -> String {
        let (endpoint, pin) = (format!("{}:6443", self.first.address()), &self.pin);
        match sort {
            Sort::Kubeadm => format!(
                "#cloud-config\nruncmd:\n- sysctl -w net.ipv4.ip_forward=1\n- kubeadm join {endpoint} --token {TOKEN} \
                 --discovery-token-ca-cert-hash {pin} --ignore-preflight-errors=SystemVerification\n"
            ),
            Sort::Machineadm => format!(
                "#cloud-config
write_files:
- path: /etc/machineadm/config.yaml
  permissions: '0600'
  content: |
    apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
    kind: SysctlConfig
    spec:
      parameters: {{net.ipv4.ip_forward: 1}}
    ---
    apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
    kind: JoinConfig
    spec:
      discovery:
        token:
          endpoints: ['{endpoint}']
          token: {TOKEN}
          caPins: ['{pin}']
      toleratedChecks: [cgroups]
runcmd:
{before}- {PROGRAM} bootstrap
"
            ),
        }
    }

    /// CPU time and peak memory of machineadm alone, looked at from beside it, in a run that is not measured.
    fn own_cost(&self) -> Result<String> {
        let sampler = "- systemd-run --unit=sampler sh -c 'until pid=$(pgrep -o -x machineadm); do :; done; \
            while cat /proc/$pid/stat /proc/$pid/status > /srv/sample.new 2>/dev/null; do \
            mv /srv/sample.new /srv/sample; sleep 0.01; done'\n";
        let machine = self.machine("own", &self.user_data(Sort::Machineadm, sampler))?;
        machine.power_on()?;
        self.wait_until_ready("own")?;
        machine.shell("systemctl is-active sampler && systemctl stop sampler || true; test -s /srv/sample")?;
        let sample = machine.read("/srv/sample")?;
        self.remove(machine, "own")?;
        let unreadable = || Error::Misused(format!("the sample cannot be read: {sample}"));
        // The name in parentheses is the second field; user and system time are the 14th and 15th, in ticks.
        let fields = sample.split_once(") ").map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
        let tick = |at: usize| fields.as_ref()?.get(at)?.parse::<f64>().ok();
        let ticks = tick(11).zip(tick(12)).map(|(user, system)| user + system).ok_or_else(unreadable)?;
        let peak = sample.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or_else(unreadable)?;
        let peak: f64 = peak.trim().trim_end_matches(" kB").parse().map_err(|_| unreadable())?;
        Ok(format!("{:.2} s of CPU time, {:.1} MB of memory at most", ticks / 100.0, peak / 1000.0))
    }
}
