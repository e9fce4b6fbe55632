//! What existed below kubeadm's directories before kubeadm was started for the first time.
//!
//! `kubeadm reset` empties `/etc/kubernetes/pki`, `/etc/kubernetes/manifests` and `/var/lib/kubelet`, whoever put the files
//! there. So everything below these directories is recorded before, with contents, in one file of root's alone: it may
//! hold private keys. The same file remembers how far a reset has come, so that an interrupted one is finished.
//!
//! ```text
//!  kubeadm's first start ──record──▶ entries
//!  undo ──────────────────────▶ Deleting ──kubeadm reset, restore──▶ entries, or no file
//!  reset ──▶ RemovingMember ──▶ Deleting ──kubeadm reset, restore──▶ Undone ──documents, own state──▶ no file
//! ```
use crate::{
    certificates_elsewhere::CertificatesElsewhere,
    etcd_data::DATA,
    ownership::{Owned, Ownership},
    path_digest::digest,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use documents::Secret;
use host::{
    Change, DirectoryState, EntrySort, Error, FileState, Host, Inspect, PathState, Progress, TreeEntry,
    contract::BEFORE_KUBEADM,
};
use objects::kubernetes_paths;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const VERSION: u32 = 1;
/// The directories that kubeadm writes, and that `kubeadm reset` empties.
const DIRECTORIES: [&str; 2] = [kubernetes_paths::KUBERNETES, kubernetes_paths::KUBELET];
/// What `kubeadm reset` empties below them. Either may be a link or a mount, behind which a tree does not look.
const EMPTIED: [&str; 2] = [kubernetes_paths::PKI, kubernetes_paths::MANIFESTS];
/// The largest file whose content is recorded, and the most that is recorded of all contents, in bytes. What is read back
/// must stay below the size of files that are read.
const LARGEST_FILE: usize = 4 << 20;
const LARGEST_TOTAL: usize = 24 << 20;
/// The most entries.
const MOST_ENTRIES: usize = 50_000;

/// What existed, and how far a reset has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BeforeKubeadm {
    version: u32,
    /// Whether it was recorded before kubeadm's first start. Otherwise kubeadm ran without machineadm, and it holds only
    /// what documents own.
    pub(crate) is_recorded: bool,
    /// By path.
    entries: BTreeMap<String, Entry>,
    /// Where certificates are written outside kubeadm's own directory.
    #[serde(default, skip_serializing_if = "CertificatesElsewhere::is_empty")]
    pub(crate) elsewhere: CertificatesElsewhere,
    /// Where etcd's data is, if kubeadm was told another directory than its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) etcd_data: Option<String>,
    /// How many further entries there were, of which nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) omitted: Option<usize>,
    /// How far a reset has come, if one was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reset: Option<ResetProgress>,
}

/// How far a reset has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ResetProgress {
    /// The etcd member of this machine is being removed. Its own server then ends: these can tell whether it is gone.
    RemovingMember {
        /// Client URLs of the other members.
        servers: Vec<String>,
    },
    /// No cluster with other members has a member for the data on this machine: all is deleted, then restored.
    #[serde(rename_all = "camelCase")]
    Deleting {
        /// The directory of etcd's data, by the manifest that kubeadm deletes.
        etcd_data: Option<String>,
        /// Who deletes.
        #[serde(default)]
        by: DeletedBy,
    },
    /// What kubeadm did is undone, and the rest of a reset is not.
    Undone,
}

/// Who undoes what kubeadm did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DeletedBy {
    /// The act that is then done again.
    #[default]
    Act,
    /// `machineadm reset`: the machine shall be no node.
    Reset,
}

/// What was at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    mode: u32,
    uid: u32,
    gid: u32,
    #[serde(flatten)]
    sort: Sort,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Sort {
    /// A regular file, in base64.
    File {
        #[serde(serialize_with = "secret::exposed")]
        content: Secret<String>,
    },
    Directory {},
    Link {
        target: String,
    },
    /// A file that is too large, or neither file, directory nor link: it cannot be restored.
    NotCopied {},
}

/// What every version of the file has.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

/// Records what exists, before an act starts kubeadm or writes files for it: once, so that what an interrupted or failed
/// kubeadm left, and what machineadm has written for kubeadm, is never taken for what was there before. An act that has
/// ended and runs again starts anew.
pub(crate) fn record(act: &str, elsewhere: CertificatesElsewhere, host: &mut dyn Host) -> host::Result<()> {
    let progress = host.progress(act)?;
    match progress {
        Progress::Started | Progress::Failed => return record_elsewhere(elsewhere, host),
        Progress::New if host.exists(BEFORE_KUBEADM)? => return record_elsewhere(elsewhere, host),
        Progress::New | Progress::Ended => {}
    }
    let found = found(host)?;
    let omitted = Some(found.len().saturating_sub(MOST_ENTRIES)).filter(|omitted| *omitted > 0);
    let entries = entries(found, host)?;
    let mut record =
        BeforeKubeadm { version: VERSION, is_recorded: true, entries, omitted, ..BeforeKubeadm::default() };
    record.add_elsewhere(elsewhere, host)?;
    record.write(host)?;
    if progress == Progress::Ended { host.note(act, Progress::New) } else { Ok(()) }
}

