//! How this system keeps the certificates that it trusts.
use super::root::{Missing, Root};
use crate::{Result, TrustStore};

/// The first store whose program and whose parent directories are there.
pub(super) fn find(root: &Root) -> Result<Option<TrustStore>> {
    for store in TrustStore::ALL {
        if has_program(root, store.refresh[0])? && has_place(root, store.anchors)? {
            return Ok(Some(store));
        }
    }
    Ok(None)
}

fn has_program(root: &Root, name: &str) -> Result<bool> {
    for dir in ["/usr/sbin", "/usr/bin", "/usr/local/sbin"] {
        if exists(root, &format!("{dir}/{name}"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Debian's directory may be missing as long as nothing is in it; `/usr/local/share` is not.
fn has_place(root: &Root, anchors: &str) -> Result<bool> {
    let parent = anchors.rsplit_once('/').map_or("/", |(parent, _)| parent);
    exists(root, parent)
}

fn exists(root: &Root, path: &str) -> Result<bool> {
    Ok(root.walk(path, Missing::Report)?.is_some_and(|spot| spot.found.is_some()))
}
