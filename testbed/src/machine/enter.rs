//! Running commands in a machine: through its first process while it is on, on its disk while it is off.
use super::boot::{PID, first_process};
use super::{Machine, OWN_DISK};
use crate::child::Input;
use crate::{Error, Output, Result, child, claim, until};
use rustix::process::Pid;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// How long a command may take unless a limit is given.
const LIMIT: Duration = Duration::from_secs(300);

/// Mounts the disk of a machine that is off, in a mount namespace of its own, and runs a command on it.
const OFFLINE: &str = include_str!("offline.sh");

/// A clean environment, as a service of the machine has it.
const ENVIRONMENT: &[&str] = &[
    "/usr/bin/env",
    "-i",
    "HOME=/root",
    "TERM=dumb",
    "LANG=C.UTF-8",
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
];

/// A shell in a machine of a bed that was kept by [`Bed::keep`](crate::Bed::keep), found by the machine's name.
pub fn shell_in_kept(machine: &str) -> Result<Command> {
    let on = |directory: PathBuf| {
        let pid = fs::read_to_string(directory.join("machines").join(machine).join(PID)).ok()?;
        first_process(pid.parse().ok()?)
    };
    let leader = claim::kept()?.into_iter().find_map(on);
    let leader = leader.ok_or_else(|| Error::Misused(format!("there is no machine {machine} that is up")))?;
    let mut command = through(leader);
    command.args(ENVIRONMENT).args(["TERM=linux", "KUBECONFIG=/etc/kubernetes/admin.conf", "bash", "--login"]);
    Ok(command)
}

/// A command that enters a machine through its first process.
fn through(leader: Pid) -> Command {
    let mut command = Command::new("nsenter");
    let leader = leader.as_raw_nonzero().to_string();
    command.args(["--target", &leader, "--all", "--root", "--wd", "--"]);
    command
}

/// Whether a machine can be entered through its first process, or through its disk.
enum State {
    On(Pid),
    Off,
}

impl Machine {
    /// Runs a command to its end, whatever its exit code.
    pub fn run(&self, words: &[&str]) -> Result<Output> {
        self.run_within(words, LIMIT)
    }

    /// The same with a time limit of one's own; a command that outlives it is killed.
    pub fn run_within(&self, words: &[&str], limit: Duration) -> Result<Output> {
        child::output(&mut self.command(words)?, Input::Nothing, limit)
    }

    /// Runs a command that must succeed and gives its standard output.
    pub fn check(&self, words: &[&str]) -> Result<String> {
        let line = format!("{}: {}", self.name, words.join(" "));
        Ok(child::succeeded(&line, self.run(words)?)?.stdout)
    }

    /// Runs a script of `sh` that must succeed (and stops at its first failure), and gives its standard output.
    pub fn shell(&self, script: &str) -> Result<String> {
        self.check(&["sh", "-euc", script])
    }

    /// Runs a command that reads this and must succeed.
    pub(crate) fn feed(&self, words: &[&str], input: Input<'_>) -> Result<String> {
        let line = format!("{}: {}", self.name, words.join(" "));
        Ok(child::succeeded(&line, child::output(&mut self.command(words)?, input, LIMIT)?)?.stdout)
    }

    /// A command that is not started yet, for tests that talk to it, kill it, or let it run beside them.
    pub fn command(&self, words: &[&str]) -> Result<Command> {
        let mut command = match self.state()? {
            State::On(leader) => through(leader),
            State::Off => {
                let mut command = Command::new("unshare");
                command.args(["--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child"]);
                command.args(["sh", "-c", OFFLINE, "offline"]).envs(self.disk());
                let own = OWN_DISK.iter().map(|(own, inside)| format!("{own}:{inside}"));
                command.env("OWN_DISK", own.collect::<Vec<_>>().join(" "));
                command
            }
        };
        command.args(ENVIRONMENT).args(words);
        Ok(command)
    }

    /// The disk of a machine that is just going on or off belongs to it: mounting it twice would destroy it.
    fn state(&self) -> Result<State> {
        until(&format!("{} either on or off", self.name), LIMIT, || match (self.leader(), self.is_on()) {
            (Some(leader), _) => Ok(State::On(leader)),
            (None, false) => Ok(State::Off),
            (None, true) => Err("neither".to_owned()),
        })
    }

    /// Where the scripts find the machine's disk.
    pub(super) fn disk(&self) -> [(&'static str, String); 2] {
        let lower: Vec<String> = self.lower.iter().map(|layer| layer.display().to_string()).collect();
        [("LOWER", lower.join(":")), ("DISK", self.directory.display().to_string())]
    }
}
