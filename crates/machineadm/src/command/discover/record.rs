//! The cluster that is kept on this machine.
use crate::{command_error::CommandError, context::silent_machine};
use discovery::cache::{Cached, NoCache};
use host::{Inspect, contract};
use std::path::Path;

/// The kept cluster, whole or damaged; `None` when none is kept.
fn read(root: &Path) -> Result<Option<Result<Cached, NoCache>>, CommandError> {
    let file = silent_machine(root)?.file(contract::CLUSTER_INFO)?;
    Ok(file.map(|file| Cached::read(file.contents.expose())))
}

/// The kept cluster; one that can't be used is said so.
pub(super) fn required(root: &Path) -> Result<Option<Cached>, CommandError> {
    let place = || place(root);
    read(root)?.transpose().map_err(|error| CommandError::failed(format!("{}: {error}", place())))
}

/// The kept cluster, where another may be written; one that can't be used is as good as none.
pub(super) fn replaceable(root: &Path) -> Result<Option<Cached>, CommandError> {
    silent_machine(root)?.state().check_writable(contract::CLUSTER_INFO)?;
    Ok(read(root)?.and_then(|kept| kept.inspect_err(|error| warn!("{}: {error}", place(root))).ok()))
}

/// Keeps a cluster, and says where.
pub(super) fn keep(cached: &Cached, root: &Path) -> Result<(), CommandError> {
    write(cached, root)?;
    tell!("saved in {}", place(root));
    Ok(())
}

/// Writes a cluster, which the next run reads back: no [`Cached`] is too large, or doesn't fit its pins.
pub(super) fn write(cached: &Cached, root: &Path) -> Result<(), CommandError> {
    Ok(silent_machine(root)?.state().write(contract::CLUSTER_INFO, &cached.bytes(), 0o600)?)
}

/// Where it is kept, as people find it.
fn place(root: &Path) -> String {
    root.join(contract::CLUSTER_INFO.trim_start_matches('/')).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::{DiscoveryKubeconfig, Proof, proof::Refreshed};

    #[test]
    fn what_was_written_is_read_back_and_what_was_damaged_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let proof = Proof::StandardInput { refreshed: Refreshed::Same };
        let text = "clusters: [{cluster: {server: 'https://api.example.com:6443'}}]".to_owned();
        let kubeconfig = DiscoveryKubeconfig::read(text).unwrap();
        let good = Cached::new(kubeconfig, Vec::new(), proof, jiff::Timestamp::UNIX_EPOCH.into()).unwrap();
        assert_eq!(write(&good, root.path()), Ok(()));
        assert_eq!(required(root.path()), Ok(Some(good)));
        std::fs::write(place(root.path()), "{}").unwrap();
        assert_eq!(required(root.path()).map_err(|error| error.exit()), Err(contract::Exit::Failed));
        assert_eq!(replaceable(root.path()), Ok(None));
    }
}
