//! A control plane on loopback: etcd, API servers, controllers, and no machine below them.
mod etcd;
mod flags;
mod pki;

use crate::claim::Claim;
use crate::daemon::Daemon;
use crate::error::file;
use crate::port::Port;
use crate::programs::{ETCD, KUBERNETES};
use crate::traces::Traces;
use crate::{Error, Result, child, reaper, until};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A start takes 7 seconds on two idle cores.
const LIMIT: Duration = Duration::from_secs(120);

/// What a control plane consists of.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many API servers there are on the one etcd.
    pub api_servers: usize,
    /// The controllers that run; none means no kube-controller-manager.
    pub controllers: Vec<String>,
    /// Whether there is a kube-scheduler.
    pub scheduler: bool,
    /// An EncryptionConfiguration for the API servers, which follow its file when it changes.
    pub encryption: Option<String>,
    /// Further flags of every API server.
    pub api_server_flags: Vec<String>,
    /// Further flags of the controller manager.
    pub controller_manager_flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            api_servers: 1,
            controllers: flags::CONTROLLERS.iter().map(|name| (*name).to_owned()).collect(),
            scheduler: false,
            encryption: None,
            api_server_flags: Vec::new(),
            controller_manager_flags: Vec::new(),
        }
    }
}

/// One of the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The store.
    Etcd,
    /// An API server, counted from 0.
    ApiServer(usize),
    /// The controllers.
    ControllerManager,
    /// The scheduler.
    Scheduler,
}

/// A running control plane. Taken down when dropped, or by a later run if this process is killed before.
#[derive(Debug)]
pub struct ControlPlane {
    /// In the order in which they may start; they end in the opposite one, since an API server without etcd hangs.
    daemons: Vec<(Part, Port, Daemon)>,
    kubectl: PathBuf,
    claim: Claim,
    _peers: Port,
}

impl ControlPlane {
    /// Starts all parts and waits until each is ready.
    pub fn start(options: &Options) -> Result<Self> {
        let (kubernetes, etcd) = (KUBERNETES.ensure()?, ETCD.ensure()?);
        let claim = Claim::new()?;
        let (store, peers) = (Port::free()?, Port::free()?);
        let api_ports = (0..options.api_servers.max(1)).map(|_| Port::free()).collect::<Result<Vec<_>>>()?;
        let directory = claim.directory().to_owned();
        pki::write(&kubernetes, &directory, api_ports[0].number())?;
        if let Some(configuration) = &options.encryption {
            let path = directory.join(flags::ENCRYPTION);
            fs::write(&path, configuration).map_err(file("write", path))?;
        }
        let daemon = |name: &str, programs: &crate::programs::Programs, flags| {
            let program = name.trim_end_matches(|last: char| last == '-' || last.is_ascii_digit());
            Ok::<_, Error>(Daemon::new(&claim, name, &programs.judge(program)?, flags))
        };
        let mut daemons = Vec::new();
        let store_number = store.number();
        daemons.push((
            Part::Etcd,
            store,
            daemon("etcd", &etcd, flags::etcd(&directory, store_number, peers.number()))?,
        ));
        for (number, port) in api_ports.into_iter().enumerate() {
            let flags = flags::api_server(&directory, store_number, port.number(), options);
            daemons.push((
                Part::ApiServer(number),
                port,
                daemon(&format!("kube-apiserver-{number}"), &kubernetes, flags)?,
            ));
        }
        if !options.controllers.is_empty() {
            let port = Port::free()?;
            let flags = flags::controller_manager(&directory, port.number(), options);
            daemons.push((Part::ControllerManager, port, daemon("kube-controller-manager", &kubernetes, flags)?));
        }
        if options.scheduler {
            let port = Port::free()?;
            let flags = flags::scheduler(&directory, port.number());
            daemons.push((Part::Scheduler, port, daemon("kube-scheduler", &kubernetes, flags)?));
        }
        let kubectl = kubernetes.judge("kubectl")?;
        let mut plane = Self { daemons, kubectl, claim, _peers: peers };
        plane.restart(Part::Etcd)?;
        plane.start_all(|part| matches!(part, Part::ApiServer(_)))?;
        plane.let_administrators_in()?;
        plane.start_all(|part| matches!(part, Part::ControllerManager | Part::Scheduler))?;
        Ok(plane)
    }

    /// The URL of an API server.
    pub fn url(&self, api_server: usize) -> Result<String> {
        Ok(format!("https://127.0.0.1:{}", self.find(Part::ApiServer(api_server))?.1.number()))
    }

    /// A kubeconfig of the group system:masters, for the first API server.
    pub fn kubeconfig(&self) -> PathBuf {
        self.claim.directory().join("super-admin.conf")
    }

    /// The cluster's certificates and keys, laid out as kubeadm does.
    pub fn pki(&self) -> PathBuf {
        self.claim.directory().join("pki")
    }

    /// The file from which API servers read how to encrypt, if there is one; they notice when it changes.
    pub fn encryption_configuration(&self) -> PathBuf {
        self.claim.directory().join(flags::ENCRYPTION)
    }

    /// `kubectl` with all rights, at the first API server.
    pub fn kubectl(&self, words: &[&str]) -> Result<String> {
        let mut kubectl = Command::new(&self.kubectl);
        kubectl
            .arg("--kubeconfig")
            .arg(self.kubeconfig())
            .arg("--cache-dir")
            .arg(self.claim.directory().join("kubectl"));
        child::check(kubectl.args(words), LIMIT)
    }

