//! A machine held in memory, for tests and dry runs. It can lose its power at any moment.
use crate::{
    Act, Change, Condition, Effect, Error, FileState, Host, Inspect, Progress, Result, Service, TrustStore,
    journal::Journal,
};
use documents::{
    Secret,
    v1alpha1::{Command, Owner},
};
use std::{
    collections::{BTreeMap, BTreeSet},
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
    /// Kernel parameters by path.
    pub sysctls: BTreeMap<String, String>,
    /// Kernel parameters that come with a module.
    pub sysctls_of: BTreeMap<String, (String, String)>,
    /// Loaded modules.
    pub modules: BTreeSet<String>,
    /// How it keeps certificates.
    pub trust_store: Option<TrustStore>,
    /// Services: whether each runs.
    pub services: BTreeMap<String, bool>,
    /// What each service had read at its last start.
    pub read: BTreeMap<String, Vec<Option<FileState>>>,
    /// The version of kubeadm.
    pub kubeadm: Option<String>,
    /// Ports on which something listens.
    pub ports: BTreeSet<u16>,
    /// Effects of acts by name: `false` is half of it.
    pub effects: BTreeMap<String, bool>,
    /// Changes left until the power fails; `None` is mains.
    pub power: Option<usize>,
    /// Acts begun and ended.
    pub journal: Journal,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            live: true,
            files: BTreeMap::new(),
            accounts: [("root".into(), (0, 0))].into(),
            sysctls: BTreeMap::new(),
            sysctls_of: BTreeMap::new(),
            modules: BTreeSet::new(),
            trust_store: Some(TrustStore::DEBIAN),
            services: BTreeMap::new(),
            read: BTreeMap::new(),
            kubeadm: None,
            ports: BTreeSet::new(),
            effects: BTreeMap::new(),
            power: None,
            journal: Journal::new("memory".into()),
        }
    }
}

impl Memory {
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

    /// All anchors end up in the bundle, as the real programs do it.
    fn refresh_trust(&mut self, store: &TrustStore) {
        let anchors = self.files.iter().filter(|(path, _)| path.starts_with(store.anchors));
        let contents: Vec<u8> = anchors.flat_map(|(_, file)| file.contents.expose().clone()).collect();
        let bundle = FileState { contents: Secret::new(contents), mode: 0o644, uid: 0, gid: 0 };
        self.files.insert(store.bundle.into(), bundle);
    }

    fn reads_now(&self, files: &[String]) -> Vec<Option<FileState>> {
        files.iter().map(|path| self.files.get(path).cloned()).collect()
    }
}

impl Inspect for Memory {
    fn live(&self) -> bool {
        self.live
    }
    fn file(&self, path: &str) -> Result<Option<FileState>> {
        Ok(self.files.get(path).cloned())
    }
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.files.contains_key(path))
    }
    fn owner(&self, owner: &Owner) -> Result<(u32, u32)> {
        let find = |name: &str| self.accounts.get(name).copied();
        match (find(&owner.user), find(&owner.group)) {
            (Some((uid, _)), Some((_, gid))) => Ok((uid, gid)),
            _ => Err(Error::Unfit {
                what: format!("{}:{}", owner.user, owner.group),
                why: "no such account".into(),
                advice: "create it".into(),
            }),
        }
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
    fn has_read(&self, service: &str, files: &[String]) -> Result<bool> {
        Ok(self.read.get(service).is_some_and(|read| *read == self.reads_now(files)))
    }
    fn kubeadm(&self) -> Result<Option<String>> {
        Ok(self.kubeadm.clone())
    }
    fn listens(&self, port: u16) -> Result<bool> {
        Ok(self.ports.contains(&port))
    }
    fn effect(&self, act: &Act) -> Result<Effect> {
        let unseen = matches!(act, Act::Command(Command { creates: None, unless: None, .. }));
        Ok(match self.effects.get(act.name()) {
            Some(false) => Effect::Partial,
            _ if unseen => Effect::Unseen,
            Some(true) => Effect::Done,
            None => Effect::Absent,
        })
    }
    fn progress(&self, act: &Act) -> Result<Progress> {
        Ok(self.journal.progress(act))
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
            Change::LoadModule { name } => drop(self.modules.insert(name.clone())),
            Change::RefreshTrust { store, .. } => self.refresh_trust(store),
            Change::Restart { service, reads, .. } => {
                let read = self.reads_now(reads);
                self.read.insert(service.clone(), read);
            }
        }
        Ok(())
    }
    fn begin(&mut self, act: &Act) -> Result<()> {
        self.spend()?;
        self.journal.begin(act);
        Ok(())
    }
    fn run(&mut self, act: &Act) -> Result<()> {
        self.spend()?;
        if matches!(act, Act::Init(_)) {
            // It leaves traces long before it is done.
            self.effects.insert(act.name().to_owned(), false);
        }
        self.spend()?;
        self.effects.insert(act.name().to_owned(), true);
        Ok(())
    }
    fn end(&mut self, act: &Act) -> Result<()> {
        self.spend()?;
        self.journal.end(act);
        Ok(())
    }
    fn undo(&mut self, act: &Act) -> Result<()> {
        self.spend()?;
        self.effects.remove(act.name());
        if matches!(act, Act::Init(_)) {
            // As `kubeadm reset` does, whoever put them there.
            self.files.retain(|path, _| !path.starts_with("/etc/kubernetes/pki/"));
        }
        Ok(())
    }
    fn wait(&mut self, condition: &Condition, _: Duration) -> Result<()> {
        let Condition::ServiceActive(service) = condition;
        if self.services.get(service) == Some(&true) {
            return Ok(());
        }
        Err(Error::Unfit { what: service.clone(), why: "does not run".into(), advice: "look at its log".into() })
    }
}
