//! A machine held in memory, for tests. It can lose its power at any moment, and its programs do what a table says.
mod accounts;
mod drafts;
mod renderer;
mod resources;
mod together;
mod tree;
mod units;

pub use drafts::DraftBytes;
pub use renderer::Renderer;
pub use resources::Resources;

use crate::{
    Call, Cgroups, Change, Clock, DirectoryState, DiskSpace, Enablement, Error, FileState, FileSum, Host, Inspect,
    PathState, Program, Progress, Rendering, Result, Service, TreeEntry, TrustStore, UnitState, UserState, contract,
    journal::Journal,
};
use secret::Secret;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    time::Duration,
};

/// A machine held in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Whether it plays a running system.
    pub live: bool,
    /// Files by absolute path.
    pub files: BTreeMap<String, FileState>,
    /// Users and groups by name.
    pub accounts: BTreeMap<String, (u32, u32)>,
    /// Users by name.
    pub users: BTreeMap<String, UserState>,
    /// Groups by name.
    pub groups: BTreeMap<String, u32>,
    /// Kernel parameters by path.
    pub sysctls: BTreeMap<String, String>,
    /// Kernel parameters that come with a module.
    pub sysctls_of: BTreeMap<String, (String, String)>,
    /// Loaded modules.
    pub modules: BTreeSet<String>,
    /// How it stores CA certificates.
    pub trust_store: Option<TrustStore>,
    /// Services: whether each runs.
    pub services: BTreeMap<String, bool>,
    /// Whether units start at boot, by their names with suffix; a service without an entry is disabled.
    pub enablement: BTreeMap<String, Enablement>,
    /// Services that do not come up again after a restart.
    pub failing_restarts: BTreeSet<String>,
    /// Each file that a service had read at its last start.
    pub read: BTreeMap<String, BTreeMap<String, Option<FileState>>>,
    /// Ports on which something listens.
    pub ports: BTreeSet<u16>,
    /// The variables that a program got when it ran last, by its first two words.
    pub environments: BTreeMap<String, BTreeMap<String, Secret<String>>>,
    /// The address that it sends from.
    pub address: Option<IpAddr>,
    /// What programs do, by their words or by the first two of them; others succeed and do nothing.
    pub programs: BTreeMap<String, Vec<Played>>,
    /// What happens while one waits for something that the machine does not show yet.
    pub awaited: Vec<Played>,
    /// Programs that never end, by their words.
    pub hanging: BTreeSet<String>,
    /// Directories by absolute path. Others are there only while something is below them, with the usual mode.
    pub directories: BTreeMap<String, DirectoryState>,
    /// Targets of symbolic links by absolute path; nothing is reached through them.
    pub links: BTreeMap<String, String>,
    /// What read-only programs print, by their words.
    pub outputs: BTreeMap<String, String>,
    /// Programs that print what they read, by their words.
    pub echoing: BTreeSet<String>,
    /// What renders files.
    pub renderer: Renderer,
    /// What is being downloaded, by its SHA-256.
    pub drafts: BTreeMap<String, DraftBytes>,
    /// Changes left until the power fails; `None` is mains.
    pub power: Option<usize>,
    /// What it has.
    pub resources: Resources,
    /// Its identity; empty where it has none.
    pub machine_id: String,
    /// Every program that was run and every service that was restarted, in order.
    pub log: Vec<String>,
}

/// A directory that was created on the way to a file.
const USUAL_DIRECTORY: DirectoryState = DirectoryState { mode: 0o755, uid: 0, gid: 0 };

/// One thing that a program does; the power may fail before each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Played {
    /// Writes a file.
    Write(String, String),
    /// Removes everything whose path starts so.
    RemoveBelow(String),
    /// Ends badly.
    Fail,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            live: true,
            files: BTreeMap::new(),
            accounts: [("root".into(), (0, 0))].into(),
            users: BTreeMap::new(),
            groups: [("root".into(), 0)].into(),
            sysctls: BTreeMap::new(),
            sysctls_of: BTreeMap::new(),
            modules: BTreeSet::new(),
            trust_store: Some(TrustStore::DEBIAN),
            services: BTreeMap::new(),
            enablement: BTreeMap::new(),
            failing_restarts: BTreeSet::new(),
            read: BTreeMap::new(),
            ports: BTreeSet::new(),
            environments: BTreeMap::new(),
            address: None,
            programs: BTreeMap::new(),
            awaited: Vec::new(),
            hanging: BTreeSet::new(),
            directories: BTreeMap::new(),
            links: BTreeMap::new(),
            outputs: BTreeMap::new(),
            echoing: BTreeSet::new(),
            renderer: Renderer::default(),
            drafts: BTreeMap::new(),
            power: None,
            resources: Resources::default(),
            machine_id: "memory".into(),
            log: Vec::new(),
        }
    }
}

