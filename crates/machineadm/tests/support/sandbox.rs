//! The live system without its dangers: the host's own files below an overlay, with processes, mounts and a network
//! of their own. What is changed in it is gone with it.
use crate::support::{run_output::RunOutput, scratch::Scratch};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// Mounts, says that it is done, and stays until its standard input ends.
const SETUP: &str = r#"set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/machine"
mount -t overlay none -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/machine"
cd "$1/machine"
for dir in dev sys; do mount --rbind "/$dir" "$dir"; done
mount -t proc none proc
for dir in run tmp; do mount -t tmpfs none "$dir"; done
cp "$2" usr/local/bin/machineadm
rm -rf var/lib/machineadm
echo ready
exec cat
"#;

/// A machine that runs.
pub(crate) struct Sandbox {
    keeper: Child,
    /// The first process inside, as the host counts.
    inside: String,
    dir: Scratch,
}

impl Sandbox {
    /// Starts one; without the rights or programs for it the test fails and says so.
    pub(crate) fn new() -> Self {
        let dir = Scratch::new("sandbox");
        let mut unshare = Command::new("unshare");
        unshare.args(["-m", "-n", "-p", "-f", "--kill-child", "--propagation", "private", "sh", "-c", SETUP, "sh"]);
        unshare.arg(dir.path()).arg(env!("CARGO_BIN_EXE_machineadm"));
        let keeper = unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut keeper = keeper.expect("unshare is missing: run scripts/setup");
        let mut ready = String::new();
        let said = keeper.stdout.take().expect("its output is piped");
        BufReader::new(said).read_line(&mut ready).expect("its output can be read");
        assert_eq!(ready, "ready\n", "a sandbox needs root, with the rights to unshare and to mount an overlay");
        let pid = keeper.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("a process has children");
        Self { keeper, inside: children.trim().to_owned(), dir }
    }

    /// Where a path of the sandbox's lies for us.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}/machine{path}", self.inside, self.dir.path().display()))
    }

    /// A file's text; `None` when there is none.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    /// A program inside, not started yet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.inside, "-m", "-n", "-p", "chroot"]);
        command.arg(self.dir.path().join("machine")).args(words).stdin(Stdio::null());
        command
    }

    /// Runs a program inside.
    pub(crate) fn run(&self, words: &[&str]) -> RunOutput {
        RunOutput::of(self.command(words).output().expect("nsenter is missing: run scripts/setup"))
    }

    /// Runs a script inside that must succeed.
    pub(crate) fn sh(&self, script: &str) -> String {
        let RunOutput { code, stdout, stderr } = self.run(&["sh", "-ec", script]);
        assert_eq!(code, Some(0), "{script}: {stdout}{stderr}");
        stdout
    }

    /// Runs machineadm inside.
    pub(crate) fn machineadm(&self, arguments: &[&str]) -> RunOutput {
        self.run(&[&["machineadm"], arguments].concat())
    }

    /// Writes a configuration inside and bootstraps with it.
    pub(crate) fn bootstrap(&self, documents: &str) -> RunOutput {
        fs::write(self.at("/srv/configuration.yaml"), documents).expect("a file can be written");
        self.machineadm(&["bootstrap", "-f", "/srv/configuration.yaml"])
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // Its processes and mounts go with it.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}
