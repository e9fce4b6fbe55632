//! Power: boot, wait until running, power off, cut the power.
use super::{Machine, OWN_DISK, Running};
use crate::error::file;
use crate::judges::{self, Version};
use crate::network::Namespace;
use crate::{Error, Result, cgroup, child, until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::Duration;

/// The file beside the disk that holds the number of the systemd-nspawn.
pub(crate) const PID: &str = "nspawn.pid";

/// Mounts the root in a mount namespace of its own and becomes systemd-nspawn.
const SCRIPT: &str = include_str!("boot.sh");

/// A boot takes about a second; on busy cores more.
const BOOT_LIMIT: Duration = Duration::from_secs(120);
/// systemd gives a stubborn service 90 seconds.
const POWER_OFF_LIMIT: Duration = Duration::from_secs(150);

impl Machine {
    /// Boots and waits until systemd says that it is done, be it with failed units.
    ///
    /// cloud-init is part of that; where its seed does much, [`power_on`](Self::power_on) and wait for what it does.
    pub fn boot(&self) -> Result<()> {
        self.power_on()?;
        self.wait_until_running()?;
        self.judged("systemctl")
    }

    /// Notes that a program of the machine judged, with the version that it prints.
    pub fn judged(&self, program: &str) -> Result<()> {
        let printed = self.check(&[program, "--version"])?;
        judges::ran(program, judges::first_version(&printed).map_or(Version::Asked, Version::Found))
    }

    /// Switches the power on and does not wait.
    pub fn power_on(&self) -> Result<()> {
        let mut running = self.lock();
        if running.is_some() {
            return Err(Error::Misused(format!("{} is on already", self.name)));
        }
        // A boot finds no control groups of the one before: the kubelet would look for their containers for minutes.
        cgroup::remove(&self.groups.groups())?;
        self.groups.create()?;
        let console = self.directory.join("console.log");
        let console = File::options().create(true).append(true).open(&console).map_err(file("open", console))?;
        let errors = console.try_clone().map_err(file("open", &self.directory))?;
        let namespace = Namespace::new(&self.bed.claim)?;
        let plug = *self.plug.lock().unwrap_or_else(PoisonError::into_inner);
        self.bed.switch.connect(&namespace, self.number, plug)?;
        let nspawn = child::start(self.nspawn(&namespace).stdin(Stdio::null()).stdout(console).stderr(errors))?;
        let pid = nspawn.id().to_string();
        *running = Some(Running { nspawn, namespace });
        fs::write(self.directory.join(PID), pid).map_err(file("write", self.directory.join(PID)))
    }

    /// Waits until the machine says `running` or `degraded`.
    pub fn wait_until_running(&self) -> Result<()> {
        let what = format!("the boot of {}", self.name);
        let state = until(&what, BOOT_LIMIT, || {
            if !self.is_on() {
                return Ok("off".to_owned());
            }
            let state = self.run(&["systemctl", "is-system-running"]).map_err(|error| error.to_string())?;
            match state.stdout.trim() {
                state @ ("running" | "degraded") => Ok(state.to_owned()),
                state => Err(format!("it says `{state}`; its console: {}", self.console())),
            }
        })?;
        match state.as_str() {
            "off" => {
                Err(Error::Failed { command: what, status: "a machine that is off".to_owned(), output: self.console() })
            }
            _ => Ok(()),
        }
    }

    /// The end of what the machine said on its console.
    pub fn console(&self) -> String {
        child::tail(&self.whole_console())
    }

    /// All that the machine said on its console, in all its boots. What systemd says before its journal runs, such as
    /// that units are ordered in a cycle, is only here.
    pub fn whole_console(&self) -> String {
        fs::read(self.directory.join("console.log"))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Shuts down in good order and waits until the machine is off.
    pub fn power_off(&self) -> Result<()> {
        self.run(&["systemctl", "poweroff", "--no-wall"])?;
        self.wait_until_off(POWER_OFF_LIMIT)
    }

    /// Cuts the power: every process is gone at once, nothing is written any more. Nothing to do when it is off.
    pub fn kill(&self) -> Result<()> {
        if let Some(leader) = self.leader() {
            // It may just have gone.
            let _ = kill_process(leader, Signal::KILL);
        } else if let Some(running) = self.lock().as_mut() {
            drop(running.nspawn.kill());
        }
        self.wait_until_off(Duration::from_secs(30))
    }

    /// Cuts the power for good and removes the disk, which otherwise goes with the bed.
    pub fn discard(self) -> Result<()> {
        self.kill()?;
        crate::cache::remove_tree(&self.directory)
    }

    /// Whether the power is on; one that powered itself off is off.
    pub fn is_on(&self) -> bool {
        let mut running = self.lock();
        if running.as_mut().is_some_and(|running| matches!(running.nspawn.try_wait(), Ok(Some(_)))) {
            *running = None;
            self.bed.switch.disconnect(self.number);
        }
        running.is_some()
    }

    /// Waits until the machine is off, as after a command inside that powers it off.
    pub fn wait_until_off(&self, limit: Duration) -> Result<()> {
        let what = format!("the end of {}", self.name);
        until(&what, limit, || if self.is_on() { Err("it is on".to_owned()) } else { Ok(()) })
    }

    /// The machine's first process, as the host numbers it.
    pub(super) fn leader(&self) -> Option<Pid> {
        first_process(self.lock().as_ref()?.nspawn.id())
    }

    fn nspawn(&self, namespace: &Namespace) -> Command {
        let mut prefix = self.groups.prefix();
        prefix.extend(["unshare", "--mount", "--propagation", "slave", "sh", "-c", SCRIPT, "boot"].map(str::to_owned));
        let mut command = self.bed.claim.command(&prefix[0]);
        command.args(&prefix[1..]).envs(self.disk());
        let groups: Vec<String> = self.groups.own_groups().iter().map(|group| group.display().to_string()).collect();
        command.env("CONTROL_GROUPS", groups.join(" "));
        // Only /proc/sys/net may be written: it is the machine's own. The rest would be the host's.
        command.env("SYSTEMD_NSPAWN_API_VFS_WRITABLE", "network");
        command.env("SYSTEMD_NSPAWN_UNIFIED_HIERARCHY", self.groups.unified());
        command.env("SYSTEMD_SECCOMP", "0");
        // The directory is ours alone; a lock file would outlive a machine whose power is cut.
        command.env("SYSTEMD_NSPAWN_LOCK", "0");
        command.args(["--quiet", "--boot", "--register=no", "--keep-unit", "--resolv-conf=off", "--link-journal=no"]);
        command.args(["--timezone=off", "--console=read-only", "--bind=/dev/kmsg"]);
        // All but the right to set the clock: that is the host's as well.
        command.args(["--capability=all", "--drop-capability=CAP_SYS_TIME"]);
        command.arg(format!("--machine={}-{}", self.bed.claim.id(), self.name));
        command.arg(format!("--hostname={}", self.name));
        command.arg(format!("--network-namespace-path={}", namespace.path()));
        for (own, inside) in OWN_DISK {
            command.arg(format!("--bind={}:{inside}", self.directory.join(own).display()));
        }
        for (shown, inside) in &self.shown {
            command.arg(format!("--bind-ro={}:{inside}", shown.display()));
        }
        command
    }
}

/// The first process of the machine that a systemd-nspawn runs.
pub(crate) fn first_process(nspawn: u32) -> Option<Pid> {
    let children = fs::read_to_string(format!("/proc/{nspawn}/task/{nspawn}/children")).ok()?;
    let is_first = |pid: &&str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        numbers.len() > 1 && numbers.last() == Some(&"1")
    };
    let leader = children.split_whitespace().find(is_first)?;
    leader.parse().ok().and_then(Pid::from_raw)
}