    /// Starts a part, if it is not running, and waits for nothing: one that is not to become ready.
    pub fn launch(&mut self, part: Part) -> Result<()> {
        self.find_mut(part)?.2.start()
    }

    /// Starts a part, if it is not running, and waits until it is ready.
    pub fn restart(&mut self, part: Part) -> Result<()> {
        self.find_mut(part)?.2.start()?;
        self.wait_until_ready(part)
    }

    /// Starts some parts at once, then waits for each.
    fn start_all(&mut self, which: impl Fn(Part) -> bool) -> Result<()> {
        let parts: Vec<Part> = self.daemons.iter().map(|(part, ..)| *part).filter(|part| which(*part)).collect();
        parts.iter().try_for_each(|part| self.find_mut(*part)?.2.start())?;
        parts.into_iter().try_for_each(|part| self.wait_until_ready(part))
    }

    fn wait_until_ready(&mut self, part: Part) -> Result<()> {
        let probe = self.probe(part)?;
        let directory = self.claim.directory().to_owned();
        let daemon = &mut self.find_mut(part)?.2;
        until(&format!("{part:?} ready"), LIMIT, || {
            if let Err(ended) = daemon.check() {
                return Ok(Err(ended));
            }
            let answer = child::check(&mut curl(&directory, &probe), Duration::from_secs(10));
            answer.map(|_| Ok(())).map_err(|error| format!("{error}; its log: {}", daemon.log()))
        })?
    }

    /// Runs kube-controller-manager with these controllers from now on, as an operator who customises it.
    pub fn run_controllers(&mut self, controllers: &[&str]) -> Result<()> {
        let part = Part::ControllerManager;
        self.stop(part)?;
        let controllers = controllers.iter().map(|name| (*name).to_owned()).collect();
        let options = Options { controllers, ..Options::default() };
        let flags = flags::controller_manager(self.claim.directory(), self.find(part)?.1.number(), &options);
        let program = KUBERNETES.ensure()?.judge("kube-controller-manager")?;
        let daemon = Daemon::new(&self.claim, "kube-controller-manager", &program, flags);
        self.find_mut(part)?.2 = daemon;
        self.restart(part)
    }

    /// Kills a part at once.
    pub fn kill(&mut self, part: Part) -> Result<()> {
        self.find_mut(part)?.2.kill()
    }

    /// Asks a part to end, and waits for it.
    pub fn stop(&mut self, part: Part) -> Result<()> {
        self.find_mut(part)?.2.stop()
    }

    /// Lets a part stand still: its connections stay, nothing answers.
    pub fn pause(&self, part: Part) -> Result<()> {
        self.find(part)?.2.signal(Signal::STOP)
    }

    /// Lets a part go on that stood still.
    pub fn resume(&self, part: Part) -> Result<()> {
        self.find(part)?.2.signal(Signal::CONT)
    }

    /// The end of what a part printed.
    pub fn log(&self, part: Part) -> Result<String> {
        Ok(self.find(part)?.2.log())
    }

    /// What it has on the host now, to look for what is left of it later.
    pub fn traces(&self) -> Result<Traces> {
        Traces::of(self.claim.directory())
    }

    /// Takes everything down now, in the right order, and says what could not be.
    pub fn down(mut self) -> Result<()> {
        self.take_down()
    }

    fn take_down(&mut self) -> Result<()> {
        while let Some((_, _, mut daemon)) = self.daemons.pop() {
            daemon.stop()?;
        }
        reaper::take_down(self.claim.id(), self.claim.directory())
    }

    /// Since 1.29 an administrator is whom this binding names; `kubeadm init` makes it, so we do.
    fn let_administrators_in(&self) -> Result<()> {
        let group = "kubeadm:cluster-admins";
        let further = ["--clusterrole=cluster-admin", &format!("--group={group}")];
        self.kubectl(&[&["create", "clusterrolebinding", group], &further[..]].concat()).map(drop)
    }

    fn probe(&self, part: Part) -> Result<String> {
        let port = self.find(part)?.1.number();
        let path = match part {
            Part::Etcd => "health",
            Part::ApiServer(_) => "readyz",
            Part::ControllerManager | Part::Scheduler => "healthz",
        };
        Ok(format!("https://127.0.0.1:{port}/{path}"))
    }

    fn find(&self, part: Part) -> Result<&(Part, Port, Daemon)> {
        self.daemons.iter().find(|(own, ..)| *own == part).ok_or_else(|| no_such(part))
    }

    fn find_mut(&mut self, part: Part) -> Result<&mut (Part, Port, Daemon)> {
        self.daemons.iter_mut().find(|(own, ..)| *own == part).ok_or_else(|| no_such(part))
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        if let Err(error) = self.take_down() {
            eprintln!("testbed: {}: {error}", self.claim.id());
        }
    }
}

/// A request that any of the parts answers: it trusts every CA of ours and shows the certificate that fits.
fn curl(directory: &Path, url: &str) -> Command {
    let (certificate, key) = if url.ends_with("/health") || url.contains("/v3/") {
        ("pki/apiserver-etcd-client.crt", "pki/apiserver-etcd-client.key")
    } else {
        ("admin.crt", "admin.key")
    };
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--fail", "--max-time", "5", "--noproxy", "*", "--cacert"]);
    curl.arg(directory.join(pki::ALL_AUTHORITIES)).arg("--cert").arg(directory.join(certificate));
    curl.arg("--key").arg(directory.join(key)).arg(url);
    curl
}

fn no_such(part: Part) -> Error {
    Error::Misused(format!("this control plane has no {part:?}"))
}
