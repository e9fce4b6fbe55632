//! The machine, seen through two traits: [`Inspect`] may look, [`Host`] may also change.
mod act;
mod change;
pub mod contract;
mod error;
mod journal;
pub mod linux;
mod memory;

pub use act::{Act, Condition, Effect, Init, Progress, hex};
pub use change::{Change, FileState, Service, TrustStore, certificate_bodies};
pub use error::{Error, Result};
pub use journal::Journal;
pub use linux::Linux;
pub use memory::Memory;

use documents::v1alpha1::Owner;
use std::time::Duration;

/// Read-only view of a machine; planning gets this and nothing more.
///
/// All paths are absolute and meant inside the machine's root.
pub trait Inspect {
    /// Whether this is the running system; a tree below `--root` has no kernel, no services and no clock of its own.
    fn live(&self) -> bool;
    /// The regular file at a path, or `None` when there is nothing.
    fn file(&self, path: &str) -> Result<Option<FileState>>;
    /// Whether there is anything at a path.
    fn exists(&self, path: &str) -> Result<bool>;
    /// User and group numbers of an owner, by this machine's own accounts.
    fn owner(&self, owner: &Owner) -> Result<(u32, u32)>;
    /// User and group that new files get when nothing else is asked: root's, where root runs us.
    fn default_owner(&self) -> (u32, u32);
    /// The value of a kernel parameter by its path below `/proc/sys`, white space folded.
    fn sysctl(&self, path: &str) -> Result<Option<String>>;
    /// Whether a kernel module is loaded or built in.
    fn has_module(&self, name: &str) -> Result<bool>;
    /// How this system keeps the certificates that it trusts.
    fn trust_store(&self) -> Result<Option<TrustStore>>;
    /// A service's state.
    fn service(&self, name: &str) -> Result<Service>;
    /// Whether the service has read, or will at its next start read, these files as they are now.
    ///
    /// Told by the digest recorded at its last start and by that start's identity, never by comparing times: a clock may step.
    fn has_read(&self, service: &str, files: &[String]) -> Result<bool>;
    /// The version of the machine's kubeadm, if it has one.
    fn kubeadm(&self) -> Result<Option<String>>;
    /// Whether something listens on a port of this machine.
    fn listens(&self, port: u16) -> Result<bool>;
    /// How much of an act's effect the machine shows.
    fn effect(&self, act: &Act) -> Result<Effect>;
    /// What this machine's journal says of an act.
    fn progress(&self, act: &Act) -> Result<Progress>;
}

/// A machine that can be changed; only the engine's `apply` holds one.
pub trait Host: Inspect {
    /// Makes one part of the machine so.
    fn ensure(&mut self, change: &Change) -> Result<()>;
    /// Writes into the journal that an act begins, durably, before it does.
    fn begin(&mut self, act: &Act) -> Result<()>;
    /// Runs an act.
    fn run(&mut self, act: &Act) -> Result<()>;
    /// Writes into the journal that an act is done.
    fn end(&mut self, act: &Act) -> Result<()>;
    /// Takes back what an interrupted act of ours left.
    fn undo(&mut self, act: &Act) -> Result<()>;
    /// Waits for a condition.
    fn wait(&mut self, condition: &Condition, within: Duration) -> Result<()>;
}
