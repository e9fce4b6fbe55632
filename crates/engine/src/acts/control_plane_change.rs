//! A change of this node's API server: kubeadm-config, files and manifest, or none of them.
//!
//! | unfinished change | API server | what is done |
//! |---|---|---|
//! | none | answers | what will be overwritten is recorded; kubeadm-config, files, manifest are written; it is waited for the new pod |
//! | none | does not answer | nothing; a remark |
//! | there | answers | the same again, with the older record |
//! | there | starting | it is waited for, at most four minutes |
//! | there | fails, or does not answer | manifest and files are restored, then kubeadm-config |
//! | there, and others have changed the manifest since | | it counts as none |
//!
//! A pod that is not ready in time, or whose container has ended twice, is rolled back the same way.
use super::{ADMIN, Act, AfterFailure, Effect, Sort, Undone};
use crate::{
    Look, PlanError, Replacement, Unanswered, World,
    api_server_manifest::MANIFEST,
    control_plane_change::{ChangeRecord, KUBEADM_CONFIG, Rollback, overwrite, wait_until_ready, write},
    fingerprint::Parts,
};
use documents::{Secret, v1alpha1::Repeat};
use host::{Change, FileState};
use outcome::{ActSort, Action};
use serde_json::Value;
use std::collections::BTreeMap;

/// The journal id. A machine has one API server: an unfinished change is ours, whatever the configuration says by now.
pub(crate) const ID: &str = ActSort::ControlPlaneChange.id();

pub(super) const SORT: Sort = Sort {
    sort: ActSort::ControlPlaneChange,
    left_behind: |_, look| {
        Ok(ChangeRecord::read(look.host)?.map(|_| {
            "a change of kube-apiserver was started and did not finish, and this configuration no longer has a \
             ControlPlaneConfig; run machineadm with a configuration that has it"
                .to_owned()
        }))
    },
};

/// What is done to an API server.
#[derive(Clone, Debug)]
pub(crate) enum ControlPlaneChange {
    /// It gets what a document says.
    Change(Box<NewApiServer>),
    /// An interrupted change left an API server that does not answer.
    RollBack {
        /// Why it does not.
        why: String,
    },
}

/// The API server as it shall be; what is absent stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct NewApiServer {
    /// Its address and port.
    pub(crate) advertised: String,
    /// What makes its files so.
    pub(crate) writes: Vec<Change>,
    /// The manifest, if it changes.
    pub(crate) manifest: Option<Secret<String>>,
    /// kubeadm-config, if it changes.
    pub(crate) map: Option<NewMap>,
    /// The lines of the manifest that change, for people.
    pub(crate) diff: Vec<String>,
}

/// kubeadm-config as it shall be.
#[derive(Clone, Debug)]
pub(crate) struct NewMap {
    /// The object with its new data, and with the version of the one that was read.
    pub(crate) object: Value,
    /// The data that was read.
    pub(crate) before: BTreeMap<String, String>,
    /// The new data.
    pub(crate) after: BTreeMap<String, String>,
}

impl NewApiServer {
    /// Whether anything changes.
    pub(crate) const fn is_needed(&self) -> bool {
        self.manifest.is_some() || self.map.is_some() || !self.writes.is_empty()
    }

    /// The manifest as a file: the kubelet and kubeadm alone read it.
    pub(crate) fn manifest_file(&self, world: &World<'_>) -> Option<FileState> {
        let (uid, gid) = world.host.default_owner();
        let contents = |text: &Secret<String>| Secret::new(text.expose().clone().into_bytes());
        self.manifest.as_ref().map(|text| FileState { contents: contents(text), mode: 0o600, uid, gid })
    }

