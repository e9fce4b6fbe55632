//! The machine, seen through two traits: [`Inspect`] may look, [`Host`] may also change.
//!
//! ```text
//!  engine ──Inspect──▶ files, services, kernel, accounts, output of read-only programs, journal
//!         ──Host─────▶ Change (made so, twice is once), Program (run under guard), journal entries
//! ```
//!
//! Primitives only: this crate knows no document, no kubeadm and no cluster. What a step means is the engine's to say;
//! [`Change`] and [`Program`] are plain data, so that a plan can show them before anything happens.
//!
//! - [`Linux`] is a real machine: the running system, or the tree of one that does not run yet (`--root DIR`). Its
//!   `linux/root.rs` walks every path on open directories, `linux/files.rs` alone writes files, `linux/child.rs` guards
//!   programs.
//! - [`Memory`] plays a machine for tests; it can lose its power after any change.
//! - [`Drafts`] are files on their way to the machine: received, verified, and only then installed.
//! - [`contract`] has every path and exit code that others rely on.
mod account;
mod act;
mod archive;
mod change;
pub mod contract;
mod drafts;
mod error;
mod file_set;
mod journal;
pub mod linux;
mod memory;
mod rendering;
mod resources;
mod tree;

pub use account::{UserSettings, UserSort, UserState};
pub use act::{Call, Program, Progress};
pub use change::{
    Change, DirectoryState, Enablement, FileState, PathState, Service, TrustStore, UnitAction, UnitState,
    certificate_bodies,
};
pub use drafts::{ArchiveRoot, Draft, Drafts, FileSum, InstalledFile, PROGRAM_MODE, Packing};
pub use error::{Error, Result};
pub use journal::Journal;
pub use linux::Linux;
pub use memory::{DraftBytes, Memory, Played, Renderer, Resources};
pub use rendering::Rendering;
pub use resources::{CgroupVersion, Cgroups, Clock, DiskSpace};
pub use tree::{EntrySort, TreeEntry};

use secret::Secret;
use std::{net::IpAddr, time::Duration};

