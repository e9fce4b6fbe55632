//! What holds in every state that a power cut leaves, before anything is run again.
use crate::support::file_tree::{Entry, Tree};
use std::collections::BTreeSet;

const OURS: &str = "/var/lib/machineadm";
const SUCCESS: &str = "/var/lib/machineadm/bootstrap-success.complete";
const CONFIGURATION: &str = "/var/lib/machineadm/configuration.yaml";
const JOURNAL: &str = "/var/lib/machineadm/journal.json";

/// What the guarantees are about.
pub(crate) struct Guarantees<'a> {
    pub(crate) before: &'a Tree,
    pub(crate) after: &'a Tree,
    /// Every whole version of each file that is written atomically.
    pub(crate) whole: &'a [(String, Entry)],
    /// A command's name in the journal, and the file that shows that it has run.
    pub(crate) command: (&'static str, &'static str),
}

impl Guarantees<'_> {
    /// Every guarantee that this state breaks.
    pub(crate) fn broken(&self, state: &Tree) -> Vec<String> {
        let mut broken = self.half_written(state);
        let differs = |from: &Tree| {
            let names: BTreeSet<_> = from.keys().chain(state.keys()).filter(|name| is_users(name)).collect();
            names.into_iter().find(|name| from.get(*name) != state.get(*name)).cloned()
        };
        if state.contains_key(SUCCESS) {
            if let Some(name) = differs(self.after) {
                broken.push(format!("{name} is not done, but success is told"));
            }
        } else if let Some(name) = differs(self.before)
            && !state.contains_key(CONFIGURATION)
        {
            broken.push(format!("{name} has changed, but a reboot finds no configuration to go on with"));
        }
        let (name, effect) = self.command;
        let journal = state.get(JOURNAL).map(|entry| String::from_utf8_lossy(&entry.body)).unwrap_or_default();
        if state.contains_key(effect) && !journal.contains(name) {
            broken.push(format!("{name} has run, but the journal does not know"));
        }
        broken
    }

    fn half_written(&self, state: &Tree) -> Vec<String> {
        let is_old = |path: &String, entry: &Entry| self.before.get(path) == Some(entry);
        let is_whole =
            |path: &String, entry: &Entry| self.whole.iter().any(|(name, whole)| name == path && whole == entry);
        let paths: BTreeSet<_> = self.whole.iter().map(|(path, _)| path).collect();
        let found = paths.into_iter().filter_map(|path| Some((path, state.get(path)?)));
        let half = found.filter(|(path, entry)| !is_old(path, entry) && !is_whole(path, entry));
        half.map(|(path, _)| format!("{path} is half-written under its own name")).collect()
    }
}

/// Files, not of ours, and not those that a cut may leave beside them.
fn is_users(name: &str) -> bool {
    !name.starts_with(OURS) && !name.starts_with("/run") && !name.contains("/.machineadm-")
}
