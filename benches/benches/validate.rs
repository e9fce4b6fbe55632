//! `validate` of a 64 KB file beside cloud-init's and Ignition's own checks of like files, and bombs.
use machineadm_benches::{
    Cost, LARGEST_PROGRAM, bombs, cloud_config, configuration, cost, ignition_config, peer, static_machineadm,
};
use std::{fs, path::Path};

const MEASURE: &str = env!("CARGO_BIN_EXE_measure");

fn main() -> Result<(), String> {
    let machineadm = static_machineadm()?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = |name: &str, contents: &[u8]| {
        let path = scratch.path().join(name);
        fs::write(&path, contents).map(|()| path.display().to_string()).map_err(|error| error.to_string())
    };
    let size = fs::metadata(&machineadm).map_err(|error| error.to_string())?.len();
    println!("static program: {:.2} MB (limit: {:.1} MB)\n", size as f64 / 1e6, LARGEST_PROGRAM as f64 / 1e6);

    let ours = file("node.yaml", configuration().as_bytes())?;
    let mine = measured(200, &machineadm, &["validate", "-f", &ours])?;
    println!("| check of a 64 KB file | CPU per run | peak memory | CPU, times ours |\n|---|---|---|---|");
    row("machineadm validate (target: 2.5 ms, 8 MB)", &mine, &mine);
    let theirs = file("user-data", cloud_config().as_bytes())?;
    row("cloud-init schema", &measured(3, &peer("cloud-init")?, &["schema", "--config-file", &theirs])?, &mine);
    let theirs = file("config.ign", ignition_config().as_bytes())?;
    row("ignition-validate", &measured(50, &peer("ignition-validate")?, &[&theirs])?, &mine);

    println!("\n| refused (target: 50 ms, 50 MB) | slowest run | peak memory | exit code |\n|---|---|---|---|");
    for (name, bytes) in bombs() {
        let bomb = file("bomb", &bytes)?;
        let cost = cost(MEASURE, 20, &machineadm, &["validate", "-f", &bomb])?;
        println!("| {name} | {:.1} ms | {:.1} MB | {} |", cost.slowest_ms, cost.peak_mb, cost.exit.unwrap_or(-1));
    }
    Ok(())
}

/// A check that does not accept its file measures nothing.
fn measured(runs: u32, program: &Path, arguments: &[&str]) -> Result<Cost, String> {
    let cost = cost(MEASURE, runs, program, arguments)?;
    match cost.exit {
        Some(0) => Ok(cost),
        exit => Err(format!("{} does not accept its file: exit code {exit:?}", program.display())),
    }
}

fn row(name: &str, cost: &Cost, ours: &Cost) {
    println!("| {name} | {:.2} ms | {:.1} MB | {:.0} |", cost.cpu_ms, cost.peak_mb, cost.cpu_ms / ours.cpu_ms);
}