/// Read-only view of a machine; planning gets this and nothing more.
///
/// All paths are absolute and meant inside the machine's root.
pub trait Inspect {
    /// Whether this is the running system; a tree below `--root` has no kernel, no services and no clock of its own.
    fn live(&self) -> bool;
    /// The regular file at a path, or `None` when there is nothing.
    fn file(&self, path: &str) -> Result<Option<FileState>>;
    /// A regular file of any size, by its SHA-256; `None` when there is nothing.
    fn sum(&self, path: &str) -> Result<Option<FileSum>>;
    /// The names in a directory that no user but root can write, in order; `None` when there is no directory.
    fn names_in(&self, directory: &str) -> Result<Option<Vec<String>>>;
    /// What is at a path; a link at its end is what is there, and is not followed.
    fn state_at(&self, path: &str) -> Result<PathState>;
    /// A directory and everything below it, in order; empty when there is nothing. No file is read, links are not
    /// followed, and other file systems are not entered. Names that are not UTF-8 are left out.
    fn tree(&self, directory: &str) -> Result<Vec<TreeEntry>>;
    /// Whether there is anything at a path.
    fn exists(&self, path: &str) -> Result<bool>;
    /// Numbers of a user and a group, given by name or number, by this machine's own accounts.
    fn owner(&self, user: &str, group: &str) -> Result<(u32, u32)>;
    /// A user of the machine's own accounts.
    fn user(&self, name: &str) -> Result<Option<UserState>>;
    /// The number of a group of the machine's own accounts.
    fn group(&self, name: &str) -> Result<Option<u32>>;
    /// User and group that new files get when nothing else is asked: root's, where root runs us.
    fn default_owner(&self) -> (u32, u32);
    /// The value of a kernel parameter by its path below `/proc/sys`, white space folded.
    fn sysctl(&self, path: &str) -> Result<Option<String>>;
    /// Whether a kernel module is loaded or built in.
    fn has_module(&self, name: &str) -> Result<bool>;
    /// Whether a kernel module is there, or could be loaded.
    fn provides_module(&self, name: &str) -> Result<bool>;
    /// The areas that memory is swapped to.
    fn swaps(&self) -> Result<Vec<String>>;
    /// All memory in bytes.
    fn memory(&self) -> Result<u64>;
    /// How many processors there are.
    fn processors(&self) -> Result<usize>;
    /// The space of the file system that a path is on, or will be on once it exists.
    fn space(&self, path: &str) -> Result<DiskSpace>;
    /// Control groups.
    fn cgroups(&self) -> Result<Cgroups>;
    /// The clock.
    fn clock(&self) -> Result<Clock>;
    /// Whether the system's resolver has an address for a name; `false` also when it has not answered in time.
    fn resolves(&self, name: &str, within: Duration) -> Result<bool>;
    /// Whether a program is in the PATH that programs get.
    fn has_program(&self, name: &str) -> Result<bool>;
    /// How this system stores the CA certificates that it trusts.
    fn trust_store(&self) -> Result<Option<TrustStore>>;
    /// A service's state.
    fn service(&self, name: &str) -> Result<Service>;
    /// A unit's state, by its name with its suffix.
    fn unit(&self, name: &str) -> Result<UnitState>;
    /// Whether the service has read, or will at its next start read, this file as it is now.
    ///
    /// Known by the digest recorded at its last start and by that start's identity, never by comparing times: a clock may step.
    fn has_read(&self, service: &str, file: &str) -> Result<bool>;
    /// The services that are recorded to read a file.
    fn readers(&self, file: &str) -> Result<Vec<String>>;
    /// Whether something listens on a port of this machine.
    fn listens(&self, port: u16) -> Result<bool>;
    /// The address that this machine sends from to another one, or through its default route; `None` without a route.
    fn address_towards(&self, target: Option<IpAddr>) -> Result<Option<IpAddr>>;
    /// The end of what a read-only program prints, a few KiB at most; `None` when the machine does not have it.
    fn output(&self, argv: &[&str], within: Duration) -> Result<Option<String>>;
    /// What a read-only program of the running system prints, 256 KiB at most, when it reads this at `/dev/stdin`, which
    /// it may open as a file; `None` when the machine does not have it. If it fails, the error has its standard error.
    fn answer(&self, argv: &[&str], input: &str, within: Duration) -> Result<Option<String>>;
    /// What a program that only looks makes of a file.
    fn rendered(&self, rendering: &Rendering) -> Result<Secret<Vec<u8>>>;
    /// Whether a program that only looks ends well. What it prints is dropped.
    fn succeeds(&self, program: &Program) -> Result<bool>;
    /// What this machine's journal says of an act.
    fn progress(&self, act: &str) -> Result<Progress>;
    /// The acts that machineadm started here and whose end it has not seen.
    fn unfinished(&self) -> Result<Vec<String>>;
}

/// A machine that can be changed; only the engine's `apply` holds one.
pub trait Host: Inspect + Drafts {
    /// Makes one part of the machine so.
    fn ensure(&mut self, change: &Change) -> Result<()>;
    /// Runs a program to its end and makes durable what it wrote.
    fn run(&mut self, program: &Program) -> Result<()>;
    /// Writes an act's progress into the journal, durably; `New` removes its entry.
    fn note(&mut self, act: &str, progress: Progress) -> Result<()>;
    /// Removes the files with secrets that an interrupted run may have left ([`contract::SECRET_FILES`]).
    fn remove_leftovers(&mut self) -> Result<()>;
    /// Removes the drafts that interrupted writes may have left: beside these files, and beside machineadm's own.
    fn remove_drafts(&mut self, paths: &[String]) -> Result<()>;
    /// Writes files below a directory, all at once: whoever looks, also after a crash, sees none or all of them new. The
    /// directory's other entries stay. Paths are relative; neither the directory's entries on the way nor the files may be
    /// links.
    ///
    /// The directory itself is replaced: a process that has it open, or a container that it is mounted into, keeps an old
    /// one that is empty. Missing directories are created with mode 0755.
    fn write_together(&mut self, directory: &str, files: &[(String, FileState)]) -> Result<()>;
    /// Removes what an interrupted `write_together` may have left beside the directory.
    fn remove_together_drafts(&mut self, directory: &str) -> Result<()>;
    /// Deletes a file, or a directory with everything below it; links are not followed, other file systems not entered.
    fn remove_tree(&mut self, path: &str) -> Result<()>;
    /// Waits until a service runs.
    fn wait_active(&mut self, service: &str, within: Duration) -> Result<()>;
    /// Waits until the machine shows what others bring about, such as a file that a service writes; whether it does in time.
    fn wait_until(&mut self, shows: &dyn Fn(&dyn Inspect) -> Result<bool>, within: Duration) -> Result<bool>;
}
