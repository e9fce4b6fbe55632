//! Our KMS plugin and one in Go over the same token of SoftHSM, asked by a light client and by kube-apiserver's own.
mod frames;
mod light_client;

use crate::{KMS_PLUGIN_PROFILE, repository};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use testbed::programs::{KMS_PEER, Programs};
use testbed::softhsm::{CONFIGURATION, SoftHsm, TOKEN};
use testbed::until;

const KEY: &str = "bench";
const LIMIT: Duration = Duration::from_secs(20);

/// Whose plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// machineadm-kms-plugin, linked with glibc, as it ships.
    Ours,
    /// A plugin on `k8s.io/kms/pkg/service` and crypto11.
    Go,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Decrypt of seeds of 32 bytes, different ones at the same time.
    Decrypt,
    /// Status.
    Status,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// One thread that takes little CPU beside the plugin: what the plugin can do.
    Light,
    /// kube-apiserver's own client, in Go, which takes more CPU than either plugin: what kube-apiserver sees of it.
    ApiServers,
}

/// Calls that are made for a while.
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    /// Who asks.
    pub client: Client,
    /// What is asked.
    pub call: Call,
    /// Calls at the same time, over one connection.
    pub at_once: u8,
}

/// What a load of calls came to.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Load {
    /// Answers per second.
    pub per_second: f64,
    /// The median of their times.
    pub p50_micros: u64,
    /// The time that one of a hundred exceeds.
    pub p99_micros: u64,
}

impl Load {
    /// What calls with these times came to, all of which together took `took`.
    fn of(mut times: Vec<Duration>, took: Duration) -> Self {
        times.sort();
        let part = |percent: usize| times.get(times.len().saturating_sub(1) * percent / 100);
        let micros = |percent| part(percent).map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        let per_second = times.len() as f64 / took.as_secs_f64();
        Self { per_second, p50_micros: micros(50), p99_micros: micros(99) }
    }
}

/// A token with one key, and both programs.
pub struct Contest {
    directory: TempDir,
    token: SoftHsm,
    ours: PathBuf,
    programs: Programs,
}

impl Contest {
    /// Builds what is missing and creates the token.
    pub fn prepare() -> Result<Self, String> {
        let programs = KMS_PEER.ensure().map_err(|error| error.to_string())?;
        let ours = plugin()?;
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let token = SoftHsm::create(directory.path()).map_err(|error| error.to_string())?;
        token.generate(KEY, "01", &[]).map_err(|error| error.to_string())?;
        let contest = Self { directory, token, ours, programs };
        fs::write(contest.configuration(), contest.settings()).map_err(|error| error.to_string())?;
        Ok(contest)
    }

    /// Starts a plugin and waits until it answers.
    pub fn start(&self, side: Side) -> Result<Running<'_>, String> {
        self.remove_socket(side)?;
        let [program, arguments @ ..] = &self.words(side)[..] else { return Err("no program".to_owned()) };
        let child = Command::new(program)
            .args(arguments)
            .env(CONFIGURATION, self.token.configuration())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = child.map_err(|error| format!("cannot start {program}: {error}"))?;
        let running = Running { contest: self, side, child };
        let status = Calls { client: Client::Light, call: Call::Status, at_once: 1 };
        let answers = || running.load(status, Duration::from_millis(10));
        until("the plugin answers", LIMIT, answers).map_err(|error| error.to_string())?;
        Ok(running)
    }

    /// The time from the start of a plugin to its first healthy Status, in milliseconds.
    pub fn first_answer(&self, side: Side) -> Result<f64, String> {
        #[derive(Deserialize)]
        struct Answer {
            micros: f64,
        }
        self.remove_socket(side)?;
        let socket = self.socket(side).display().to_string();
        let words = [vec!["start".to_owned(), socket], self.words(side)].concat();
        self.ask::<Answer>(&words).map(|answer| answer.micros / 1000.0)
    }

    fn ask<T: for<'a> Deserialize<'a>>(&self, words: &[String]) -> Result<T, String> {
        let mut command = Command::new(self.programs.path("kms-load"));
        let output = command.args(words).env(CONFIGURATION, self.token.configuration()).output();
        let output = output.map_err(|error| format!("kms-load: {error}"))?;
        serde_json::from_slice(&output.stdout).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn words(&self, side: Side) -> Vec<String> {
        let shown = |path: &Path| path.display().to_string();
        match side {
            Side::Ours => vec![shown(&self.ours), "--config".to_owned(), shown(&self.configuration())],
            Side::Go => vec![
                shown(&self.programs.path("kms-peer")),
                shown(&self.socket(side)),
                shown(self.token.module()),
                TOKEN.to_owned(),
                shown(&self.token.pin_file()),
                KEY.to_owned(),
            ],
        }
    }

    fn settings(&self) -> String {
        format!(
            "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\nkeys:\n- name: bench\n  \
             socket: {}\n  pkcs11: {{module: {}, tokenLabel: {TOKEN}, pinFile: {}, keyLabel: {KEY}}}\n",
            self.socket(Side::Ours).display(),
            self.token.module().display(),
            self.token.pin_file().display()
        )
    }

    fn configuration(&self) -> PathBuf {
        self.directory.path().join("kms.yaml")
    }

    fn socket(&self, side: Side) -> PathBuf {
        self.directory.path().join(if side == Side::Ours { "ours.sock" } else { "go.sock" })
    }

    /// The plugin in Go refuses to start on the socket of one that was killed.
    fn remove_socket(&self, side: Side) -> Result<(), String> {
        let socket = self.socket(side);
        if socket.exists() { fs::remove_file(socket).map_err(|error| error.to_string()) } else { Ok(()) }
    }
}

