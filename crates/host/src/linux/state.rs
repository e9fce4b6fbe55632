//! Files of our own: results, records and marks, where the contract says.
use super::{
    files,
    root::{Missing, Root},
};
use crate::{Error, FileState, Result, contract};
use rustix::fs::{Access, AtFlags, accessat};
use secret::Secret;
use std::{path::Path, rc::Rc};

/// Keeps files of our own on a machine; it may be used while an act runs.
#[derive(Debug)]
pub struct State(pub(super) Rc<Root>);

impl State {
    /// Keeps bytes.
    pub fn write(&self, path: &str, bytes: &[u8], mode: u32) -> Result<()> {
        make_state_dir(&self.0, path)?;
        let (uid, gid) = our_owner();
        files::write(&self.0, path, &FileState { contents: Secret::new(bytes.to_vec()), mode, uid, gid })
    }

    /// Whether a file could be written here, without changing anything: its directories are such, and the last one
    /// that is there may be written.
    pub fn check_writable(&self, path: &str) -> Result<()> {
        let places = Path::new(path).ancestors().filter_map(Path::to_str);
        for place in places.take_while(|place| *place != "/") {
            if let Some(spot) = self.0.walk(place, Missing::Report)? {
                let may = accessat(&spot.dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty());
                return may.map_err(Error::system(format!("write {path}")));
            }
        }
        Ok(())
    }

    /// Removes a file.
    pub fn remove(&self, path: &str) -> Result<()> {
        files::remove(&self.0, path)
    }
}

/// The directory of our own state is root's alone, whoever writes into it first.
pub(super) fn make_state_dir(root: &Root, path: &str) -> Result<()> {
    match path.starts_with(contract::STATE_DIR) {
        true => files::make_dir(root, contract::STATE_DIR, 0o700),
        false => Ok(()),
    }
}

/// Whom new files belong to.
pub(super) fn our_owner() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}
