//! The KMS plugin beside one in Go over the same token: throughput, memory, and the time to the first answer.
use machineadm_benches::kms::{Call, Calls, Client, Contest, Load, Side};
use std::time::Duration;

/// Rounds of each load, ours and theirs in turn; medians count.
const ROUNDS: usize = 5;
const LIMIT: Duration = Duration::from_secs(2);
const STARTS: usize = 11;
const LOADS: &[(&str, Call, u8)] = &[
    ("Decrypt, one at a time", Call::Decrypt, 1),
    ("Decrypt, 16 at a time", Call::Decrypt, 16),
    ("Status, 16 at a time", Call::Status, 16),
];
const ABOUT: &str = "Client and plugins share the cores: the first rows are asked by a client of one thread that takes \
    less CPU than either plugin, the others by kube-apiserver's own, which takes several times as much and so hides what it \
    asks. SoftHSM needs some 20 µs of CPU for each Decrypt, in both.";
const CLIENTS: &[(&str, Client)] =
    &[("", Client::Light), (", asked by kube-apiserver's own client", Client::ApiServers)];

fn main() -> Result<(), String> {
    let contest = Contest::prepare()?;
    let mut starts = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        starts[0].push(contest.first_answer(Side::Ours)?);
        starts[1].push(contest.first_answer(Side::Go)?);
    }
    let (ours, go) = (contest.start(Side::Ours)?, contest.start(Side::Go)?);
    let seconds = LIMIT.as_secs();
    println!("| {ROUNDS} rounds of {seconds} s each, medians | machineadm-kms-plugin | plugin in Go | ratio |");
    println!("|---|---|---|---|");
    for (whose, client) in CLIENTS {
        for (name, call, at_once) in LOADS {
            let calls = Calls { client: *client, call: *call, at_once: *at_once };
            let mut loads = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                loads[0].push(ours.measured_load(calls, LIMIT)?);
                loads[1].push(go.measured_load(calls, LIMIT)?);
            }
            let [ours, go] = loads.map(|loads| middle(&loads));
            let ratio = ours.0.per_second / go.0.per_second;
            println!("| {name}{whose} | {} | {} | {ratio:.2} |", shown(&ours), shown(&go));
        }
    }
    let (ours, go) = (ours.memory_mb()?, go.memory_mb()?);
    for (name, at) in [("memory after these", 0), ("the same without SoftHSM and its libraries", 1)] {
        println!("| {name} | {:.1} MB | {:.1} MB | {:.2} |", ours[at], go[at], ours[at] / go[at]);
    }
    let [ours, go] = starts.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!("| start to first healthy Status | {ours:.1} ms | {go:.1} ms | {:.2} |", ours / go);
    println!("\ntarget: at least 1.5 times the throughput, at most a third of the memory. {ABOUT}");
    Ok(())
}

fn shown((load, cpu): &(Load, f64)) -> String {
    let Load { per_second, p50_micros, p99_micros } = load;
    format!("{per_second:.0}/s, p50 {p50_micros} µs, p99 {p99_micros} µs, CPU {cpu:.0} µs")
}

/// The round of the median throughput.
fn middle(loads: &[(Load, f64)]) -> (Load, f64) {
    let mut loads = loads.to_vec();
    loads.sort_by(|(a, _), (b, _)| a.per_second.total_cmp(&b.per_second));
    loads[loads.len() / 2]
}
