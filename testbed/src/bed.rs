//! A bed: some machines on one switch, taken down together.
use crate::claim::Claim;
use crate::network::{self, Switch};
use crate::traces::Traces;
use crate::{Machine, Profile, Result, doctor, reaper};
use std::sync::{Arc, Mutex};

/// Machines that see each other and nobody else.
///
/// Taken down when it and its machines are dropped; a later run takes it down if this process is killed before.
#[derive(Debug)]
pub struct Bed {
    shared: Arc<Shared>,
}

/// What the machines of a bed hold in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) switch: Switch,
    pub(crate) claim: Claim,
    last_number: Mutex<u8>,
}

impl Bed {
    /// An empty bed. Fails with one line if this host can't run machines.
    pub fn new() -> Result<Self> {
        doctor::require_machines()?;
        let claim = Claim::new()?;
        let switch = Switch::new(&claim)?;
        let shared = Shared { switch, claim, last_number: Mutex::new(0) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A new machine, switched off. Builds what it needs and the cache lacks.
    pub fn machine(&self, name: &str, profile: &Profile) -> Result<Machine> {
        Machine::new(Arc::clone(&self.shared), name, profile)
    }

    /// A new machine, switched off, whose disk is a copy of that of a machine that is off.
    pub fn clone_of(&self, image: &Machine, name: &str) -> Result<Machine> {
        Machine::from_image(Arc::clone(&self.shared), name, image)
    }

    /// The bed's id: part of the name of everything it has on the host.
    pub fn id(&self) -> &str {
        self.shared.claim.id()
    }

    /// What it has on the host now, to look for what is left of it later.
    pub fn traces(&self) -> Result<Traces> {
        Traces::of(self.shared.claim.directory())
    }

    pub(crate) fn switch(&self) -> &Switch {
        &self.shared.switch
    }

    pub(crate) fn claim(&self) -> &Claim {
        &self.shared.claim
    }

    /// Lets the bed and these machines of it outlive this process, until `testbed down`.
    pub fn keep(self, machines: Vec<Machine>) -> Result<()> {
        self.shared.claim.keep()?;
        // Dropping them would end them.
        std::mem::forget((machines, self));
        Ok(())
    }

    /// Takes everything down now and says what could not be.
    pub fn down(self) -> Result<()> {
        self.shared.down()
    }
}

impl Shared {
    pub(crate) fn next_number(&self) -> Result<u8> {
        network::next_number(&self.last_number)
    }

    fn down(&self) -> Result<()> {
        reaper::take_down(self.claim.id(), self.claim.directory())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Err(error) = self.down() {
            eprintln!("testbed: {}: {error}", self.claim.id());
        }
    }
}