/// A configuration that was changed since the first start may name another certificates directory, which kubeadm has not
/// written yet.
pub(crate) fn record_elsewhere(elsewhere: CertificatesElsewhere, host: &mut dyn Host) -> host::Result<()> {
    let Some(mut record) = BeforeKubeadm::read(host)?.filter(|record| record.is_recorded) else { return Ok(()) };
    if record.add_elsewhere(elsewhere, host)? { record.write(host) } else { Ok(()) }
}

/// Whether a reset has deleted something and has not come to its end.
pub(crate) fn is_deleting(host: &dyn Inspect) -> host::Result<bool> {
    let record = BeforeKubeadm::read(host)?;
    Ok(record.is_some_and(|record| matches!(record.reset, Some(ResetProgress::Deleting { .. }))))
}

impl BeforeKubeadm {
    /// The record of a machine.
    pub(crate) fn read(host: &dyn Inspect) -> host::Result<Option<Self>> {
        let Some(file) = host.file(BEFORE_KUBEADM)? else { return Ok(None) };
        let bytes = file.contents.expose();
        // The reader quotes what it does not expect, which may be a key: only the position is reported.
        let damaged = |error: serde_json::Error| {
            unusable(format!("the record is damaged at line {}, column {}", error.line(), error.column()))
        };
        let Header { version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if version != VERSION {
            return Err(unusable(format!("the record has version {version}, and this machineadm reads {VERSION}")));
        }
        serde_json::from_slice(bytes).map(Some).map_err(damaged)
    }

    /// The record of a machine; an empty one where kubeadm ran without machineadm.
    pub(crate) fn read_or_empty(host: &dyn Inspect) -> host::Result<Self> {
        Ok(Self::read(host)?.unwrap_or_else(|| Self { version: VERSION, ..Self::default() }))
    }

    /// Records what exists where certificates are written besides. Returns whether that is new.
    fn add_elsewhere(&mut self, elsewhere: CertificatesElsewhere, host: &dyn Inspect) -> host::Result<bool> {
        let known: Vec<String> = self.elsewhere.paths().collect();
        let is_new = self.elsewhere.add(elsewhere);
        let paths: Vec<String> = self.elsewhere.paths().filter(|path| !known.contains(path)).collect();
        paths.into_iter().try_for_each(|path| self.add(path, host)).map(|()| is_new)
    }

    /// Records what exists at a path, unless that is recorded.
    pub(crate) fn add(&mut self, path: String, host: &dyn Inspect) -> host::Result<()> {
        if !self.entries.contains_key(&path) {
            self.entries.extend(entry_of(host.state_at(&path)?).map(|entry| (path, entry)));
        }
        Ok(())
    }

    /// Remembers, before kubeadm deletes anything, where etcd's data is and what documents own: they may have written
    /// their files anew since.
    pub(crate) fn start_deleting(
        &mut self,
        etcd_data: Option<String>,
        by: DeletedBy,
        host: &mut dyn Host,
    ) -> host::Result<()> {
        match &mut self.reset {
            Some(ResetProgress::Deleting { by: before, .. }) if *before == by => return Ok(()),
            // What documents own was remembered before kubeadm deleted it.
            Some(ResetProgress::Deleting { by: before, .. }) => {
                *before = by;
                return self.write(host);
            }
            _ => {}
        }
        for record in Ownership::read(host)?.into_values() {
            let Owned::File { path, block: None, digest: wanted, .. } = record.owned else { continue };
            let is_elsewhere = self.elsewhere.paths().any(|elsewhere| elsewhere == path);
            if !is_elsewhere && !DIRECTORIES.iter().any(|directory| is_below(&path, directory)) {
                continue;
            }
            let now = host.state_at(&path)?;
            if digest(&now, None) != wanted {
                continue;
            }
            match entry_of(now) {
                Some(entry) => drop(self.entries.insert(path, entry)),
                None => drop(self.entries.remove(&path)),
            }
        }
        self.reset = Some(ResetProgress::Deleting { etcd_data, by });
        self.write(host)
    }

    /// Writes it, readable by root alone.
    pub(crate) fn write(&self, host: &mut dyn Host) -> host::Result<()> {
        let (uid, gid) = host.default_owner();
        let contents = Secret::new(serde_json::to_vec(self).unwrap_or_default());
        let file = FileState { contents, mode: 0o600, uid, gid };
        let path = BEFORE_KUBEADM.to_owned();
        host.ensure(&Change::WriteFile { path, block: None, was: None, file, confidential: true })
    }

    /// A reset has undone what kubeadm did: of what existed before nothing is needed any more.
    pub(crate) fn mark_undone(host: &mut dyn Host) -> host::Result<()> {
        Self { version: VERSION, reset: Some(ResetProgress::Undone), ..Self::default() }.write(host)
    }

    /// Deletes it.
    pub(crate) fn forget(host: &mut dyn Host) -> host::Result<()> {
        match host.state_at(BEFORE_KUBEADM)? {
            PathState::Absent => Ok(()),
            was => host.ensure(&Change::Remove { path: BEFORE_KUBEADM.to_owned(), was }),
        }
    }

    /// Whether there was anything at a path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// What cannot be restored, by path.
    pub(crate) fn not_copied(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, entry)| entry.sort == Sort::NotCopied {}).map(|(path, _)| path.as_str())
    }

    /// What was at each path, in order: a directory comes before what is in it.
    pub(crate) fn restored(&self) -> impl Iterator<Item = (&str, PathState)> {
        self.entries.iter().filter_map(|(path, entry)| Some((path.as_str(), entry.state()?)))
    }
}

