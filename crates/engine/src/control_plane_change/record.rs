//! What a change of the API server overwrites, in one file of root's alone, outside of the manifest directory: the kubelet
//! runs whatever lies in that one.
use super::failed_start::OldPods;
use crate::api_server_manifest::MANIFEST;
use base64::{Engine, prelude::BASE64_STANDARD};
use documents::Secret;
use host::{Change, Error, FileState, Host, Inspect, PathState, contract::CONTROL_PLANE_CHANGE};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const VERSION: u32 = 1;

/// The last state in which the API server was ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeRecord {
    version: u32,
    /// Address and port of the API server.
    pub(crate) advertised: String,
    /// What the mirror pod said of its manifest.
    pub(crate) hash: String,
    /// The pods before the last change.
    pub(crate) old_pods: OldPods,
    manifest: StoredFile,
    /// Each file that is written, as it was.
    files: BTreeMap<String, Option<StoredFile>>,
    /// The data of kubeadm-config, if it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) map: Option<StoredMap>,
    /// The manifests that unfinished changes have written, or were about to.
    wanted: Vec<StoredFile>,
}

/// The data of kubeadm-config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredMap {
    /// Before the change.
    pub(crate) before: BTreeMap<String, String>,
    /// As the change writes it, and unfinished ones before it have, or were about to.
    pub(crate) after: Vec<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredFile {
    mode: u32,
    uid: u32,
    gid: u32,
    /// In base64.
    #[serde(serialize_with = "secret::exposed")]
    content: Secret<String>,
}

/// What is about to be changed.
pub(super) struct Overwritten<'a> {
    pub(super) advertised: &'a str,
    pub(super) hash: &'a str,
    pub(super) old_pods: OldPods,
    /// The manifest as it will be.
    pub(super) manifest: Option<&'a FileState>,
    pub(super) paths: Vec<&'a str>,
    pub(super) map: Option<StoredMap>,
}

impl ChangeRecord {
    /// The record of a change that has not finished.
    pub(crate) fn read(host: &dyn Inspect) -> host::Result<Option<Self>> {
        let Some(file) = host.file(CONTROL_PLANE_CHANGE)? else { return Ok(None) };
        // The reader quotes what it does not expect, which may be a secret: only the position is reported.
        let damaged = |error: serde_json::Error| {
            unusable(format!("the record is damaged at line {}, column {}", error.line(), error.column()))
        };
        let record: Self = serde_json::from_slice(file.contents.expose()).map_err(damaged)?;
        match record.version {
            VERSION => Ok(Some(record)),
            other => Err(unusable(format!("the record has version {other}, and this machineadm reads {VERSION}"))),
        }
    }

    /// Whether the manifest on the machine is the one before the change, or one of unfinished changes: otherwise others
    /// have changed it since, and what is recorded is no longer what to go back to.
    pub(crate) fn describes(&self, host: &dyn Inspect) -> host::Result<bool> {
        let Some(now) = host.file(MANIFEST)? else { return Ok(false) };
        let now = StoredFile::of(&now).content;
        Ok([&self.manifest].into_iter().chain(&self.wanted).any(|known| known.content == now))
    }

    /// Records what will be overwritten. Of an unfinished change the older state counts.
    pub(super) fn write(overwritten: Overwritten<'_>, host: &mut dyn Host) -> host::Result<()> {
        let before = match Self::read(host)? {
            Some(record) if record.describes(host)? => Some(record),
            _ => None,
        };
        let mut record = match before {
            Some(record) => record,
            None => Self {
                version: VERSION,
                advertised: overwritten.advertised.to_owned(),
                hash: overwritten.hash.to_owned(),
                old_pods: overwritten.old_pods.clone(),
                manifest: host.file(MANIFEST)?.as_ref().map(StoredFile::of).ok_or_else(no_manifest)?,
                files: BTreeMap::new(),
                map: None,
                wanted: Vec::new(),
            },
        };
        for path in &overwritten.paths {
            if !record.files.contains_key(*path) {
                let file = host.file(path)?.as_ref().map(StoredFile::of);
                record.files.insert((*path).to_owned(), file);
            }
        }
        // Without a new manifest, the pod of the unfinished change is still the one to wait for.
        if overwritten.manifest.is_some() {
            record.old_pods = overwritten.old_pods;
        }
        record.wanted.extend(overwritten.manifest.map(StoredFile::of).filter(|file| !record.wanted.contains(file)));
        record.map = match (record.map, overwritten.map.clone()) {
            (Some(old), Some(new)) => Some(new.following(old)),
            (old, new) => new.or(old),
        };
        let (uid, gid) = host.default_owner();
        let contents = Secret::new(serde_json::to_vec(&record).unwrap_or_default());
        let file = FileState { contents, mode: 0o600, uid, gid };
        host.ensure(&write(CONTROL_PLANE_CHANGE, file))
    }

