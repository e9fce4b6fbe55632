//! Which document wrote which path, the digest of what it wrote, and what was there before.
//!
//! A record is written before the change that it is about, so that a power cut between the two loses nothing: the
//! record holds the digests of both sides of that change.
use crate::{
    block::{block_of, without_block},
    owned_program::ArchivePart,
    path_change::PathChange,
    path_digest::{digest, is_ours},
    plan::{Named, Planned, Step},
};
use documents::{Decoded, Secret};
use host::{
    Change, DirectoryState, Error, FileState, Host, Inspect, PathState,
    contract::{OWNERSHIP, PREVIOUS_DIR},
};
use objects::{Sha256Sum, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

const VERSION: u32 = 1;
/// The largest previous content that is copied.
const LARGEST_COPY: usize = 1 << 20;

/// All records of a machine, by what they are about.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ownership {
    version: u32,
    records: BTreeMap<String, Record>,
}

/// What one document made so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// The document's kind and name, for people.
    pub(crate) document: String,
    #[serde(flatten)]
    pub(crate) owned: Owned,
}

/// What it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Owned {
    /// What is at a path, or a managed block of a file.
    #[serde(rename_all = "camelCase")]
    File {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<String>,
        /// Of what the document wants there.
        digest: String,
        /// Of what was there before the last write.
        before: String,
        /// Whether it came encrypted: what is there is then never shown, also when its document is gone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        confidential: bool,
        previous: Previous,
    },
    /// A program.
    #[serde(rename_all = "camelCase")]
    Program {
        path: String,
        sha256: String,
        mode: u32,
        /// Whether another file was there before, of which there is no copy.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replaced: bool,
        /// The archive that it came in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archive: Option<ArchivePart>,
    },
    /// A kernel parameter of the running system.
    Parameter { key: String, path: String, value: String, before: String, previous: String },
}

/// What was at a path before machineadm wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Previous {
    /// Nothing.
    Absent,
    /// A file without the managed block.
    NoBlock,
    /// This, with its content in a copy of its own.
    Copied { mode: u32, uid: u32, gid: u32, sha256: String },
    /// Something too large to be copied.
    TooLarge,
    /// A directory.
    Directory { mode: u32, uid: u32, gid: u32 },
    /// A symbolic link.
    Link { target: String },
}

/// What every version of the file has.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

/// Stops while the machine's own records cannot be used: the journal, or which document wrote which path. To continue
/// without them would run commands again and overwrite what `--prune` restores.
pub fn check_records(host: &dyn Inspect) -> host::Result<()> {
    host.unfinished()?;
    Ownership::read(host).map(drop)
}

impl Ownership {
    /// The records of a machine.
    pub(crate) fn read(host: &dyn Inspect) -> host::Result<BTreeMap<String, Record>> {
        let Some(file) = host.file(OWNERSHIP)? else { return Ok(BTreeMap::new()) };
        let bytes = file.contents.expose();
        let damaged = |error| unusable(format!("the record of written files is damaged: {error}"));
        let Header { version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if version != VERSION {
            let why = format!("the record of written files has version {version}, and this machineadm reads {VERSION}");
            return Err(unusable(why));
        }
        serde_json::from_slice::<Self>(bytes).map(|ownership| ownership.records).map_err(damaged)
    }

    /// Every file that a run has written, or was about to write when it was interrupted, with the copies of what was
    /// there before.
    pub(crate) fn written_files(host: &dyn Inspect) -> host::Result<Vec<String>> {
        let of = |(key, record): (String, Record)| match record.owned {
            Owned::File { path, .. } => vec![path, copy_path(&key)],
            Owned::Program { path, .. } => vec![path],
            Owned::Parameter { .. } => Vec::new(),
        };
        Ok(Self::read(host)?.into_iter().flat_map(of).collect())
    }

    /// Records what a document is about to write, and copies what is there now. What the document names and is as it
    /// wants it changes hands only.
    pub(crate) fn note(document: &Decoded, planned: &Planned, host: &mut dyn Host) -> host::Result<()> {
        let before = Self::read(host)?;
        let mut records = before.clone();
        for change in planned.steps.iter().flat_map(written) {
            let named = match change {
                Change::WriteFile { path, block, .. } => Named::File { path: path.clone(), block: block.clone() },
                Change::MakeDirectory { path, .. } | Change::MakeLink { path, .. } | Change::Remove { path, .. } => {
                    Named::File { path: path.clone(), block: None }
                }
                Change::SetSysctl { path, .. } => Named::Parameter(path.clone()),
                _ => continue,
            };
            let (owned, copy) = match change {
                Change::SetSysctl { .. } => (owned_parameter(change, &records), None),
                _ => owned_path(change, &records),
            };
            let (Some(owned), key) = (owned, key(&named)) else { continue };
            if let Some(copy) = copy {
                store(&copy_path(&key), copy, host)?;
            }
            if let Named::File { path, block: None } = &named {
                // The whole file is one document's from now on.
                records.retain(|_, record| !record.is_block_of(path));
            }
            records.insert(key, Record { document: title(document), owned });
        }
        for named in &planned.names {
            if let Some(record) = records.get_mut(&key(named)) {
                record.document = title(document);
            }
        }
        match records == before {
            true => Ok(()),
            false => Self::write(records, host),
        }
    }

    /// Ends records, with their copies.
    pub(crate) fn forget(gone: &[Named], host: &mut dyn Host) -> host::Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let mut records = Self::read(host)?;
        for key in gone.iter().map(key) {
            records.remove(&key);
            if let Some(was) = host.file(&copy_path(&key))? {
                host.ensure(&Change::Remove { path: copy_path(&key), was: PathState::File(was) })?;
            }
        }
        Self::write(records, host)
    }

