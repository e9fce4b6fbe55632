//! Ignition: what writes files and enables units before the first boot of a machine.
use super::Machine;
use crate::child::{self, Input};
use crate::{Error, Result, judges};
use std::time::Duration;

/// Mounts the disk in a mount namespace of its own and runs the stages `fetch` and `files`.
const SCRIPT: &str = include_str!("ignition.sh");
/// Each stage takes a tenth of a second.
const LIMIT: Duration = Duration::from_secs(60);

impl Machine {
    /// Runs Ignition on a machine that has never been on: it finds what the configuration asks for at its first boot.
    pub fn ignite(&self, config: &str) -> Result<()> {
        if self.is_on() {
            return Err(Error::Misused(format!("{} is on: Ignition runs before the first boot", self.name)));
        }
        let ignition = judges::command("ignition")?;
        // In the network of the bed's switch, so that it reaches the file server there and nobody else.
        let mut command = self.bed.switch.namespace.command("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", SCRIPT, "ignite"]);
        command.arg(ignition.get_program()).envs(self.disk());
        let output = child::output(&mut command, Input::Bytes(config.as_bytes()), LIMIT)?;
        child::succeeded(&format!("{}: ignition", self.name), output).map(drop)
    }
}