    fn apply(&self, record: &ChangeRecord, world: &mut World<'_>) -> host::Result<()> {
        if let Some(NewMap { object, .. }) = &self.map {
            let admin = world.host.file(ADMIN)?.map(|file| file.contents).unwrap_or_default();
            match world.cluster.replace(admin.expose(), KUBEADM_CONFIG, object) {
                Ok(Replacement::Done) => {}
                Ok(Replacement::Conflict) => return Err(map_failed("another client has changed it".to_owned())),
                Err(Unanswered(why)) => return Err(map_failed(why)),
            }
        }
        self.writes.iter().try_for_each(|change| world.host.ensure(change))?;
        if let Some(file) = self.manifest_file(world) {
            world.host.ensure(&write(MANIFEST, file))?;
        }
        if record.is_manifest_changed(world.host)? { wait_until_ready(record, world) } else { Ok(()) }
    }

    /// The files that are written.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &FileState)> {
        self.writes.iter().filter_map(|change| match change {
            Change::WriteFile { path, file, .. } => Some((path.as_str(), file)),
            _ => None,
        })
    }
}

impl Act for ControlPlaneChange {
    fn name(&self) -> &'static str {
        "kube-apiserver"
    }

    fn verb(&self) -> Action {
        match self {
            Self::Change(_) => Action::Change,
            Self::RollBack { .. } => Action::RollBack,
        }
    }

    fn sort(&self) -> ActSort {
        ActSort::ControlPlaneChange
    }

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// Whoever plans it has compared manifest, files and kubeadm-config.
    fn effect(&self, _: &Look<'_>) -> Result<Effect, PlanError> {
        Ok(Effect::Absent)
    }

    fn before_start(&self, world: &mut World<'_>) -> host::Result<()> {
        match self {
            Self::Change(new) => overwrite(new, world),
            Self::RollBack { .. } => Ok(()),
        }
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let Some(record) = ChangeRecord::read(world.host)? else { return Ok(()) };
        let why = match self {
            Self::Change(new) => match new.apply(&record, world) {
                Ok(()) => return Ok(ChangeRecord::forget(world.host)?),
                Err(host::Error::Unfit { what, why, .. }) => format!("{what}: {why}"),
                Err(error) => crate::outcome::chain(&error),
            },
            Self::RollBack { why } => why.clone(),
        };
        Err(Rollback { record: &record, why }.run(world).into())
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        let Self::Change(new) = self else {
            return "an interrupted change: manifest, files and kubeadm-config".to_owned();
        };
        let NewApiServer { manifest, map, writes, .. } = &**new;
        let files = match new.files().count() {
            0 => (!writes.is_empty()).then(|| "directory".to_owned()),
            1 => Some("1 file".to_owned()),
            count => Some(format!("{count} files")),
        };
        let map = map.as_ref().map(|_| "kubeadm-config".to_owned());
        let manifest = manifest.as_ref().map(|_| "manifest, restart".to_owned());
        let all: Vec<String> = [map, files, manifest].into_iter().flatten().collect();
        if all.is_empty() { "an interrupted change: wait until it is ready".to_owned() } else { all.join(", ") }
    }

    fn writes(&self) -> &[Change] {
        match self {
            Self::Change(new) => &new.writes,
            Self::RollBack { .. } => &[],
        }
    }

    fn diff(&self) -> Vec<String> {
        match self {
            Self::Change(new) => new.diff.clone(),
            Self::RollBack { .. } => Vec::new(),
        }
    }

    fn compares(&self, parts: &mut Parts) {
        match self {
            Self::RollBack { .. } => _ = parts.text(ID).text("roll back"),
            Self::Change(new) => {
                let NewApiServer { advertised, writes: _, manifest, map, diff: _ } = &**new;
                parts.text(ID).text(advertised);
                for (path, file) in new.files() {
                    parts.text(path).bytes(file.contents.expose());
                }
                parts.maybe(manifest.as_ref().map(|text| text.expose().as_str()));
                for (key, text) in map.iter().flat_map(|map| &map.after) {
                    parts.text(key).text(text);
                }
            }
        }
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

fn map_failed(why: String) -> host::Error {
    host::Error::Unfit { what: "kubeadm-config".to_owned(), why, advice: "run machineadm again".to_owned() }
}
