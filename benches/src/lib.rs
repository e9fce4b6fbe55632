//! What is measured, on which inputs, and beside whom.
pub mod kms;

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsStr,
    fmt::Write as _,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

/// What a program cost.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// CPU time of one run, user and system.
    pub cpu_ms: f64,
    /// The largest resident memory of any run.
    pub peak_mb: f64,
    /// The slowest run by the clock on the wall.
    pub slowest_ms: f64,
    /// The last run's exit code.
    pub exit: Option<i32>,
}

/// Runs a program several times through the program `measure`.
pub fn cost<S: AsRef<OsStr>>(measure: &str, runs: u32, program: &Path, arguments: &[S]) -> Result<Cost, String> {
    let output = Command::new(measure).arg(runs.to_string()).arg(program).args(arguments).output();
    let output = output.map_err(|error| format!("measure: {error}"))?;
    serde_json::from_slice(&output.stdout).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The largest static program that passes, in bytes; `cargo bench -p machineadm-benches --bench size` prints what fills
/// it. The design allows no more for the whole machine side.
pub const LARGEST_PROGRAM: usize = 12_000_000;

/// The largest static machineadm-kms-plugin that passes, in bytes, with all its key services.
pub const LARGEST_KMS_PLUGIN: usize = 14_000_000;

/// How the static program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// As it ships.
    Shipped,
    /// As it ships, with the names of its functions, to see what it is made of.
    WithSymbols,
    /// Without optimization, which takes seconds instead of minutes.
    Quick,
}

/// The static program that tests copy into machines: quickly built, or in the long tier as it ships.
pub fn machine_program() -> Result<PathBuf, String> {
    static_program(of_tier())
}

/// The static KMS plugin that tests copy into machines, built in the same way.
pub fn machine_kms_plugin() -> Result<PathBuf, String> {
    built("machineadm-kms-plugin", of_tier())
}

fn of_tier() -> Build {
    let is_long = std::env::var_os(testbed::programs::TIER).is_some_and(|tier| tier == "long");
    if is_long { Build::Shipped } else { Build::Quick }
}

/// The static program as it ships, built if it is not there or not fresh.
pub fn static_machineadm() -> Result<PathBuf, String> {
    static_program(Build::Shipped)
}

/// The static program, built if it is not there or not fresh.
pub fn static_program(build: Build) -> Result<PathBuf, String> {
    built("machineadm", build)
}

/// The static machineadm-kms-plugin, built if it is not there or not fresh.
pub fn static_kms_plugin(build: Build) -> Result<PathBuf, String> {
    built("machineadm-kms-plugin", build)
}

/// The profile of machineadm-kms-plugin as it ships.
pub(crate) const KMS_PLUGIN_PROFILE: &str = "kms-plugin";

/// The one program of a package, which has its name.
fn built(package: &str, build: Build) -> Result<PathBuf, String> {
    const TARGET: &str = "x86_64-unknown-linux-musl";
    let root = repository();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&root).args(["build", "--quiet", "--locked", "-p", package, "--target", TARGET]);
    let mut place = root.join("target");
    if build == Build::WithSymbols {
        // Beside the one that ships, which tests run.
        place.push("with-symbols");
        cargo.arg("--target-dir").arg(&place).env("CARGO_PROFILE_RELEASE_STRIP", "none");
    }
    let (profile, directory) = match (build, package) {
        (Build::Quick, _) => ("dev", "debug"),
        (_, "machineadm-kms-plugin") => (KMS_PLUGIN_PROFILE, KMS_PLUGIN_PROFILE),
        _ => ("release", "release"),
    };
    match cargo.args(["--profile", profile]).status() {
        Ok(status) if status.success() => Ok(place.join(TARGET).join(directory).join(package)),
        Ok(status) => Err(format!("cannot build the static program: {status}; run scripts/setup")),
        Err(error) => Err(format!("cannot run cargo: {error}")),
    }
}

/// A judge that `scripts/setup` has unpacked.
pub fn peer(name: &str) -> Result<PathBuf, String> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let file = cache.unwrap_or_default().join("machineadm/bin").join(name);
    if file.exists() { Ok(file) } else { Err(format!("{name} is missing; run scripts/setup")) }
}

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// 64 KB in 20 documents, as a rich machine would have it.
pub fn configuration() -> String {
    const HEAD: &str = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\n";
    let mut text = String::new();
    for number in 0..18 {
        let _ = write!(text, "---\n{HEAD}kind: FilesConfig\nmetadata: {{name: files-{number}}}\nspec:\n  files:\n");
        for file in 0..4 {
            let _ = writeln!(
                text,
                "  - path: /etc/example/{number}/{file}\n    mode: \"0644\"\n    owner: root:root\n    content: |"
            );
            for line in 0..14 {
                let _ = writeln!(text, "      setting-{line} = value of {number} and {file} for a line of text");
            }
        }
    }
    let _ = write!(text, "---\n{HEAD}kind: KernelModulesConfig\nspec:\n  modules: [overlay, br_netfilter]\n");
    let _ = write!(text, "---\n{HEAD}kind: SysctlConfig\nspec:\n  parameters:\n    net.ipv4.ip_forward: \"1\"\n");
    text
}

/// The same files for cloud-init.
pub fn cloud_config() -> String {
    let mut text = String::from("#cloud-config\nwrite_files:\n");
    for number in 0..72 {
        let _ =
            writeln!(text, "- path: /etc/example/{number}\n  permissions: '0644'\n  owner: root:root\n  content: |");
        for line in 0..14 {
            let _ = writeln!(text, "    setting-{line} = value of {number} for a line of text, at length");
        }
    }
    text
}

/// The same files for Ignition.
pub fn ignition_config() -> String {
    let file = |number: u32| {
        let lines: String =
            (0..12).map(|line| format!("setting-{line} = value of {number} for a line of text\n")).collect();
        let source = format!("data:;base64,{}", BASE64_STANDARD.encode(lines));
        serde_json::json!({"path": format!("/etc/example/{number}"), "mode": 420, "contents": {"source": source}})
    };
    let files: Vec<_> = (0..60).map(file).collect();
    serde_json::json!({"ignition": {"version": "3.3.0"}, "storage": {"files": files}}).to_string()
}

/// Inputs that are small and try to become large.
pub fn bombs() -> [(&'static str, Vec<u8>); 3] {
    let mut aliases = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        let _ = writeln!(aliases, "{to}: &{to} [{}]", vec![format!("*{from}"); 9].join(", "));
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let megabyte = vec![b'x'; 1 << 20];
    (0..200).for_each(|_| drop(gzip.write_all(&megabyte)));
    [
        ("alias bomb", aliases.into_bytes()),
        ("depth bomb", "[".repeat(500_000).into_bytes()),
        ("gzip bomb, 200 MB", gzip.finish().unwrap_or_default()),
    ]
}
