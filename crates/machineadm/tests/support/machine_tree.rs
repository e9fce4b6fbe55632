//! A machine's tree without what any run leaves behind: directories of our own, and who held the lock.
use crate::support::file_tree::{Tree, look};
use std::path::Path;

const OURS: &[&str] = &["/run", "/run/machineadm", "/run/machineadm/lock", "/var", "/var/lib", "/var/lib/machineadm"];

/// What is below a root and not ours.
pub(crate) fn machine_tree(root: &Path) -> Tree {
    let mut tree = look(root);
    tree.retain(|name, _| !OURS.contains(&name.as_str()));
    tree
}
