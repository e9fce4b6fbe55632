//! A Linux machine: the running system, or the tree of one that does not run yet (`--root DIR`).
mod accounts;
pub mod child;
mod command;
mod entropy;
mod files;
mod inherited;
pub mod input;
mod kernel;
mod kubeadm;
mod lock;
mod program;
mod root;
mod state;
mod systemd;
mod tail;
mod trust;

pub use entropy::{entropy, fresh_bytes};
pub use inherited::Inherited;
pub use lock::{Holder, Lock};
pub use state::State;

use crate::{
    Act, Change, Condition, Effect, Error, FileState, Host, Inspect, Progress, Result, Service, TrustStore, contract,
    journal::Journal,
};
use command::Runner;
use documents::v1alpha1::Owner;
use root::Root;
use std::{
    fmt,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

/// What every machineadm process does first, while it has one thread: it keeps what it inherited from its children,
/// dumps no core, since that would hold secrets, and gives directories the usual mode.
pub fn prepare_process() -> std::io::Result<()> {
    inherited::keep();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    child::no_core_dumps()
}

/// Gets each line that a command prints.
pub type Echo = Box<dyn Fn(&str)>;

/// A Linux machine.
pub struct Linux {
    root: Rc<Root>,
    path: PathBuf,
    itself: PathBuf,
    echo: Echo,
    machine_id: String,
    journal: Journal,
}

impl fmt::Debug for Linux {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linux").field("root", &self.path).finish_non_exhaustive()
    }
}

impl Linux {
    /// The machine whose root is `path`; `itself` is machineadm's own program, through which commands are run.
    pub fn new(path: &Path, itself: PathBuf, echo: Echo) -> Result<Self> {
        let path = path.canonicalize().map_err(Error::io(format!("open the directory {}", path.display())))?;
        let root = Root::open(&path)?;
        let machine_id = text(&root, "/etc/machine-id")?;
        let kept = files::read(&root, contract::JOURNAL)?;
        let journal = Journal::read(kept.as_ref().map_or(&[], |file| file.contents.expose()), &machine_id);
        Ok(Self { root: Rc::new(root), path, itself, echo, machine_id, journal })
    }

    /// The machine's own identity, empty where it has none yet.
    pub fn machine_id(&self) -> &str {
        &self.machine_id
    }

    /// What the firmware calls the running machine, if it does.
    pub fn product_uuid(&self) -> Option<String> {
        let uuid = self.live().then(|| std::fs::read_to_string("/sys/class/dmi/id/product_uuid").ok()).flatten()?;
        Some(uuid.trim().to_owned()).filter(|uuid| !uuid.is_empty())
    }

    /// The machine's name.
    pub fn name(&self) -> String {
        let running = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        let kept = text(&self.root, "/etc/hostname").unwrap_or_default();
        match (self.live(), kept.is_empty()) {
            (true, _) => running(),
            (false, false) => kept,
            (false, true) => self.path.display().to_string(),
        }
    }

    /// Where a path of the machine is for whoever looks from outside.
    pub fn place_of(&self, path: &str) -> PathBuf {
        self.path.join(path.trim_start_matches('/'))
    }

    /// Takes the machine for one run.
    pub fn lock(&self, who: &str) -> Result<std::result::Result<Lock, Holder>> {
        lock::take(&self.root, who)
    }

    /// Who is at work on the machine, if anybody.
    pub fn lock_holder(&self) -> Result<Option<Holder>> {
        lock::holder(&self.root)
    }

    /// Results, records and marks of our own.
    pub fn state(&self) -> State {
        State(Rc::clone(&self.root))
    }

    fn keep_journal(&self) -> Result<()> {
        self.state().write(contract::JOURNAL, &self.journal.bytes(), 0o600)
    }

    /// Makes durable what a program of somebody else's wrote, before anything of ours says that it is done.
    ///
    /// A root that does not run is one file system to us; the running system may have any number of them.
    fn settle(&self) -> Result<()> {
        if !self.live() {
            return self.root.sync();
        }
        rustix::fs::sync();
        Ok(())
    }

