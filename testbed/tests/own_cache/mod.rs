//! The command with beds of its own: no other run cleans up after it, and it after no other.
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testbed::{Result, cache, traces::Traces};

/// A cache that shares with the usual one what is dear to make, and nothing else.
pub(crate) struct OwnCache {
    place: PathBuf,
}

impl OwnCache {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let usual = cache::directory()?;
        let place = usual.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(place.join("machineadm")).expect("a cache of its own");
        for shared in ["programs", "bases", "layers", "images"] {
            std::fs::create_dir_all(usual.join(shared)).expect("a part of the usual cache");
            std::os::unix::fs::symlink(usual.join(shared), place.join("machineadm").join(shared))
                .expect("a link to it");
        }
        Ok(Self { place })
    }

    /// What a bed of this cache has on the host now.
    pub(crate) fn traces(&self, id: &str) -> Result<Traces> {
        Traces::of(&self.place.join("machineadm/beds").join(id))
    }

    /// The command, not started yet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_testbed"));
        command.args(words).env("XDG_CACHE_HOME", &self.place).stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// Runs it with this input, wants it to succeed, and gives what it printed.
    pub(crate) fn run(&self, words: &[&str], input: &str) -> String {
        let mut child = self.command(words).spawn().expect("the command starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }
}

impl Drop for OwnCache {
    fn drop(&mut self) {
        let left = self.place.join("machineadm/beds").read_dir().into_iter().flatten().count();
        if left == 0 {
            drop(std::fs::remove_dir_all(&self.place));
        }
    }
}