impl Memory {
    /// The acts that started and ended, from the file that a real machine has too.
    pub fn journal(&self) -> Result<Journal> {
        let stored = self.files.get(contract::JOURNAL);
        Journal::read(stored.map(|file| file.contents.expose().as_slice()), &self.machine_id)
    }

    fn spend(&mut self) -> Result<()> {
        match &mut self.power {
            Some(0) => Err(Error::PowerFailed),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// How many names a directory has.
    fn entries_of(&self, directory: &str) -> usize {
        let paths = self.files.keys().chain(self.links.keys()).chain(self.directories.keys());
        let name =
            |path: &'_ String| Some(path.strip_prefix(directory)?.strip_prefix('/')?.split('/').next()?.to_owned());
        paths.filter_map(name).collect::<BTreeSet<_>>().len()
    }

    /// The power may fail between creating a directory and giving it its mode and owner, as on a real machine.
    fn make_directory(&mut self, path: &str, directory: DirectoryState) -> Result<()> {
        if !self.directories.contains_key(path) && self.entries_of(path) == 0 {
            self.directories.insert(path.to_owned(), DirectoryState { mode: 0o700, uid: 0, gid: 0 });
            self.spend()?;
        }
        self.directories.insert(path.to_owned(), directory);
        Ok(())
    }

    fn remove(&mut self, path: &str) {
        self.files.remove(path);
        self.links.remove(path);
        self.directories.remove(path);
    }

    /// All anchors end up in the bundle, as the real programs do it.
    fn refresh_trust(&mut self, store: &TrustStore) {
        let anchors = self.files.iter().filter(|(path, _)| path.starts_with(store.anchors));
        let contents: Vec<u8> = anchors.flat_map(|(_, file)| file.contents.expose().clone()).collect();
        let bundle = FileState { contents: Secret::new(contents), mode: 0o644, uid: 0, gid: 0 };
        self.files.insert(store.bundle.into(), bundle);
    }

    fn play(&mut self, played: &Played) -> Result<()> {
        match played {
            Played::Write(path, text) => {
                let contents = Secret::new(text.clone().into_bytes());
                self.files.insert(path.clone(), FileState { contents, mode: 0o644, uid: 0, gid: 0 });
            }
            Played::RemoveBelow(start) => {
                self.files.retain(|path, _| !path.starts_with(start));
                self.links.retain(|path, _| !path.starts_with(start));
                self.directories.retain(|path, _| !path.starts_with(start));
            }
            Played::Fail => {
                return Err(Error::Program {
                    program: "a played program".into(),
                    how: "ended with exit code 1".into(),
                    output: Secret::new("it failed\n".into()),
                });
            }
        }
        Ok(())
    }
}

/// The words by which [`Memory`] knows a program.
fn words(program: &Program) -> String {
    match &program.call {
        Call::Argv(argv) => argv.join(" "),
        Call::Script(script) => script.expose().trim().to_owned(),
    }
}

impl Inspect for Memory {
    fn live(&self) -> bool {
        self.live
    }
    fn file(&self, path: &str) -> Result<Option<FileState>> {
        match self.directories.contains_key(path) {
            true => Err(Error::Refused { what: path.to_owned(), why: "is not a regular file".into() }),
            false => Ok(self.files.get(path).cloned()),
        }
    }
    fn sum(&self, path: &str) -> Result<Option<FileSum>> {
        let of = |file: &FileState| FileSum {
            sum: drafts::sum(file.contents.expose()),
            size: file.contents.expose().len() as u64,
            mode: file.mode,
            uid: file.uid,
            is_trusted: file.uid == 0 && file.mode & 0o022 == 0,
        };
        Ok(self.files.get(path).map(of))
    }
    fn names_in(&self, directory: &str) -> Result<Option<Vec<String>>> {
        let name =
            |path: &String| path.strip_prefix(directory)?.strip_prefix('/')?.split('/').next().map(str::to_owned);
        let names: BTreeSet<String> = self.files.keys().filter_map(name).collect();
        Ok((!names.is_empty()).then(|| names.into_iter().collect()))
    }
    fn state_at(&self, path: &str) -> Result<PathState> {
        let entries = self.entries_of(path);
        Ok(match (self.files.get(path), self.links.get(path), self.directories.get(path)) {
            (Some(file), ..) => PathState::File(file.clone()),
            (None, Some(target), _) => PathState::Link { target: target.clone() },
            (None, None, Some(state)) => PathState::Directory { state: *state, entries },
            (None, None, None) if entries > 0 => PathState::Directory { state: USUAL_DIRECTORY, entries },
            (None, None, None) => PathState::Absent,
        })
    }
    fn tree(&self, directory: &str) -> Result<Vec<TreeEntry>> {
        Ok(self.tree_of(directory))
    }
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.state_at(path)? != PathState::Absent)
    }
    fn owner(&self, user: &str, group: &str) -> Result<(u32, u32)> {
        let find = |name: &str| self.accounts.get(name).copied();
        match (find(user), find(group)) {
            (Some((uid, _)), Some((_, gid))) => Ok((uid, gid)),
            _ => Err(Error::Unfit {
                what: format!("{user}:{group}"),
                why: "no such account".into(),
                advice: "create it".into(),
            }),
        }
    }
    fn user(&self, name: &str) -> Result<Option<UserState>> {
        Ok(self.users.get(name).cloned())
    }
    fn group(&self, name: &str) -> Result<Option<u32>> {
        Ok(self.groups.get(name).copied())
    }
    fn default_owner(&self) -> (u32, u32) {
        (0, 0)
    }
    fn sysctl(&self, path: &str) -> Result<Option<String>> {
        let of_module = self.sysctls_of.get(path).filter(|(module, _)| self.modules.contains(module));
        Ok(self.sysctls.get(path).or(of_module.map(|(_, value)| value)).cloned())
    }
    fn has_module(&self, name: &str) -> Result<bool> {
        Ok(self.modules.contains(name))
    }
    fn provides_module(&self, name: &str) -> Result<bool> {
        Ok(self.modules.contains(name) || self.resources.loadable.contains(name))
    }
    fn swaps(&self) -> Result<Vec<String>> {
        Ok(self.resources.swaps.clone())
    }
    fn memory(&self) -> Result<u64> {
        Ok(self.resources.memory)
    }
    fn processors(&self) -> Result<usize> {
        Ok(self.resources.processors)
    }
    fn space(&self, path: &str) -> Result<DiskSpace> {
        Ok(self.resources.space(path))
    }
    fn cgroups(&self) -> Result<Cgroups> {
        Ok(self.resources.cgroups.clone())
    }
    fn clock(&self) -> Result<Clock> {
        Ok(self.resources.clock)
    }
    fn resolves(&self, name: &str, _: Duration) -> Result<bool> {
        Ok(self.resources.names.contains(name))
    }
    fn has_program(&self, name: &str) -> Result<bool> {
        Ok(!self.resources.missing_programs.contains(name))
    }
    fn trust_store(&self) -> Result<Option<TrustStore>> {
        Ok(self.trust_store)
    }
    fn service(&self, name: &str) -> Result<Service> {
        Ok(match self.services.get(name) {
            _ if !self.live => Service::Unmanaged,
            None => Service::Unknown,
            Some(false) => Service::Inactive,
            Some(true) => Service::Active,
        })
    }
    fn unit(&self, name: &str) -> Result<UnitState> {
        let service = name.strip_suffix(".service").unwrap_or(name);
        let is_known = self.services.contains_key(service);
        let enablement = match self.enablement.get(name) {
            Some(enablement) => *enablement,
            None if is_known => Enablement::Disabled,
            None => Enablement::Unknown,
        };
        Ok(UnitState { enablement, activity: self.service(service)? })
    }
    fn has_read(&self, service: &str, file: &str) -> Result<bool> {
        let read = self.read.get(service).and_then(|read| read.get(file));
        Ok(!self.live || read.is_some_and(|read| read.as_ref() == self.files.get(file)))
    }
    fn readers(&self, file: &str) -> Result<Vec<String>> {
        Ok(self.read.iter().filter(|(_, read)| read.contains_key(file)).map(|(service, _)| service.clone()).collect())
    }
    fn listens(&self, port: u16) -> Result<bool> {
        Ok(self.ports.contains(&port))
    }
    fn address_towards(&self, _: Option<IpAddr>) -> Result<Option<IpAddr>> {
        Ok(self.address)
    }
    fn output(&self, argv: &[&str], _: Duration) -> Result<Option<String>> {
        Ok(self.outputs.get(&argv.join(" ")).cloned())
    }
    fn answer(&self, argv: &[&str], input: &str, within: Duration) -> Result<Option<String>> {
        match self.echoing.contains(&argv.join(" ")) {
            true => Ok(Some(input.to_owned())),
            false => self.output(argv, within),
        }
    }
    fn rendered(&self, rendering: &Rendering) -> Result<Secret<Vec<u8>>> {
        self.renderer.rendered(rendering)
    }
    /// Knows `test -e PATH`; everything else does not end well.
    fn succeeds(&self, program: &Program) -> Result<bool> {
        let words = words(program);
        if self.hanging.contains(&words) {
            let how = format!("did not end within {}s", program.within.as_secs());
            return Err(Error::Program { program: program.name.clone(), how, output: Secret::new(String::new()) });
        }
        Ok(words.strip_prefix("test -e ").is_some_and(|path| self.files.contains_key(path)))
    }
    fn progress(&self, act: &str) -> Result<Progress> {
        Ok(self.journal()?.progress(act))
    }
    fn unfinished(&self) -> Result<Vec<String>> {
        Ok(self.journal()?.unfinished())
    }
}