    pub(crate) fn write(records: BTreeMap<String, Record>, host: &mut dyn Host) -> host::Result<()> {
        let bytes = serde_json::to_vec_pretty(&Self { version: VERSION, records }).unwrap_or_default();
        store(OWNERSHIP, bytes, host)
    }
}

impl Record {
    /// What it is about, as plans name it.
    pub(crate) fn named(&self) -> Named {
        match &self.owned {
            Owned::File { path, block, .. } => Named::File { path: path.clone(), block: block.clone() },
            Owned::Program { path, .. } => Named::File { path: path.clone(), block: None },
            Owned::Parameter { path, .. } => Named::Parameter(path.clone()),
        }
    }

    /// Whether a document names it: by itself, or with the archive that it came in.
    pub(crate) fn is_named(&self, named: &BTreeSet<Named>) -> bool {
        let archive = match &self.owned {
            Owned::Program { archive: Some(part), .. } => Sha256Sum::parse(&part.sha256).map(Named::Archive),
            _ => None,
        };
        named.contains(&self.named()) || archive.is_some_and(|archive| named.contains(&archive))
    }

    /// The content that was there before, if it was copied and the copy is whole.
    pub(crate) fn copy(&self, host: &dyn Inspect) -> host::Result<Option<FileState>> {
        let Owned::File { previous: Previous::Copied { sha256, .. }, .. } = &self.owned else { return Ok(None) };
        let copy = host.file(&copy_path(&key(&self.named())))?;
        Ok(copy.filter(|copy| hex::encode(&Sha256::digest(copy.contents.expose())) == *sha256))
    }

    /// Whether it came encrypted, and lies in this file.
    pub(crate) fn is_confidential_in(&self, wanted: &str) -> bool {
        matches!(&self.owned, Owned::File { path, confidential: true, .. } if path == wanted)
    }

    fn is_block_of(&self, wanted: &str) -> bool {
        matches!(&self.owned, Owned::File { path, block: Some(_), .. } if path == wanted)
    }
}

fn unusable(why: String) -> Error {
    Error::Record {
        what: OWNERSHIP.to_owned(),
        why,
        advice: format!(
            "restore the file from a backup, or move it and {PREVIOUS_DIR} to another directory: then --prune restores \
             and deletes nothing that was written so far"
        ),
    }
}

/// The record of a change, and the content to copy if what is there now is not machineadm's.
fn owned_path(change: &Change, records: &BTreeMap<String, Record>) -> (Option<Owned>, Option<Vec<u8>>) {
    let Some(change) = PathChange::of(change) else { return (None, None) };
    let PathChange { path, block, was, wanted, confidential } = &change;
    let named = Named::File { path: (*path).to_owned(), block: block.map(str::to_owned) };
    let now = digest(was, *block);
    let earlier = records.get(&key(&named));
    let (previous, copy) = match earlier.map(|record| &record.owned) {
        Some(Owned::File { digest, before, previous, .. }) if is_ours(&now, &[digest, before]) => {
            (previous.clone(), None)
        }
        _ => previous(path, *block, was, records),
    };
    let owned = Owned::File {
        path: (*path).to_owned(),
        block: block.map(str::to_owned),
        digest: digest(wanted, *block),
        before: now,
        confidential: *confidential || earlier.is_some_and(|record| record.is_confidential_in(path)),
        previous,
    };
    (Some(owned), copy)
}

