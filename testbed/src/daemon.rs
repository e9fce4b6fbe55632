//! A program that runs beside a test: started, stopped, killed, paused and started again, its output in a file.
use crate::claim::Claim;
use crate::error::file;
use crate::{Error, Result, child};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a program may take to end when asked to, before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// A program with its arguments, running or not.
#[derive(Debug)]
pub(crate) struct Daemon {
    name: String,
    command: Command,
    log: PathBuf,
    child: Option<Child>,
}

impl Daemon {
    /// A program of a claim that is not started yet.
    pub(crate) fn new(claim: &Claim, name: &str, program: &Path, flags: Vec<String>) -> Self {
        let mut command = claim.command(&program.display().to_string());
        command.args(flags);
        Self::from_command(claim, name, command)
    }

    /// The same from a command that was made with [`Claim::command`].
    pub(crate) fn from_command(claim: &Claim, name: &str, command: Command) -> Self {
        let log = claim.directory().join(format!("{name}.log"));
        Self { name: name.to_owned(), command, log, child: None }
    }

    /// Starts it; one that runs already goes on.
    pub(crate) fn start(&mut self) -> Result<()> {
        if self.check().is_ok() {
            return Ok(());
        }
        let open = || File::options().create(true).append(true).open(&self.log).map_err(file("open", &self.log));
        let command = self.command.stdin(Stdio::null()).stdout(open()?).stderr(open()?);
        self.child = Some(child::start(command)?);
        Ok(())
    }

    /// An error that quotes its log unless it is running.
    pub(crate) fn check(&mut self) -> Result<()> {
        let status = match &mut self.child {
            None => return Err(Error::Misused(format!("{} is not running", self.name))),
            Some(child) => child.try_wait().map_err(file("wait for", &self.log))?,
        };
        match status {
            None => Ok(()),
            Some(status) => {
                self.child = None;
                Err(Error::Failed { command: self.name.clone(), status: status.to_string(), output: self.log() })
            }
        }
    }

    /// Asks it to end, waits, and kills it if it does not.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.signal(Signal::CONT)?;
        self.signal(Signal::TERM)?;
        if let Some(child) = &mut self.child
            && child::wait_within(child, STOP_LIMIT)?.is_none()
        {
            return self.kill();
        }
        self.child = None;
        Ok(())
    }

    /// Kills it at once.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.signal(Signal::KILL)?;
        if let Some(mut child) = self.child.take() {
            child.wait().map_err(file("wait for", &self.log))?;
        }
        Ok(())
    }

    /// Sends a signal, if it runs.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.child.as_ref().and_then(|child| i32::try_from(child.id()).ok()).and_then(Pid::from_raw);
        match pid.map(|pid| kill_process(pid, signal)) {
            None | Some(Ok(()) | Err(rustix::io::Errno::SRCH)) => Ok(()),
            Some(Err(errno)) => Err(file("signal", &self.name)(errno.into())),
        }
    }

    /// The end of what it printed.
    pub(crate) fn log(&self) -> String {
        child::tail(&fs::read_to_string(&self.log).unwrap_or_default())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.kill());
    }
}
