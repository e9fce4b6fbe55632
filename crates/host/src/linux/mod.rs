//! A Linux machine: the running system, or the tree of one that does not run yet (`--root DIR`).
mod accounts;
mod attributes;
pub mod child;
mod command;
mod drafts;
mod entropy;
mod files;
mod inherited;
pub mod input;
mod kernel;
mod listing;
mod lock;
mod paths;
mod program;
mod rendering;
mod resources;
mod root;
mod sockets;
mod state;
mod systemd;
mod tail;
mod together;
mod tree;
mod trust;
mod trusted;
mod units;
mod users;

pub use command::Transcript;
pub use entropy::{entropy, fresh_bytes};
pub use inherited::Inherited;
pub use listing::Listed;
pub use lock::{Holder, Lock};
pub use state::State;

use crate::{
    Cgroups, Change, Clock, DiskSpace, Error, FileState, FileSum, Host, Inspect, PathState, Program, Progress,
    Rendering, Result, Service, TreeEntry, TrustStore, UnitState, UserState, contract, journal::Journal,
};
use command::Runner;
use root::Root;
use secret::Secret;
use std::{
    fmt,
    net::IpAddr,
    path::{Path, PathBuf},
    rc::Rc,
    thread,
    time::{Duration, Instant},
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
}

/// Whether a text is an identity: 32 hexadecimal digits (machine-id(5)). `uninitialized`, and a damaged file, are none.
fn is_machine_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
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
        let machine_id = Some(text(&root, "/etc/machine-id")?).filter(|id| is_machine_id(id)).unwrap_or_default();
        Ok(Self { root: Rc::new(root), path, itself, echo, machine_id })
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

    /// What is below a directory; `None` when there is none. No file is read.
    pub fn listing(&self, path: &str) -> Result<Option<Vec<Listed>>> {
        listing::below(&self.root, path)
    }

    /// What a read-only program of the running system prints, however it ends; `None` when there is no such program.
    pub fn transcript(&self, argv: &[&str], within: Duration) -> Result<Option<Transcript>> {
        command::transcript(argv, within)
    }

    /// Results, records and marks of our own.
    pub fn state(&self) -> State {
        State(Rc::clone(&self.root))
    }

    /// Read anew each time: a command that needs no journal then does not fail because of it.
    fn journal(&self) -> Result<Journal> {
        let stored = self.file(contract::JOURNAL)?;
        Journal::read(stored.as_ref().map(|file| file.contents.expose().as_slice()), &self.machine_id)
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
        if state::is_own(path) { state::read(&self.root, path) } else { files::read(&self.root, path) }
    }
    fn sum(&self, path: &str) -> Result<Option<FileSum>> {
        drafts::sum_of(&self.root, path)
    }
    fn names_in(&self, directory: &str) -> Result<Option<Vec<String>>> {
        self.state().names_in(directory)
    }
    fn state_at(&self, path: &str) -> Result<PathState> {
        paths::state_at(&self.root, path)
    }
    fn tree(&self, directory: &str) -> Result<Vec<TreeEntry>> {
        tree::tree(&self.root, directory)
    }
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.root.walk(path, root::Missing::Report)?.is_some_and(|spot| spot.found.is_some()))
    }
    fn owner(&self, user: &str, group: &str) -> Result<(u32, u32)> {
        accounts::resolve(&self.root, user, group)
    }
    fn user(&self, name: &str) -> Result<Option<UserState>> {
        accounts::user(&self.root, name)
    }
    fn group(&self, name: &str) -> Result<Option<u32>> {
        accounts::group(&self.root, name)
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
    fn provides_module(&self, name: &str) -> Result<bool> {
        resources::provides_module(name)
    }
    fn swaps(&self) -> Result<Vec<String>> {
        resources::swaps()
    }
    fn memory(&self) -> Result<u64> {
        Ok(resources::memory())
    }
    fn processors(&self) -> Result<usize> {
        resources::processors()
    }
    fn space(&self, path: &str) -> Result<DiskSpace> {
        resources::space(path)
    }
    fn cgroups(&self) -> Result<Cgroups> {
        resources::cgroups()
    }
    fn clock(&self) -> Result<Clock> {
        resources::clock()
    }
    fn resolves(&self, name: &str, within: Duration) -> Result<bool> {
        resources::resolves(name, within)
    }
    fn has_program(&self, name: &str) -> Result<bool> {
        Ok(resources::has_program(name))
    }
    fn trust_store(&self) -> Result<Option<TrustStore>> {
        trust::find(&self.root)
    }
    fn service(&self, name: &str) -> Result<Service> {
        if self.live() { Ok(systemd::service(name)?.0) } else { Ok(Service::Unmanaged) }
    }
    fn unit(&self, name: &str) -> Result<UnitState> {
        units::state(self, name)
    }
    fn has_read(&self, service: &str, file: &str) -> Result<bool> {
        if self.live() { systemd::has_read(self, service, file) } else { Ok(true) }
    }
    fn readers(&self, file: &str) -> Result<Vec<String>> {
        if self.live() { systemd::readers(self, file) } else { Ok(Vec::new()) }
    }
    fn listens(&self, port: u16) -> Result<bool> {
        if self.live() { sockets::listens(port) } else { Ok(false) }
    }
    fn address_towards(&self, target: Option<IpAddr>) -> Result<Option<IpAddr>> {
        Ok(if self.live() { sockets::address_towards(target) } else { None })
    }
    fn output(&self, argv: &[&str], within: Duration) -> Result<Option<String>> {
        if self.live() { command::output(argv, within) } else { Ok(None) }
    }
    fn answer(&self, argv: &[&str], input: &str, within: Duration) -> Result<Option<String>> {
        if self.live() { command::answer(argv, input, within) } else { Ok(None) }
    }
    fn rendered(&self, rendering: &Rendering) -> Result<Secret<Vec<u8>>> {
        rendering::rendered(rendering, &self.runner())
    }
    fn succeeds(&self, program: &Program) -> Result<bool> {
        self.runner().succeeds(program)
    }
    fn progress(&self, act: &str) -> Result<Progress> {
        Ok(self.journal()?.progress(act))
    }
    fn unfinished(&self) -> Result<Vec<String>> {
        Ok(self.journal()?.unfinished())
    }
}

