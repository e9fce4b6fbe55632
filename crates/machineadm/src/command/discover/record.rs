//! The cluster that is kept on this machine.
use crate::context::{fail, failed, silent_machine};
use discovery::cache::{Cached, NoCache};
use host::{
    Inspect,
    contract::{self, Exit},
};
use std::path::Path;

/// The kept cluster, whole or damaged; `None` when none is kept.
fn read(root: &Path) -> Result<Option<Result<Cached, NoCache>>, Exit> {
    let file = silent_machine(root)?.file(contract::CLUSTER_INFO).map_err(failed)?;
    Ok(file.map(|file| Cached::read(file.contents.expose())))
}

/// The kept cluster; one that can't be used is said so.
pub(super) fn required(root: &Path) -> Result<Option<Cached>, Exit> {
    let place = || place(root);
    read(root)?.transpose().map_err(|error| fail(&format!("{}: {error}", place())))
}

/// The kept cluster; one that can't be used is as good as none, since a new one takes its place.
pub(super) fn usable(root: &Path) -> Result<Option<Cached>, Exit> {
    Ok(read(root)?.and_then(|kept| kept.inspect_err(|error| tell!("warning: {}: {error}", place(root))).ok()))
}

/// Keeps a cluster, and says where.
pub(super) fn keep(cached: &Cached, root: &Path) -> Result<(), Exit> {
    write(cached, root)?;
    tell!("kept in {}", place(root));
    Ok(())
}

pub(super) fn write(cached: &Cached, root: &Path) -> Result<(), Exit> {
    silent_machine(root)?.state().write(contract::CLUSTER_INFO, &cached.bytes(), 0o600).map_err(failed)
}

/// Where it is kept, as people find it.
fn place(root: &Path) -> String {
    root.join(contract::CLUSTER_INFO.trim_start_matches('/')).display().to_string()
}
