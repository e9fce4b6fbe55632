//! How this system keeps the certificates that it trusts.
use super::{
    files,
    root::{Missing, Root},
};
use crate::{Error, Result, TrustStore, certificate_bodies};

/// The first store whose program and whose parent directories are there.
pub(super) fn find(root: &Root) -> Result<Option<TrustStore>> {
    for store in TrustStore::ALL {
        if has_program(root, store.refresh[0])? && has_place(root, store.anchors)? {
            return Ok(Some(store));
        }
    }
    Ok(None)
}

/// Whether the store now holds these certificates: its program may skip one and still succeed.
pub(super) fn has_taken(root: &Root, store: &TrustStore, wanted: &[String]) -> Result<()> {
    let bundle = files::read(root, store.bundle)?;
    let trusted = certificate_bodies(bundle.as_ref().map_or(&[], |file| file.contents.expose()));
    let left_out = wanted.iter().filter(|body| !trusted.contains(*body)).count();
    if left_out == 0 {
        return Ok(());
    }
    Err(Error::Unfit {
        what: store.bundle.to_owned(),
        why: format!("{} did not install {left_out} of {} certificates", store.refresh[0], wanted.len()),
        advice: format!("run {} manually and check its output", store.refresh.join(" ")),
    })
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