fn owned_parameter(change: &Change, records: &BTreeMap<String, Record>) -> Option<Owned> {
    let Change::SetSysctl { key: name, path, was: Some(was), value } = change else { return None };
    let previous = match records.get(&key(&Named::Parameter(path.clone()))).map(|record| &record.owned) {
        Some(Owned::Parameter { value, before, previous, .. }) if [value, before].contains(&was) => previous.clone(),
        _ => was.clone(),
    };
    let (key, path, value, before) = (name.clone(), path.clone(), value.clone(), was.clone());
    Some(Owned::Parameter { key, path, value, before, previous })
}

/// What was there before machineadm, without what its other documents have put there.
fn previous(
    path: &str,
    block: Option<&str>,
    was: &PathState,
    records: &BTreeMap<String, Record>,
) -> (Previous, Option<Vec<u8>>) {
    let FileState { contents, mode, uid, gid } = match was {
        PathState::File(file) => file,
        PathState::Absent => return (Previous::Absent, None),
        PathState::LargeFile { .. } | PathState::Special => return (Previous::TooLarge, None),
        PathState::Link { target } => return (Previous::Link { target: target.clone() }, None),
        PathState::Directory { state: DirectoryState { mode, uid, gid }, .. } => {
            return (Previous::Directory { mode: *mode, uid: *uid, gid: *gid }, None);
        }
    };
    let blocks = records.values().filter_map(|record| match &record.owned {
        Owned::File { path: other, block: Some(block), previous, .. } if other == path => Some((block, previous)),
        _ => None,
    });
    let is_made_for_blocks = blocks.clone().any(|(_, previous)| *previous == Previous::Absent);
    let content = match block {
        None => blocks.fold(contents.expose().clone(), |content, (block, _)| without_block(&content, block)),
        Some(block) => match block_of(contents.expose(), block) {
            None if is_made_for_blocks => return (Previous::Absent, None),
            None => return (Previous::NoBlock, None),
            Some(lines) => lines,
        },
    };
    if block.is_none() && is_made_for_blocks && content.is_empty() {
        return (Previous::Absent, None);
    }
    match content.len() <= LARGEST_COPY {
        true => {
            let sha256 = hex::encode(&Sha256::digest(&content));
            (Previous::Copied { mode: *mode, uid: *uid, gid: *gid, sha256 }, Some(content))
        }
        false => (Previous::TooLarge, None),
    }
}

/// Whether a step leaves something that a document then owns.
fn written(step: &Step) -> impl Iterator<Item = &Change> {
    let changes = match step {
        Step::Ensure(change) => std::slice::from_ref(change),
        Step::Run(act) | Step::Redo(act) => act.writes(),
        Step::Close(_) | Step::Wait(..) => &[],
    };
    let is_written = |change: &&Change| {
        matches!(
            change,
            Change::WriteFile { .. }
                | Change::MakeDirectory { .. }
                | Change::MakeLink { .. }
                | Change::Remove { .. }
                | Change::SetSysctl { .. }
        )
    };
    changes.iter().filter(is_written)
}

/// The kind and name of a document.
pub(crate) fn title(document: &Decoded) -> String {
    match &document.name {
        Some(name) => format!("{} {name}", document.kind),
        None => document.kind.to_string(),
    }
}

pub(crate) fn key(named: &Named) -> String {
    match named {
        Named::File { path, block: None } => format!("file {path}"),
        Named::File { path, block: Some(block) } => format!("block {block} of {path}"),
        Named::Parameter(path) => format!("parameter {path}"),
        Named::Archive(sum) => format!("archive {sum}"),
    }
}

fn copy_path(key: &str) -> String {
    format!("{PREVIOUS_DIR}/{}", hex::encode(&Sha256::digest(key)[..16]))
}

fn store(path: &str, bytes: Vec<u8>, host: &mut dyn Host) -> host::Result<()> {
    let (uid, gid) = host.default_owner();
    let file = FileState { contents: Secret::new(bytes), mode: 0o600, uid, gid };
    host.ensure(&Change::WriteFile { path: path.to_owned(), block: None, was: None, file, confidential: true })
}
