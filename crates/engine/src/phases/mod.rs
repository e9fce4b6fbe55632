//! Phases: what a document of each kind asks of the machine. One file for each kind, one row in [`PHASES`].
pub(crate) mod cluster_settings;
mod cluster_skew;
mod commands;
mod containerd;
pub(crate) mod containerd_settings;
pub(crate) mod control_plane;
mod control_plane_config;
mod control_plane_credentials;
mod control_plane_mounts;
pub(crate) mod control_plane_traces;
pub(crate) mod discovery;
mod etcd_voter;
mod files;
pub(crate) mod init;
pub(crate) mod join;
mod kernel_modules;
pub(crate) mod node_services;
pub(crate) mod preflight;
mod program_units;
mod programs;
mod proxy;
pub(crate) mod prune;
mod report;
mod service_files;
mod services;
mod static_pods;
mod sysctl;
mod tolerated_checks;
mod trust_bundle;
pub(crate) mod uploaded_certificates;
mod users;
pub(crate) mod worker;

use crate::{Look, Named, PlanError, Planned, Step, Wanted};
use documents::{Decoded, Secret};
use host::{Change, DirectoryState, FileState, PathState};

/// How documents of a kind become steps.
pub struct Phase {
    /// The kind.
    pub kind: &'static str,
    /// What it does, in one line for the docs.
    pub summary: &'static str,
    /// In which modes it runs.
    pub role: Role,
    /// What is still missing; it looks and proposes, and changes nothing.
    pub(crate) plan: fn(&Decoded, &Look<'_>) -> Result<Planned, PlanError>,
    /// The journal ids of its acts, or their first words.
    pub(crate) acts: fn(&Decoded) -> Vec<String>,
}

/// What documents of a kind are for, which decides the modes that they run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Keeps a part of the machine as it is: in every mode.
    Keeps,
    /// Runs something for its effect: never in post.
    Runs,
    /// Makes the machine a node: only in provision, and prepare stops before it.
    MakesNode,
}

/// Every kind that asks something of the machine. Their order here means nothing: documents run in theirs.
pub const PHASES: &[Phase] = &[
    trust_bundle::PHASE,
    proxy::PHASE,
    kernel_modules::PHASE,
    sysctl::PHASE,
    files::PHASE,
    programs::PHASE,
    containerd::PHASE,
    services::PHASE,
    users::PHASE,
    commands::PHASE,
    control_plane_config::PHASE,
    static_pods::PHASE,
    init::PHASE,
    join::PHASE,
    report::PHASE,
];

/// The kinds whose failures have a reason of their own.
pub(crate) const COMMANDS: &str = commands::PHASE.kind;
pub(crate) const SERVICES: &str = services::PHASE.kind;

/// What a document still needs.
pub(crate) fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    match phase(document) {
        Some(phase) => (phase.plan)(document, look),
        None => Err(PlanError::NoPlugin(document.kind.to_string())),
    }
}

/// Whether a document makes the machine a node.
pub fn makes_node(document: &Decoded) -> bool {
    role(document) == Role::MakesNode
}

/// What a document is for.
pub(crate) fn role(document: &Decoded) -> Role {
    phase(document).map_or(Role::Keeps, |phase| phase.role)
}

fn phase(document: &Decoded) -> Option<&'static Phase> {
    PHASES.iter().find(|phase| *phase.kind == *document.kind)
}

/// The journal ids of all acts of a stream, or their first words.
pub(crate) fn act_ids(wanted: &Wanted) -> Vec<String> {
    let ids = |document: &Decoded| phase(document).map_or(Vec::new(), |phase| (phase.acts)(document));
    wanted.documents.iter().flat_map(ids).collect()
}

/// A phase that has no acts.
fn no_acts(_: &Decoded) -> Vec<String> {
    Vec::new()
}

/// A file as it will be after the steps that are planned so far: blocks of one file build on each other.
fn file_after(planned: &Planned, path: &str, look: &Look<'_>) -> Result<Option<FileState>, PlanError> {
    let planned = planned.steps.iter().rev().find_map(|step| match step {
        Step::Ensure(Change::WriteFile { path: other, file, .. }) if other == path => Some(Some(file.clone())),
        Step::Ensure(Change::Remove { path: other, .. }) if other == path => Some(None),
        _ => None,
    });
    match planned {
        Some(file) => Ok(file),
        None => Ok(look.file(path)?),
    }
}