    fn runner(&self) -> Runner<'_> {
        Runner { itself: &self.itself, root: &self.path, echo: &*self.echo }
    }
}

fn text(root: &Root, path: &str) -> Result<String> {
    let file = files::read(root, path)?;
    Ok(file.map(|file| String::from_utf8_lossy(file.contents.expose()).trim().to_owned()).unwrap_or_default())
}

impl Inspect for Linux {
    fn live(&self) -> bool {
        self.path == Path::new("/")
    }
    fn file(&self, path: &str) -> Result<Option<FileState>> {
        files::read(&self.root, path)
    }
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.root.walk(path, root::Missing::Report)?.is_some_and(|spot| spot.found.is_some()))
    }
    fn owner(&self, owner: &Owner) -> Result<(u32, u32)> {
        accounts::resolve(&self.root, owner)
    }
    fn default_owner(&self) -> (u32, u32) {
        state::our_owner()
    }
    fn sysctl(&self, path: &str) -> Result<Option<String>> {
        if self.live() { kernel::sysctl(path) } else { Ok(None) }
    }
    fn has_module(&self, name: &str) -> Result<bool> {
        if self.live() { kernel::has_module(name) } else { Ok(false) }
    }
    fn trust_store(&self) -> Result<Option<TrustStore>> {
        trust::find(&self.root)
    }
    fn service(&self, name: &str) -> Result<Service> {
        if self.live() { Ok(systemd::service(name)?.0) } else { Ok(Service::Unmanaged) }
    }
    fn has_read(&self, service: &str, reads: &[String]) -> Result<bool> {
        if self.live() { systemd::has_read(self, service, reads) } else { Ok(true) }
    }
    fn kubeadm(&self) -> Result<Option<String>> {
        if self.live() { kubeadm::version() } else { Ok(None) }
    }
    fn listens(&self, port: u16) -> Result<bool> {
        if self.live() { kubeadm::listens(port) } else { Ok(false) }
    }
    fn effect(&self, act: &Act) -> Result<Effect> {
        let command = match act {
            Act::Init(_) => return kubeadm::effect(&self.root),
            Act::Command(command) => command,
        };
        let done = match (&command.creates, &command.unless) {
            (None, None) => return Ok(Effect::Unseen),
            (Some(path), _) if self.exists(path)? => true,
            (_, Some(test)) => self.runner().unless(command, test)?,
            (Some(_), None) => false,
        };
        Ok(if done { Effect::Done } else { Effect::Absent })
    }
    fn progress(&self, act: &Act) -> Result<Progress> {
        Ok(self.journal.progress(act))
    }
}

impl Host for Linux {
    fn ensure(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::WriteFile { path, file, .. } => files::write(&self.root, path, file),
            Change::SetSysctl { key, path, value, .. } => kernel::set_sysctl(key, path, value),
            Change::LoadModule { name } => kernel::load_module(name),
            Change::RefreshTrust { store, missing } => {
                self.runner().program(store.refresh)?;
                self.settle()?;
                trust::has_taken(&self.root, store, missing)
            }
            Change::Restart { service, reads, .. } => systemd::restart(self, service, reads),
        }
    }
    fn begin(&mut self, act: &Act) -> Result<()> {
        self.journal.begin(act);
        self.keep_journal()
    }
    fn run(&mut self, act: &Act) -> Result<()> {
        match act {
            Act::Command(command) => self.runner().run(command)?,
            Act::Init(init) => kubeadm::init(self, init)?,
        }
        self.settle()
    }
    fn end(&mut self, act: &Act) -> Result<()> {
        self.journal.end(act);
        self.keep_journal()
    }
    fn undo(&mut self, act: &Act) -> Result<()> {
        match act {
            // What a user's command left half done, only that command knows; it is run again.
            Act::Command(_) => Ok(()),
            Act::Init(init) => kubeadm::reset(self, init),
        }
    }
    fn wait(&mut self, condition: &Condition, within: Duration) -> Result<()> {
        let Condition::ServiceActive(service) = condition;
        systemd::wait_active(service, within)
    }
}