impl Host for Memory {
    fn ensure(&mut self, change: &Change) -> Result<()> {
        self.spend()?;
        match change {
            Change::SetSysctl { key, path, value, .. } => {
                if self.sysctl(path)?.is_none() {
                    return Err(Error::Unfit {
                        what: key.clone(),
                        why: "the kernel has no such parameter".into(),
                        advice: "load the module that brings it".into(),
                    });
                }
                self.sysctls.insert(path.clone(), value.clone());
            }
            Change::WriteFile { path, file, .. } => drop(self.files.insert(path.clone(), file.clone())),
            Change::MakeDirectory { path, directory, .. } => self.make_directory(path, *directory)?,
            Change::MakeLink { path, target, .. } => drop(self.links.insert(path.clone(), target.clone())),
            Change::Remove { path, .. } => self.remove(path),
            Change::LoadModule { name } => drop(self.modules.insert(name.clone())),
            Change::RefreshTrust { store, .. } => self.refresh_trust(store),
            Change::AddGroup { name, gid } => self.add_group(name, *gid),
            Change::SetUser { name, settings, .. } => self.set_user(name, settings),
            Change::SetPassword { user, hash } => {
                if let Some(user) = self.users.get_mut(user) {
                    user.password = hash.clone();
                }
            }
            Change::AuthorizedKeys { user, path, contents, .. } => {
                let (uid, gid) = self.users.get(user).map_or((0, 0), |user| (user.uid, user.gid));
                if let Some((directory, _)) = path.rsplit_once('/') {
                    self.directories.insert(directory.to_owned(), DirectoryState { mode: 0o700, uid, gid });
                }
                let file = FileState { contents: contents.clone(), mode: 0o600, uid, gid };
                self.files.insert(path.clone(), file);
            }
            Change::Unit { name, action, .. } => self.change_unit(name, *action)?,
            Change::Restart { service, reads, .. } => self.restart(service, reads),
        }
        Ok(())
    }
    fn run(&mut self, program: &Program) -> Result<()> {
        self.spend()?;
        let words = words(program);
        self.log.push(format!("run {words}"));
        if let Some(path) = words.strip_prefix("touch ") {
            return self.play(&Played::Write(path.to_owned(), String::new()));
        }
        let first_two = words.split(' ').take(2).collect::<Vec<_>>().join(" ");
        self.environments.insert(first_two.clone(), program.environment.clone());
        let played = self.programs.get(&words).or_else(|| self.programs.get(&first_two)).cloned().unwrap_or_default();
        for played in &played {
            self.spend()?;
            self.play(played)?;
        }
        Ok(())
    }
    fn note(&mut self, act: &str, progress: Progress) -> Result<()> {
        self.spend()?;
        let mut journal = self.journal()?;
        journal.note(act, progress);
        let contents = Secret::new(journal.bytes());
        self.files.insert(contract::JOURNAL.into(), FileState { contents, mode: 0o600, uid: 0, gid: 0 });
        Ok(())
    }
    fn remove_leftovers(&mut self) -> Result<()> {
        for path in contract::SECRET_FILES {
            if self.files.contains_key(*path) {
                self.spend()?;
                self.files.remove(*path);
            }
        }
        Ok(())
    }
    /// Nothing to do: a write is one change here, without a draft.
    fn remove_drafts(&mut self, _: &[String]) -> Result<()> {
        Ok(())
    }
    fn write_together(&mut self, directory: &str, files: &[(String, FileState)]) -> Result<()> {
        self.check_together(directory, files)?;
        self.spend()?;
        self.files.extend(files.iter().map(|(path, file)| (format!("{directory}/{path}"), file.clone())));
        Ok(())
    }
    /// Nothing to do: files are written together in one change here, without a draft.
    fn remove_together_drafts(&mut self, _: &str) -> Result<()> {
        Ok(())
    }
    fn remove_tree(&mut self, path: &str) -> Result<()> {
        self.remove_tree_of(path)
    }
    fn wait_active(&mut self, service: &str, _: Duration) -> Result<()> {
        match self.services.get(service) {
            Some(true) if !self.failing_restarts.contains(service) => Ok(()),
            _ => {
                Err(Error::Unfit { what: service.into(), why: "does not run".into(), advice: "look at its log".into() })
            }
        }
    }
    fn wait_until(&mut self, shows: &dyn Fn(&dyn Inspect) -> Result<bool>, _: Duration) -> Result<bool> {
        if shows(self)? {
            return Ok(true);
        }
        for played in std::mem::take(&mut self.awaited) {
            self.spend()?;
            self.play(&played)?;
        }
        shows(self)
    }
}
