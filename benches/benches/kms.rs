//! The KMS plugin beside one in Go over the same token: throughput, memory, and the time to the first answer.
use machineadm_benches::kms::{Call, Contest, Load, Side};

/// Rounds of each load, ours and theirs in turn; medians count.
const ROUNDS: usize = 5;
const SECONDS: f64 = 2.0;
const STARTS: usize = 11;
const LOADS: &[(&str, Call, u32)] = &[
    ("Decrypt, one at a time", Call::Decrypt, 1),
    ("Decrypt, 16 at a time", Call::Decrypt, 16),
    ("Status, 16 at a time", Call::Status, 16),
];

fn main() -> Result<(), String> {
    let contest = Contest::prepare()?;
    let mut starts = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        starts[0].push(contest.first_answer(Side::Ours)?);
        starts[1].push(contest.first_answer(Side::Go)?);
    }
    let (ours, go) = (contest.start(Side::Ours)?, contest.start(Side::Go)?);
    println!("| {ROUNDS} rounds of {SECONDS} s each, medians | machineadm-kms-plugin | plugin in Go | ratio |");
    println!("|---|---|---|---|");
    for (name, call, workers) in LOADS {
        let mut loads = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            loads[0].push(ours.measured_load(*call, *workers, SECONDS)?);
            loads[1].push(go.measured_load(*call, *workers, SECONDS)?);
        }
        let [ours, go] = loads.map(|loads| middle(&loads));
        let shown = |(load, cpu): &(Load, f64)| {
            let Load { per_second, p50_micros, p99_micros } = load;
            format!("{per_second:.0}/s, p50 {p50_micros} µs, p99 {p99_micros} µs, CPU {cpu:.0} µs")
        };
        let ratio = ours.0.per_second / go.0.per_second;
        println!("| {name} | {} | {} | {ratio:.2} |", shown(&ours), shown(&go));
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
    println!("\ntarget: at least 1.5 times the throughput, at most a third of the memory");
    Ok(())
}

/// The round of the median throughput.
fn middle(loads: &[(Load, f64)]) -> (Load, f64) {
    let mut loads = loads.to_vec();
    loads.sort_by(|(a, _), (b, _)| a.per_second.total_cmp(&b.per_second));
    loads[loads.len() / 2]
}
