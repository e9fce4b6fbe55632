//! A whole machine: systemd as its first process, its own disk, network and control groups.
mod boot;
mod clone;
mod enter;
mod files;
mod ignition;
mod search;
mod snapshot;

pub use enter::shell_in_kept;
pub use snapshot::{Entry, Snapshot};

use crate::bed::Shared;
use crate::cgroup::Plan;
use crate::error::file;
use crate::network::{Namespace, Plug, Switch};
use crate::profile::{Profile, Software};
use crate::{Error, Result, base, images, layer};
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A machine of a bed. It is off until [`boot`](Self::boot), and keeps its disk when it is off again.
///
/// Dropping it cuts its power; its disk goes with the bed.
#[derive(Debug)]
pub struct Machine {
    name: String,
    number: u8,
    directory: PathBuf,
    /// Read-only layers below the machine's own, topmost first.
    lower: Vec<PathBuf>,
    /// Directories of the cache that the machine sees, read-only.
    shown: Vec<(PathBuf, &'static str)>,
    groups: Plan,
    running: Mutex<Option<Running>>,
    plug: Mutex<Plug>,
    // Dropped last: what the machine runs in.
    bed: Arc<Shared>,
}

/// What a machine has only while it is on. A fresh network at every boot: real machines forget theirs too.
#[derive(Debug)]
struct Running {
    nspawn: Child,
    namespace: Namespace,
}

/// Directories that must be on the host's own disk, since an overlay can't be the upper part of another.
const OWN_DISK: &[(&str, &str)] =
    &[("containerd", "/var/lib/containerd"), ("kubelet", "/var/lib/kubelet"), ("etcd", "/var/lib/etcd")];

impl Machine {
    /// A machine with a fresh disk, switched off.
    pub(crate) fn new(bed: Arc<Shared>, name: &str, profile: &Profile) -> Result<Self> {
        let base = base::ensure(&profile.packages)?;
        let layer = layer::ensure(&profile.software)?;
        let mut machine = Self::without_disk(bed, name, vec![layer, base.clone()])?;
        machine.format_disk(profile)?;
        if let Software::Node(runtime) = profile.software {
            let images = images::ensure(&base)?;
            runtime.preload(&images, &machine.directory.join("containerd"))?;
            machine.shown.push((images.directory().to_owned(), images::SHOWN_AT));
        }
        Ok(machine)
    }

    /// A machine with a place in its bed and nothing on its disk.
    fn without_disk(bed: Arc<Shared>, name: &str, lower: Vec<PathBuf>) -> Result<Self> {
        let number = bed.next_number()?;
        let groups = Plan::new(&format!("{}-{name}", bed.claim.id()))?;
        bed.claim.note_groups(&groups.groups())?;
        let directory = bed.claim.directory().join("machines").join(name);
        Ok(Self {
            name: name.to_owned(),
            number,
            directory,
            lower,
            shown: Vec::new(),
            groups,
            running: Mutex::new(None),
            plug: Mutex::new(Plug::In),
            bed,
        })
    }

    /// Its host name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its address on the bed's switch.
    pub fn address(&self) -> Ipv4Addr {
        Switch::address(self.number)
    }

    /// Its network, while it is on.
    pub(crate) fn network(&self) -> Result<File> {
        let running = self.lock();
        let Some(running) = running.as_ref() else { return Err(Error::Misused(format!("{} is off", self.name))) };
        running.namespace.open().map_err(file("open", running.namespace.path()))
    }

    /// Pulls the network plug; the machine goes on running.
    pub fn cut_network(&self) -> Result<()> {
        self.set_plug(Plug::Out)
    }

    /// Puts the network plug back.
    pub fn reconnect_network(&self) -> Result<()> {
        self.set_plug(Plug::In)
    }

    fn set_plug(&self, plug: Plug) -> Result<()> {
        *self.plug.lock().unwrap_or_else(PoisonError::into_inner) = plug;
        // One that is off finds the plug so at its next boot.
        if self.is_on() { self.bed.switch.set_plug(self.number, plug) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("testbed: {}: {error}", self.name);
        }
    }
}
