//! Planning a containerd document: CPU time of the rules alone, in this process, without the containerd that is asked.
use containerd::{
    Capability, CgroupDriver, Mirror, Printed, Registry, Seen, Settings, Upstream, Version, import_patterns, missing,
    propose, with_absolute_imports,
};
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike,
};
use std::{collections::BTreeSet, process::Command};
use testbed::programs::CONTAINERD;

const RUNS: u32 = 200;
const PATH: &str = "/etc/containerd/config.toml";

fn main() -> Result<(), String> {
    // As large as configurations come: everything that containerd itself would write.
    let program = CONTAINERD.ensure().and_then(|programs| programs.judge("containerd"));
    let program = program.map_err(|error| error.to_string())?;
    let printed = Command::new(program).args(["config", "default"]).output().map_err(|error| error.to_string())?;
    let default = String::from_utf8(printed.stdout).map_err(|error| error.to_string())?;
    let (settings, hosts) = (settings(), BTreeSet::new());
    let version = Version { major: 2, minor: 4 };
    let plan = || -> Result<usize, String> {
        import_patterns(&default, PATH, version);
        let seen = Seen { version, config_path: PATH, config: Some(&default), imports: &[], hosts: &hosts };
        let proposal = propose(&settings, &seen).map_err(|problems| format!("{problems:?}"))?;
        // What containerd prints of it is of this size.
        let asked = with_absolute_imports(&proposal.config, PATH);
        let printed = Printed { dump: &asked, defaults: &default };
        let missing = missing(printed, &proposal, &[]).map_err(|error| error.to_string())?;
        if missing.is_empty() { Ok(proposal.files.len()) } else { Err(format!("{missing:?}")) }
    };
    let files = plan()?;
    let before = cpu_ms()?;
    for _ in 0..RUNS {
        plan()?;
    }
    let cpu = (cpu_ms()? - before) / f64::from(RUNS);
    println!("| planning a containerd document (target: at most 5 ms) | CPU |\n|---|---|");
    let size = default.len() / 1000;
    println!(
        "| config.toml of {size} KB and {files} files of registries, without the containerd that is asked | {cpu:.2} ms |"
    );
    Ok(())
}

/// Twenty registries with a mirror and a CA each.
fn settings() -> Settings {
    let mirror = |number: usize| Mirror {
        url: format!("https://mirror-{number}.example.com"),
        capabilities: vec![Capability::Pull, Capability::Resolve],
        ca: Some("-----BEGIN CERTIFICATE-----\n".repeat(40)),
        client: None,
        headers: Vec::new(),
        skip_verify: false,
        override_path: false,
    };
    let registry = |number: usize| Registry {
        host: format!("registry-{number}.example.com"),
        mirrors: vec![mirror(number)],
        upstream: Upstream::Never,
    };
    Settings {
        registries: (0..20).map(registry).collect(),
        sandbox_image: Some("registry.example.com/pause:3.10.2".into()),
        cgroup_driver: Some(CgroupDriver::Systemd),
        extra: Some("[debug]\nlevel = 'warn'\n".into()),
        ..Settings::default()
    }
}

/// CPU time of this process so far, user and system.
fn cpu_ms() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1000.0)
}
