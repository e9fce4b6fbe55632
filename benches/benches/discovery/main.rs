//! `machineadm token list` over 1,000 tokens and a whole discovery by token, beside a real kubeadm's on a real cluster.
mod cluster;

use cluster::Cluster;
use machineadm_benches::{Cost, static_machineadm};

const TOKENS: u32 = 1000;
const RUNS: u32 = 20;

fn main() -> Result<(), String> {
    let cluster = Cluster::start(static_machineadm()?)?;
    let discoveries = cluster.discoveries(RUNS)?;
    let nothing = cluster.nothing(RUNS)?;
    let cluster = cluster.with_tokens(TOKENS)?;
    let lists = cluster.lists(RUNS)?;
    cluster.down()?;

    println!("| {RUNS} runs each | CPU per run | slowest run | peak memory | CPU, times ours | memory, times ours |");
    println!("|---|---|---|---|---|---|");
    let [ours, theirs] = lists;
    row(&format!("machineadm token list, {TOKENS} tokens"), &ours, &ours);
    row("kubeadm token list", &theirs, &ours);
    let [ours, theirs] = discoveries;
    row("machineadm discover by token with a pin", &ours, &ours);
    row("kubeadm join phase kubelet-start, until it misses kubeadm-config (it waits 1 s for it)", &theirs, &ours);
    row("kubeadm version, which does nothing", &nothing, &ours);
    println!("\ntarget: at most a fifth of kubeadm's CPU and memory");
    Ok(())
}

fn row(name: &str, cost: &Cost, ours: &Cost) {
    let (cpu, memory) = (cost.cpu_ms / ours.cpu_ms, cost.peak_mb / ours.peak_mb);
    let Cost { cpu_ms, slowest_ms, peak_mb, .. } = cost;
    println!("| {name} | {cpu_ms:.1} ms | {slowest_ms:.0} ms | {peak_mb:.1} MB | {cpu:.1} | {memory:.1} |");
}