    /// Whether the manifest on the machine is another one than before the change. For the kubelet, owner and mode do not
    /// matter.
    pub(crate) fn is_manifest_changed(&self, host: &dyn Inspect) -> host::Result<bool> {
        Ok(host.file(MANIFEST)?.is_none_or(|file| StoredFile::of(&file).content != self.manifest.content))
    }

    /// Whether files are other ones than before the change, and the manifest is not.
    pub(crate) fn has_changed_files_alone(&self, host: &dyn Inspect) -> host::Result<bool> {
        if self.is_manifest_changed(host)? {
            return Ok(false);
        }
        for (path, before) in &self.files {
            let now = host.file(path)?.map(|file| StoredFile::of(&file).content);
            if now.as_ref() != before.as_ref().map(|before| &before.content) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts the manifest and the files back; gives whether the manifest had to be.
    pub(super) fn restore(&self, host: &mut dyn Host) -> host::Result<bool> {
        let manifest = self.manifest.state()?;
        let is_changed = self.is_manifest_changed(host)?;
        // Files first: the kubelet starts the API server once it sees the manifest.
        for (path, file) in &self.files {
            let now = host.state_at(path)?;
            match file {
                Some(file) => {
                    let file = file.state()?;
                    if now != PathState::File(file.clone()) {
                        host.ensure(&write(path, file))?;
                    }
                }
                None if now == PathState::Absent => {}
                None => host.ensure(&Change::Remove { path: path.clone(), was: now })?,
            }
        }
        if host.state_at(MANIFEST)? != PathState::File(manifest.clone()) {
            host.ensure(&write(MANIFEST, manifest))?;
        }
        Ok(is_changed)
    }

    /// The change is over, whichever way.
    pub(crate) fn forget(host: &mut dyn Host) -> host::Result<()> {
        match host.state_at(CONTROL_PLANE_CHANGE)? {
            PathState::Absent => Ok(()),
            was => host.ensure(&Change::Remove { path: CONTROL_PLANE_CHANGE.to_owned(), was }),
        }
    }
}

impl StoredMap {
    /// What to go back to after two changes. What another client has written between them stays.
    fn following(mut self, old: Self) -> Self {
        if self.before == old.before || old.after.contains(&self.before) {
            self.before = old.before;
            self.after.extend(old.after);
        }
        self
    }
}

impl StoredFile {
    fn of(file: &FileState) -> Self {
        let FileState { contents, mode, uid, gid } = file;
        let content = Secret::new(BASE64_STANDARD.encode(contents.expose()));
        Self { mode: *mode, uid: *uid, gid: *gid, content }
    }

    fn state(&self) -> host::Result<FileState> {
        let Self { mode, uid, gid, content } = self;
        let damaged = |_| unusable("a file in the record is damaged".to_owned());
        let contents = BASE64_STANDARD.decode(content.expose()).map_err(damaged)?;
        Ok(FileState { contents: Secret::new(contents), mode: *mode, uid: *uid, gid: *gid })
    }
}

/// A change that writes a file whose content is never shown.
pub(crate) fn write(path: &str, file: FileState) -> Change {
    Change::WriteFile { path: path.to_owned(), block: None, was: None, file, confidential: true }
}

fn no_manifest() -> Error {
    Error::Unfit {
        what: MANIFEST.to_owned(),
        why: "does not exist any more".to_owned(),
        advice: "run machineadm again".to_owned(),
    }
}

fn unusable(why: String) -> Error {
    Error::Record {
        what: CONTROL_PLANE_CHANGE.to_owned(),
        why,
        advice: "it has the manifest and the files of kube-apiserver before the last change; check that the API server runs, \
                 then delete this file"
            .to_owned(),
    }
}
