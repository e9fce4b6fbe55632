//! Files of our own: results, records and marks, where the contract says.
use super::{
    files,
    root::{Missing, Root, Spot, open_dir},
    trusted::{self, Care},
};
use crate::{Error, FileState, Result, contract};
use rustix::{
    fd::OwnedFd,
    fs::{Access, AtFlags, Dir, Mode, accessat, fchmod, fstat},
};
use secret::Secret;
use std::{
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    rc::Rc,
};

/// The mode of the state directory.
const STATE_DIR_MODE: u32 = 0o700;
/// The files of the state directory that a later run acts on.
const ACTED_ON: [&str; 8] = [
    contract::CONFIGURATION,
    contract::FETCHED,
    contract::JOURNAL,
    contract::OWNERSHIP,
    contract::BEFORE_KUBEADM,
    contract::CONTROL_PLANE_CHANGE,
    contract::CLUSTER_INFO,
    contract::PLAN_KEY,
];
/// Directories that only machineadm writes.
const OWN_DIRECTORIES: [&str; 3] = [contract::STATE_DIR, contract::RUN_DIR, "/run/cluster-api"];
/// Directories below it, all of whose files a later run acts on.
const DIRECTORIES: [&str; 3] = [contract::SERVICES_DIR, contract::PREVIOUS_DIR, contract::DOWNLOADS_DIR];

/// Files of our own on a machine; they may be written while an act runs.
#[derive(Debug)]
pub struct State(pub(super) Rc<Root>);

impl State {
    /// Refuses a state directory that another user owns, and every file in it that another user could have written: a
    /// run would do what that user wants. Changes nothing.
    pub fn check(&self) -> Result<()> {
        if self.directory()?.is_none() {
            return Ok(());
        }
        ACTED_ON.iter().try_for_each(|path| self.check_file(path))?;
        for path in DIRECTORIES {
            let Some(directory) = self.directory_at(path, Care::Applying)? else { continue };
            let doing = || format!("list {path}");
            for entry in Dir::read_from(&directory).map_err(Error::system(doing()))? {
                let name = entry.map_err(Error::system(doing()))?.file_name().to_string_lossy().into_owned();
                if ![".", ".."].contains(&name.as_str()) {
                    self.check_file(&format!("{path}/{name}"))?;
                }
            }
        }
        Ok(())
    }

    /// Gives the state directory the mode of the contract, where it has another, then checks what is in it.
    pub fn restore(&self) -> Result<()> {
        if let Some(directory) = self.directory()? {
            let doing = || format!("set the mode of {}", contract::STATE_DIR);
            let stat = fstat(&directory).map_err(Error::system(doing()))?;
            if stat.st_mode & 0o7777 != STATE_DIR_MODE {
                fchmod(&directory, Mode::from_raw_mode(STATE_DIR_MODE)).map_err(Error::system(doing()))?;
            }
        }
        self.check()
    }

    /// The state directory, whatever its mode.
    fn directory(&self) -> Result<Option<OwnedFd>> {
        let Some(directory) = self.directory_at(contract::STATE_DIR, Care::Reading)? else { return Ok(None) };
        let mut stat = fstat(&directory).map_err(Error::system(format!("open {}", contract::STATE_DIR)))?;
        // Its owner alone decides: the mode is restored.
        stat.st_mode &= !0o022;
        trusted::check_access(&self.0, &stat, contract::STATE_DIR, Care::Applying)?;
        Ok(Some(directory))
    }

    /// The names in a directory that no other user can write, in order.
    pub(super) fn names_in(&self, path: &str) -> Result<Option<Vec<String>>> {
        let Some(directory) = self.directory_at(path, Care::Applying)? else { return Ok(None) };
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory).map_err(Error::system(format!("list {path}")))? {
            let entry = entry.map_err(Error::system(format!("list {path}")))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            names.extend(Some(name).filter(|name| ![".", ".."].contains(&name.as_str())));
        }
        names.sort();
        Ok(Some(names))
    }

    pub(super) fn directory_at(&self, path: &str, care: Care) -> Result<Option<OwnedFd>> {
        let Some(Spot { dir, name, found: Some(_) }) = self.0.walk(path, Missing::Report)? else { return Ok(None) };
        let doing = || format!("open the directory {path}");
        let directory = open_dir(&dir, &name).map_err(Error::system(doing()))?;
        let stat = fstat(&directory).map_err(Error::system(doing()))?;
        trusted::check_access(&self.0, &stat, path, care)?;
        Ok(Some(directory))
    }

    fn check_file(&self, path: &str) -> Result<()> {
        match self.0.walk_unfollowed(path, Missing::Report)? {
            Some(spot) => trusted::open(&self.0, &spot, path, Care::Applying).map(drop).map_err(untrusted),
            None => Ok(()),
        }
    }

    /// Writes a file.
    pub fn write(&self, path: &str, bytes: &[u8], mode: u32) -> Result<()> {
        make_state_dir(&self.0, path)?;
        let (uid, gid) = our_owner();
        files::write(&self.0, path, &FileState { contents: Secret::new(bytes.to_vec()), mode, uid, gid })
    }

    /// Creates a file that must not change any more; one that is there stays.
    pub fn create(&self, path: &str, bytes: &[u8], mode: u32) -> Result<()> {
        make_state_dir(&self.0, path)?;
        let (uid, gid) = our_owner();
        files::create(&self.0, path, &FileState { contents: Secret::new(bytes.to_vec()), mode, uid, gid })
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

/// How a change treats a link at the end of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastLink {
    /// It writes what the link points to.
    Followed,
    /// It replaces or deletes the link.
    Replaced,
}