use state::LastLink;

impl Host for Linux {
    fn ensure(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::WriteFile { path, .. } | Change::AuthorizedKeys { path, .. } => {
                state::check_foreign(&self.root, path, LastLink::Followed)?;
            }
            Change::MakeDirectory { path, .. } | Change::MakeLink { path, .. } | Change::Remove { path, .. } => {
                state::check_foreign(&self.root, path, LastLink::Replaced)?;
            }
            _ => {}
        }
        match change {
            Change::WriteFile { path, file, .. } => {
                state::make_state_dir(&self.root, path)?;
                files::write(&self.root, path, file)
            }
            Change::MakeDirectory { path, directory, .. } => paths::make_directory(&self.root, path, *directory),
            Change::MakeLink { path, target, .. } => paths::make_link(&self.root, path, target),
            Change::Remove { path, was: PathState::File(_) } => files::remove(&self.root, path),
            Change::Remove { path, .. } => paths::remove(&self.root, path),
            Change::SetSysctl { key, path, value, .. } => kernel::set_sysctl(key, path, value),
            Change::LoadModule { name } => kernel::load_module(name),
            Change::RefreshTrust { store, missing } => {
                self.runner().quiet(store.refresh)?;
                self.settle()?;
                trust::has_taken(&self.root, store, missing)
            }
            Change::AddGroup { name, gid } => users::add_group(self, name, *gid),
            Change::SetUser { name, was, settings } => users::set_user(self, name, was.as_ref(), settings),
            Change::SetPassword { user, hash } => users::set_password(self, user, hash),
            Change::AuthorizedKeys { user, path, contents, .. } => users::authorized_keys(self, user, path, contents),
            Change::Unit { name, action, .. } => {
                units::change(self, name, *action)?;
                self.settle()
            }
            Change::Restart { service, reads, .. } => systemd::restart(self, service, reads),
        }
    }
    fn run(&mut self, program: &Program) -> Result<()> {
        self.runner().run(program)?;
        self.settle()
    }
    fn note(&mut self, act: &str, progress: Progress) -> Result<()> {
        let mut journal = self.journal()?;
        journal.note(act, progress);
        self.state().write(contract::JOURNAL, &journal.bytes(), 0o600)
    }
    fn remove_leftovers(&mut self) -> Result<()> {
        contract::SECRET_FILES.iter().try_for_each(|path| files::remove_with_draft(&self.root, path))
    }
    fn remove_drafts(&mut self, paths: &[String]) -> Result<()> {
        let own = contract::WRITTEN_FILES.iter().copied();
        own.chain(paths.iter().map(String::as_str)).try_for_each(|path| files::remove_draft(&self.root, path))
    }
    fn write_together(&mut self, directory: &str, files: &[(String, FileState)]) -> Result<()> {
        state::check_foreign(&self.root, directory, LastLink::Followed)?;
        together::write(&self.root, directory, files)
    }
    fn remove_together_drafts(&mut self, directory: &str) -> Result<()> {
        together::remove_drafts(&self.root, directory)
    }
    fn remove_tree(&mut self, path: &str) -> Result<()> {
        state::check_foreign(&self.root, path, LastLink::Replaced)?;
        tree::remove(&self.root, path)
    }
    fn wait_active(&mut self, service: &str, within: Duration) -> Result<()> {
        systemd::wait_active(service, within)
    }
    fn wait_until(&mut self, shows: &dyn Fn(&dyn Inspect) -> Result<bool>, within: Duration) -> Result<bool> {
        let deadline = Instant::now() + within;
        while !shows(self)? {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            thread::sleep(systemd::BETWEEN_LOOKS);
        }
        Ok(true)
    }
}