impl Entry {
    /// What is restored; `None` for what was not copied, or is damaged.
    fn state(&self) -> Option<PathState> {
        let Self { mode, uid, gid, .. } = *self;
        Some(match &self.sort {
            Sort::File { content } => {
                let contents = Secret::new(BASE64_STANDARD.decode(content.expose()).ok()?);
                PathState::File(FileState { contents, mode, uid, gid })
            }
            Sort::Directory {} => PathState::Directory { state: DirectoryState { mode, uid, gid }, entries: 0 },
            Sort::Link { target } => PathState::Link { target: target.clone() },
            Sort::NotCopied {} => return None,
        })
    }
}

/// Whether a path is in a directory, or below one of its directories.
fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

fn found(host: &dyn Inspect) -> host::Result<Vec<TreeEntry>> {
    // kubeadm wants the directory of etcd's data empty: only itself is recorded.
    let mut found: Vec<_> = host.tree(DATA)?.into_iter().filter(|entry| entry.path == DATA).collect();
    for directory in DIRECTORIES.into_iter().chain(EMPTIED) {
        found.extend(host.tree(directory)?);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Ok(found)
}

fn entries(found: Vec<TreeEntry>, host: &dyn Inspect) -> host::Result<BTreeMap<String, Entry>> {
    let (mut entries, mut total) = (BTreeMap::new(), 0);
    for TreeEntry { path, sort, mode, uid, gid } in found.into_iter().take(MOST_ENTRIES) {
        let sort = match sort {
            EntrySort::Directory => Some(Sort::Directory {}),
            EntrySort::Special => Some(Sort::NotCopied {}),
            // A file that has gone meanwhile is not recorded.
            EntrySort::File | EntrySort::Link => entry_of(host.state_at(&path)?).map(|entry| entry.sort),
        };
        let size = if let Some(Sort::File { content }) = &sort { content.expose().len() / 4 * 3 } else { 0 };
        let is_copied = size <= LARGEST_FILE && total + size <= LARGEST_TOTAL;
        let Some(sort) = sort.map(|sort| if is_copied { sort } else { Sort::NotCopied {} }) else { continue };
        total += if is_copied { size } else { 0 };
        entries.insert(path, Entry { mode, uid, gid, sort });
    }
    Ok(entries)
}

fn entry_of(state: PathState) -> Option<Entry> {
    let other = |sort| Entry { mode: 0, uid: 0, gid: 0, sort };
    Some(match state {
        PathState::Absent => return None,
        PathState::File(FileState { contents, mode, uid, gid }) => {
            let content = Secret::new(BASE64_STANDARD.encode(contents.expose()));
            Entry { mode, uid, gid, sort: Sort::File { content } }
        }
        PathState::Directory { state: DirectoryState { mode, uid, gid }, .. } => {
            Entry { mode, uid, gid, sort: Sort::Directory {} }
        }
        PathState::Link { target } => other(Sort::Link { target }),
        PathState::LargeFile { .. } | PathState::Special => other(Sort::NotCopied {}),
    })
}

fn unusable(why: String) -> Error {
    Error::Record {
        what: BEFORE_KUBEADM.to_owned(),
        why,
        advice: "restore the file from a backup, or move it to another directory: then a reset restores no files that \
                 existed before kubeadm ran"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests;