/// Refuses a path that links lead into a directory of our own, or below /proc, /sys or /dev: a document may not write
/// there, whatever the name. Paths that name a directory of ours themselves are ours: documents with them are invalid.
pub(super) fn check_foreign(root: &Root, path: &str, last: LastLink) -> Result<()> {
    if OWN_DIRECTORIES.iter().any(|own| Path::new(path).starts_with(own)) {
        return Ok(());
    }
    let Some(target) = target(root, path, last)? else { return Ok(()) };
    let refuse = |own: &str, what: &str| {
        let why = format!("is reached through a symbolic link that leads to {own}, {what}");
        Err(Error::Refused { what: path.to_owned(), why })
    };
    for own in OWN_DIRECTORIES {
        if let Some(spot) = root.walk(&format!("{own}/name"), Missing::Report)?
            && target.starts_with(real_path(&spot.dir)?)
        {
            return refuse(own, "the directory of machineadm itself");
        }
    }
    let whole = root.real_path()?;
    let inside = target.strip_prefix(&whole).map(|inside| Path::new("/").join(inside)).unwrap_or_default();
    match ["/proc", "/sys", "/dev"].iter().find(|kernel| inside.starts_with(kernel)) {
        Some(kernel) => refuse(kernel, "where no files are stored"),
        None => Ok(()),
    }
}

/// What a path really names: the directory that is there, without links, and the next name in it.
fn target(root: &Root, path: &str, last: LastLink) -> Result<Option<PathBuf>> {
    let mut last = last;
    for place in Path::new(path).ancestors().filter_map(Path::to_str).take_while(|place| *place != "/") {
        let walked = match last {
            LastLink::Followed => root.walk(place, Missing::Report)?,
            LastLink::Replaced => root.walk_unfollowed(place, Missing::Report)?,
        };
        if let Some(spot) = walked {
            return Ok(Some(real_path(&spot.dir)?.join(&spot.name)));
        }
        // A directory of the path is missing: where would it be created?
        last = LastLink::Followed;
    }
    Ok(None)
}

/// The path of an open directory, as the kernel knows it.
pub(super) fn real_path(directory: &OwnedFd) -> Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))
        .map_err(Error::io("look up a directory in /proc"))
}

/// Whether a path is that of a file of our own that survives a reboot.
pub(super) fn is_own(path: &str) -> bool {
    path.strip_prefix(contract::STATE_DIR).is_some_and(|rest| rest.starts_with('/'))
}

/// Reads a file of our own back, under the rules of a file that the command line names, and not through a link.
pub(super) fn read(root: &Root, path: &str) -> Result<Option<FileState>> {
    match root.walk_unfollowed(path, Missing::Report)? {
        Some(spot) => files::read_at(root, &spot, path, Care::Applying).map_err(untrusted),
        None => Ok(None),
    }
}

/// What is no regular file here, machineadm did not create.
fn untrusted(error: Error) -> Error {
    match error {
        Error::Refused { what, why } => {
            let advice = format!("find out who created it, then delete it: rm {what}");
            Error::Untrusted { what, why, advice }
        }
        error => error,
    }
}

/// The directory of our own state is root's alone, whoever writes into it first.
pub(super) fn make_state_dir(root: &Root, path: &str) -> Result<()> {
    match path.starts_with(contract::STATE_DIR) {
        true => files::make_dir(root, contract::STATE_DIR, STATE_DIR_MODE),
        false => Ok(()),
    }
}

/// Whom new files belong to.
pub(super) fn our_owner() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}