/// The step that writes a file, unless it is so already.
fn write_if_other(change: Change) -> Option<Step> {
    let is_so = matches!(&change, Change::WriteFile { was: Some(was), file, .. } if was == file);
    (!is_so).then_some(Step::Ensure(change))
}

/// The directory of kubeadm and the kubelet.
const KUBERNETES_DIRECTORY: &str = objects::kubernetes_paths::KUBERNETES;

/// A directory of machineadm's own, which a reset deletes if it is empty by then. One that exists keeps its mode.
fn own_directory(path: &str, mode: u32, look: &Look<'_>, planned: &mut Planned) -> Result<(), PlanError> {
    let path = path.to_owned();
    planned.names.push(Named::File { path: path.clone(), block: None });
    if look.state_after(planned, &path)? == PathState::Absent {
        let (uid, gid) = look.host.default_owner();
        let directory = DirectoryState { mode, uid, gid };
        planned.steps.push(Step::Ensure(Change::MakeDirectory { path, was: None, directory }));
    }
    Ok(())
}

/// A file of machineadm's own.
struct OwnFile<'a> {
    path: &'a str,
    contents: Vec<u8>,
    mode: u32,
    /// Whether its document came encrypted.
    confidential: bool,
}

impl OwnFile<'_> {
    /// Plans it, with the owner that new files get, and gives whether it changes.
    fn plan(self, look: &Look<'_>, planned: &mut Planned) -> Result<bool, PlanError> {
        let Self { path, contents, mode, confidential } = self;
        let (uid, gid) = look.host.default_owner();
        let file = FileState { contents: Secret::new(contents), mode, uid, gid };
        let was = look.file(path)?;
        let path = path.to_owned();
        planned.names.push(Named::File { path: path.clone(), block: None });
        let step = write_if_other(Change::WriteFile { path, block: None, was, file, confidential });
        let changes = step.is_some();
        planned.steps.extend(step);
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::PHASES;
    use documents::KINDS;
    use std::collections::BTreeSet;

    /// What expansion replaces never reaches the engine.
    const REPLACED: [&str; 3] = ["RemoteConfig", "EncryptedConfig", "ScopeConfig"];

    #[test]
    fn documents_write_where_the_contract_says() {
        use documents::v1alpha1::{
            CONTROL_PLANE_FILES_DIRECTORY, environment_file, modules_file, proxy_drop_in, sysctl_file,
        };
        use host::contract::{CONTROL_PLANE_DIR, MODULES_DIR, PROXY_DIR, PROXY_DROP_IN, SYSCTL_DIR, UNIT_DIR};
        assert_eq!(CONTROL_PLANE_FILES_DIRECTORY, CONTROL_PLANE_DIR);
        assert_eq!(sysctl_file(Some("a")), format!("{SYSCTL_DIR}/90-machineadm-a.conf"));
        assert_eq!(modules_file(None), format!("{MODULES_DIR}/90-machineadm.conf"));
        assert_eq!(environment_file("a"), format!("{PROXY_DIR}/a.env"));
        assert_eq!(proxy_drop_in("a"), format!("{UNIT_DIR}/a.service.d/{PROXY_DROP_IN}"));
    }

    #[test]
    fn programs_are_installed_where_they_are_found() {
        assert_eq!(documents::v1alpha1::PROGRAM_DIRECTORIES.join(":"), host::contract::PROGRAM_PATH);
    }

    #[test]
    fn every_kind_has_one_phase_or_is_replaced_by_expansion() {
        let kinds: BTreeSet<&str> = KINDS.iter().map(|kind| kind.kind).collect();
        let phases: BTreeSet<&str> = PHASES.iter().map(|phase| phase.kind).chain(REPLACED).collect();
        assert_eq!((kinds, PHASES.len() + REPLACED.len()), (phases, KINDS.len()));
    }
}