/// A plugin that runs; ends when dropped.
pub struct Running<'a> {
    contest: &'a Contest,
    side: Side,
    child: Child,
}

impl Running<'_> {
    /// Calls for so long.
    pub fn load(&self, calls: Calls, limit: Duration) -> Result<Load, String> {
        let Calls { client, call, at_once } = calls;
        let socket = self.contest.socket(self.side);
        if client == Client::Light {
            return light_client::load(&socket, call, at_once, limit);
        }
        let what = if call == Call::Decrypt { "decrypt" } else { "status" };
        let [at_once, seconds] = [at_once.to_string(), limit.as_secs_f64().to_string()];
        self.contest.ask(&[what.to_owned(), socket.display().to_string(), at_once, seconds])
    }

    /// The same, and the CPU time of the plugin for one call, in microseconds: unlike the rest, it hardly depends on how
    /// busy the machine is.
    pub fn measured_load(&self, calls: Calls, limit: Duration) -> Result<(Load, f64), String> {
        let before = self.cpu_micros()?;
        let load = self.load(calls, limit)?;
        let cpu = self.cpu_micros()? - before;
        Ok((load, cpu / (load.per_second * limit.as_secs_f64())))
    }

    /// User and system time so far, which the kernel counts in hundredths of a second.
    fn cpu_micros(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' ').skip(11).take(2));
        let ticks: Option<Vec<f64>> = fields.map(|fields| fields.filter_map(|field| field.parse().ok()).collect());
        match ticks.as_deref() {
            Some([user, system]) => Ok((user + system) * 10_000.0),
            _ => Err("no times in /proc/PID/stat".to_owned()),
        }
    }

    /// Its memory now, in MB: all of it, and what is left without shared libraries, which SoftHSM brings to both.
    pub fn memory_mb(&self) -> Result<[f64; 2], String> {
        let maps = format!("/proc/{}/smaps", self.child.id());
        let maps = fs::read_to_string(maps).map_err(|error| error.to_string())?;
        let (mut all, mut own, mut is_library) = (0.0, 0.0, false);
        for line in maps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["Rss:", kib, _] => {
                    let kib = kib.parse::<f64>().map_err(|error| error.to_string())?;
                    all += kib / 1024.0;
                    own += if is_library { 0.0 } else { kib / 1024.0 };
                }
                // A mapping begins: addresses, rights, offset, device, inode, path.
                [range, _, _, _, _, path @ ..] if range.contains('-') => {
                    is_library = path.first().is_some_and(|path| path.contains(".so"));
                }
                _ => {}
            }
        }
        Ok([all, own])
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.contest.remove_socket(self.side);
    }
}

/// The plugin that can load modules, as it ships.
fn plugin() -> Result<PathBuf, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let root = repository();
    cargo.current_dir(&root).args(["build", "--quiet", "--locked", "-p", "machineadm-kms-plugin"]);
    match cargo.args(["--profile", KMS_PLUGIN_PROFILE]).status() {
        Ok(status) if status.success() => {
            Ok(root.join("target").join(KMS_PLUGIN_PROFILE).join("machineadm-kms-plugin"))
        }
        Ok(status) => Err(format!("cannot build the plugin: {status}")),
        Err(error) => Err(format!("cannot run cargo: {error}")),
    }
}
